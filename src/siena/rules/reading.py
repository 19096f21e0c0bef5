"""What the rules of a set mean: read by their dialects, or put aside with a reason."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from siena.dialects import read_rule
from siena.errors import FilterError, SienaError
from siena.model.expression.rule import Rule
from siena.rules.entry import RuleEntry, SetAside
from siena.rules.pieces import Share, pieces_of
from siena.rules.sigma_files import is_correlation

# Files of pipelines that are remembered.
PIPELINES_KEPT = 8


class RuleSettings(NamedTuple):
    """How rules are read, whatever their dialect.

    ``many`` are the multi-valued attributes; ``logsource`` says where the log source
    of a Sigma rule is found (``attributes``, ``windows`` or ``none``); ``fields``
    names the attribute of a field of Sigma's where it is called otherwise;
    ``pipeline`` is the file of a processing pipeline of pySigma's, which is applied to
    Sigma's rules before that.
    """

    many: frozenset[str] = frozenset()
    logsource: str = "attributes"
    fields: Mapping[str, str] = {}
    pipeline: str | os.PathLike[str] | None = None

    def pipeline_text(self) -> str | None:
        """The pipeline, in YAML; none if there is none.

        Raises:
            SienaError: if the file is no text.
        """
        if self.pipeline is None:
            return None
        path = Path(self.pipeline)
        return _text_of(path, path.stat().st_mtime_ns)


@lru_cache(PIPELINES_KEPT)
def _text_of(path: Path, written: int) -> str:  # noqa: ARG001 -- when, in nanoseconds
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SienaError(f"{path} is not a text in UTF-8") from None


@dataclass(frozen=True, slots=True)
class ReadRule:
    """An entry, and what it means."""

    entry: RuleEntry
    rule: Rule

    @property
    def id(self) -> str:
        """The id of the entry."""
        return self.entry.id


def read_entry(entry: RuleEntry, settings: RuleSettings | None = None) -> ReadRule:
    """What an entry means.

    >>> print(read_entry(RuleEntry("a", "x BETWEEN 1 AND 3", "sql")).rule)
    x <= 3 and x >= 1

    Raises:
        SienaError: with the id, if the rule cannot be read.
    """
    settings = settings or RuleSettings()
    try:
        if _is_correlation(entry):
            raise FilterError("a correlation is about several events")
        rule = read_rule(
            entry.dialect,
            entry.text,
            many=settings.many,
            logsource=settings.logsource,
            fields=settings.fields,
            pipeline=settings.pipeline_text(),
        )
    except SienaError as error:
        raise error.about(entry.id) from None
    return ReadRule(entry, rule)


def read_rules(
    entries: Iterable[RuleEntry],
    settings: RuleSettings | None = None,
    *,
    share: Share | None = None,
) -> Iterator[ReadRule | SetAside]:
    """The rules of entries, one by one; what cannot be read is put aside.

    Correlations are passed over: :func:`siena.rules.correlation.read_correlations`
    reads them.  ``share`` lets others do the work.
    """
    if share is None:
        yield from _read_each(entries, settings)
        return
    pieces = pieces_of(list(entries))
    task = partial(_read_piece, settings=settings)
    for piece, read in zip(pieces, share(task, pieces), strict=True):
        for place, rule in read:
            yield rule if isinstance(rule, SetAside) else ReadRule(piece[place], rule)


def _read_each(
    entries: Iterable[RuleEntry], settings: RuleSettings | None
) -> Iterator[ReadRule | SetAside]:
    for entry in entries:
        if not _is_correlation(entry):
            yield _read(entry, settings)


def _read_piece(
    entries: Sequence[RuleEntry], settings: RuleSettings | None
) -> list[tuple[int, Rule | SetAside]]:
    """The same for other processes, which have the entries already."""
    found: list[tuple[int, Rule | SetAside]] = []
    for place, entry in enumerate(entries):
        if not _is_correlation(entry):
            read = _read(entry, settings)
            found.append((place, read.rule if isinstance(read, ReadRule) else read))
    return found


def _is_correlation(entry: RuleEntry) -> bool:
    return entry.dialect == "sigma" and is_correlation(entry.text)


def _read(entry: RuleEntry, settings: RuleSettings | None) -> ReadRule | SetAside:
    try:
        return read_entry(entry, settings)
    except SienaError as error:
        return SetAside(entry.place or entry.id, str(error), entry.id)
