"""Where rules come from: tables of Spark, files, folders, and what programs hold.

Whatever they come from, they are a :class:`~siena.rules.entry.RuleSet` in the end, with
the columns ``id``, ``dialect``, ``text``, ``severity``, ``enabled`` and ``version``.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

from siena.errors import SienaError
from siena.rules.entry import COLUMNS, RULES_MAX, RuleEntry, RuleSet
from siena.rules.files import load_rules
from siena.rules.rows import entries_of

# What a table of rules may have besides.
_KNOWN = {*COLUMNS, "title"}

RuleSource = (
    RuleSet
    | DataFrame
    | str
    | os.PathLike[str]
    | Iterable[RuleEntry]
    | Iterable[Mapping[str, object]]
)


def rule_set(source: RuleSource, *, dialect: str = "siena") -> RuleSet:
    """The rules of a source.

    Args:
        source: a DataFrame with the columns of rules; the path of a file (CSV, JSON
            lines, parquet, Sigma's YAML) or of a folder of them; entries or mappings.
            Parquet may be a folder, too.
        dialect: that of rules which name none.

    Raises:
        SienaError: if there is nothing, or a column is missing.
    """
    if isinstance(source, RuleSet):
        return source
    if isinstance(source, DataFrame):
        return _of_table(source, dialect)
    if isinstance(source, str | os.PathLike):
        return _of_path(Path(source), dialect)
    rows = list(source)
    entries = [row for row in rows if isinstance(row, RuleEntry)]
    others = [row for row in rows if isinstance(row, Mapping)]
    return RuleSet([*entries, *entries_of(others, dialect=dialect)])


def _of_table(table: DataFrame, dialect: str) -> RuleSet:
    _require(table.columns)
    wanted = [name for name in table.columns if name in _KNOWN]
    rows = table.select(*wanted).limit(RULES_MAX + 1).toArrow()
    return RuleSet(entries_of(rows.to_pylist(), dialect=dialect))


def _of_path(path: Path, dialect: str) -> RuleSet:
    if path.suffix == ".parquet" or (path.is_dir() and any(path.glob("*.parquet"))):
        try:
            rows = pq.read_table(path)
        except pa.ArrowException as error:
            raise SienaError(f"{path} is not parquet: {error}") from None
        _require(rows.column_names)
        known = [name for name in rows.column_names if name in _KNOWN]
        listed = rows.select(known).slice(0, RULES_MAX + 1).to_pylist()
        return RuleSet(entries_of(listed, dialect=dialect, place=f"{path}, row"))
    return load_rules(path, dialect=None if dialect == "siena" else dialect)


def _require(names: Iterable[str]) -> None:
    missing = {"id", "text"} - set(names)
    if missing:
        raise SienaError(
            f"a table of rules has no column {min(missing)!r}",
            hint=f"its columns are {', '.join(COLUMNS)}; id and text are required",
        )
