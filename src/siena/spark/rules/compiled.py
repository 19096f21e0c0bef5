"""Rules compiled for workers: one file, which they map, and what was put aside.

The file is a forwarding table of the rules' covering predicates.  Its note says of each
predicate whose it is, and has what predicates cannot say: residuals, severities,
versions, correlations.
"""

import json
import os
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark import SparkFiles
from pyspark.sql import DataFrame, SparkSession

from siena.dialects import read_rule
from siena.errors import FilterError, SienaError, TableFileError
from siena.lang.expression import expression_from_json, expression_to_json
from siena.matching.engine.table_file import MAGIC
from siena.matching.input.several import AskedTable
from siena.matching.pieces import make_piece
from siena.matching.table import ForwardingTable
from siena.matching.texts import Sought
from siena.model import Filter
from siena.model.expression import Expression, Operation, names_of
from siena.model.expression.rule import Rule
from siena.model.expression.tree import Call, walk
from siena.rules.correlation import Correlation, read_correlations
from siena.rules.entry import RuleEntry, RuleSet, SetAside
from siena.rules.reading import ReadRule, RuleSettings
from siena.rules.residuals.gate import Gate
from siena.rules.residuals.needs import need_of
from siena.rules.several import seen_by_choices
from siena.rules.sigma_files import is_correlation
from siena.spark.batch.compiling import (
    CompiledSubscriptions,
    OnError,
    contents_of,
    store_table,
)
from siena.spark.rules.counting import Condition, condition_of
from siena.spark.rules.deciding import Test, decide
from siena.spark.rules.sampling import Sampled, sampled
from siena.spark.rules.sources import RuleSource, rule_set

# Rules that are remembered as they were read: sets change a little at a time.
READ_MAX = 20_000
# Rule sets that a worker keeps mapped, the last used ones.
SETS_KEPT_MAX = 4
_MARK, _CORRELATIONS, _ASIDE = b"siena.rules", b"siena.correlations", b"siena.aside"
_MANY = b"siena.many"
_EVERYWHERE = {Operation.ANYWHERE_LIKE, Operation.ANYWHERE_MATCHES}


@dataclass(frozen=True)
class CompiledRules:
    """Rules in a file, ready to be applied, and what was put aside."""

    file: CompiledSubscriptions
    rejects: tuple[SetAside, ...] = ()

    @cached_property
    def loaded(self) -> "LoadedRules":
        """The rules themselves, mapped."""
        return LoadedRules(self.file.table)

    def __len__(self) -> int:
        return len(self.loaded.ids) + len(self.loaded.conditions)

    def keep(self, path: str | os.PathLike[str]) -> "CompiledRules":
        """The same in a file that stays, at once and as a whole."""
        return CompiledRules(self.file.keep(path), self.rejects)

    def set_aside(self, spark: SparkSession) -> DataFrame:
        """What was put aside, as a table: the place, the id if known, the reason."""
        rows = [(aside.place, aside.id, aside.reason) for aside in self.rejects]
        return spark.createDataFrame(rows, "place string, id string, reason string")


class LoadedRules:
    """Rules as a worker has them; what a rule needs is read when it fires first."""

    def __init__(self, table: ForwardingTable) -> None:
        self.table = table
        self.asked = AskedTable(table)
        batch, about = _read_note(table)
        columns = batch.to_pydict()
        # The same of what alerts say, to be taken by the column.
        self.about = batch.select(["id", "version", "severity"])
        self.ids: list[str] = columns["id"]
        self.versions: list[str] = columns["version"]
        self.severities: list[str] = columns["severity"]
        self.marks: list[str] = columns["mark"]
        # Whether it stands for itself, or only for correlations.
        self.alerts = np.array(columns["alerts"], np.bool_)
        self._residuals: list[str | None] = columns["residual"]
        # Files of before have none.
        nothing: list[None] = [None] * len(self.ids)
        self._texts: list[list[str] | None] = columns.get("texts", nothing)
        self._shortest: list[int | None] = columns.get("shortest", nothing)
        self.has_residual = np.array([r is not None for r in self._residuals], np.bool_)
        self.conditions = [Condition.of(f) for f in json.loads(about[_CORRELATIONS])]
        # The names that may have several values.
        self.many = frozenset[str](json.loads(about.get(_MANY, b"[]")))
        self.rejects = tuple(SetAside(*row) for row in json.loads(about[_ASIDE]))
        # Of each rule, the correlations that it is part of, and which of their rules.
        self.parts: dict[int, list[tuple[int, int]]] = {}
        numbers = {rule_id: number for number, rule_id in enumerate(self.ids)}
        for place, condition in enumerate(self.conditions):
            for step, rule_id in enumerate(condition.rules):
                self.parts.setdefault(numbers[rule_id], []).append((place, step))
        self._filters: dict[int, tuple[Filter, ...]] = {}
        self._expressions: dict[int, Expression] = {}
        self._tests: dict[int, Test] = {}
        self._looked_at: dict[int, frozenset[str] | None] = {}

    def filters(self, number: int) -> tuple[Filter, ...]:
        """The filters of a rule's predicate."""
        if number not in self._filters:
            self._filters[number] = self.table.filters(number)
        return self._filters[number]

    def residual(self, number: int) -> Expression:
        """The residual of a rule that has one."""
        if number not in self._expressions:
            text = self._residuals[number]
            assert text is not None
            self._expressions[number] = expression_from_json(json.loads(text))
        return self._expressions[number]

    def looked_at(self, number: int) -> frozenset[str] | None:
        """The attributes that the residual of a rule looks at; none if all."""
        if number not in self._looked_at:
            residual = self.residual(number)
            names = None if looks_everywhere(residual) else names_of(residual)
            self._looked_at[number] = names
        return self._looked_at[number]

    @cached_property
    def gate(self) -> Gate:
        """What says which candidates may hold at all."""
        wanted = [
            None if texts is None else Sought(frozenset(texts), shortest)
            for texts, shortest in zip(self._texts, self._shortest, strict=True)
        ]
        return Gate(wanted)

    def test(self, number: int) -> Test:
        """The test whether the residual of a rule holds of an event."""
        if number not in self._tests:
            self._tests[number] = decide(self.residual(number))
        return self._tests[number]

    @cached_property
    def names(self) -> frozenset[str] | None:
        """The attributes that rules look at; none if one looks at all there are."""
        found = set(self.table.attributes())
        for number in np.flatnonzero(self.has_residual).tolist():
            names = self.looked_at(number)
            if names is None:
                return None
            found |= names
        for condition in self.conditions:
            found |= condition.names()
        return frozenset(found)


def looks_everywhere(expression: Expression) -> bool:
    """Whether an expression looks at attributes that it does not name."""
    return any(
        isinstance(node, Call) and node.operation in _EVERYWHERE
        for node in walk(expression)
    )


def compile_rules(
    rules: "RuleSource | CompiledRules",
    *,
    settings: RuleSettings | None = None,
    dialect: str = "siena",
    on_error: OnError = "set_aside",
    folder: str | os.PathLike[str] | None = None,
    like: Sampled = (),
    column: str | None = None,
) -> CompiledRules:
    """Rules as :func:`siena.spark.rules.apply` wants them, to be used again and again.

    Rules that are not enabled are left out.  What cannot be read is in ``rejects``; or
    it is an error, with ``on_error="raise"``.  With ``like``, a table of events or some
    mappings, the file is laid out for events like its first few hundred, and finds the
    rules of such several times faster; ``column`` is the one that is the whole event.

    Raises:
        SienaError: if there are no rules, or one is bad and that is an error.
    """
    if isinstance(rules, CompiledRules):
        return rules
    if isinstance(rules, str | os.PathLike) and is_compiled(Path(rules)):
        return open_rules(rules)
    found = rule_set(rules, dialect=dialect)
    settings = settings or RuleSettings()
    read, aside = _read(found, settings)
    rejects = (*found.set_aside, *aside)
    conditions: list[Condition] = []
    known = {rule.id for rule in read}
    for correlation in read_correlations(found, settings):
        if isinstance(correlation, SetAside):
            rejects += (correlation,)
            continue
        try:
            conditions.append(_condition(correlation, known))
        except SienaError as error:
            place = correlation.entry.place or correlation.id
            rejects += (SetAside(place, str(error), correlation.id),)
    if on_error == "raise" and rejects:
        first = rejects[0]
        hint = 'on_error="set_aside" puts such rules aside'
        raise SienaError(f"{first.place}: {first.reason}", hint=hint)
    # What a correlation is about does not stand for itself, unless one says so.
    parts = {r for c in conditions for r in c.rules}
    silent = parts - {r for c in conditions if c.generates for r in c.rules}
    table = ForwardingTable.of_piece(make_piece(rule.rule.predicate for rule in read))
    table.expect(sampled(like, column))
    table.note = _note(read, silent, conditions, rejects, settings.many)
    return CompiledRules(store_table(table, folder), rejects)


def open_rules(path: str | os.PathLike[str]) -> CompiledRules:
    """Rules that were compiled before.

    Raises:
        TableFileError: if it is another file, or a damaged one.
    """
    file = CompiledSubscriptions(Path(path))
    rejects = LoadedRules(ForwardingTable.load(file.path, verify=True)).rejects
    return CompiledRules(file, rejects)


def is_compiled(path: Path) -> bool:
    """Whether a file is one of compiled rules."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


# In a worker, which serves many tasks one after the other; by the contents.
_loaded: OrderedDict[str, LoadedRules] = OrderedDict()


def load(name: str) -> LoadedRules:
    """The rules that were shipped under a name, in a worker.

    A folder of revisions may have been made anew since the worker began.
    """
    path = Path(name if Path(name).is_absolute() else SparkFiles.get(name))
    contents = contents_of(path)
    found = _loaded.get(contents)
    if found is None:
        found = _loaded[contents] = LoadedRules(ForwardingTable.load(path))
        while len(_loaded) > SETS_KEPT_MAX:
            _loaded.popitem(last=False)
    _loaded.move_to_end(contents)
    return found


def _read(
    rules: RuleSet, settings: RuleSettings
) -> tuple[list[ReadRule], list[SetAside]]:
    """The rules about one event, and those that cannot be read."""
    found: list[ReadRule] = []
    aside: list[SetAside] = []
    fields = tuple(sorted(settings.fields.items()))
    pipeline = settings.pipeline_text()
    for entry in rules.enabled:
        if entry.dialect == "sigma" and is_correlation(entry.text):
            continue
        try:
            rule = _read_text(
                entry.dialect,
                entry.text,
                settings.many,
                settings.logsource,
                fields,
                pipeline,
            )
            found.append(ReadRule(entry, rule))
        except SienaError as error:
            place = entry.place or entry.id
            aside.append(SetAside(place, str(error.about(entry.id)), entry.id))
    return found, aside


@lru_cache(READ_MAX)
def _read_text(
    dialect: str,
    text: str,
    many: frozenset[str],
    logsource: str,
    fields: tuple[tuple[str, str], ...],
    pipeline: str | None,
) -> Rule:
    rule = read_rule(
        dialect,
        text,
        many=many,
        logsource=logsource,
        fields=dict(fields),
        pipeline=pipeline,
    )
    rule = seen_by_choices(rule, many)
    if rule.residual is not None:
        # As a worker will read it, so that no worker finds that it cannot.
        expression_from_json(json.loads(_residual(rule.residual)))
    return rule


def _residual(expression: Expression) -> str:
    return json.dumps(expression_to_json(expression))


def _condition(correlation: Correlation, known: set[str]) -> Condition:
    missing = [rule for rule in correlation.rules if rule not in known]
    if missing:
        raise FilterError(
            f'its rule "{missing[0][:100]}" cannot be read or is not there'
        )
    return condition_of(correlation, mark_of(correlation.entry))


def mark_of(entry: RuleEntry) -> str:
    """What tells one version of a rule from another: what is remembered is of one."""
    said = f"{entry.dialect}\0{entry.version}\0{entry.text}".encode()
    return blake2b(said, digest_size=8).hexdigest()


def _note(
    rules: Iterable[ReadRule],
    silent: set[str],
    conditions: Iterable[Condition],
    rejects: Iterable[SetAside],
    many: frozenset[str],
) -> bytes:
    listed = list(rules)
    texts = pa.string()
    residuals = [r.rule.residual for r in listed]
    needs = [None if r is None else need_of(r) for r in residuals]
    batch = pa.record_batch(
        {
            "id": pa.array([r.id for r in listed], texts),
            "version": pa.array([r.entry.version for r in listed], texts),
            "severity": pa.array([r.entry.severity for r in listed], texts),
            "mark": pa.array([mark_of(r.entry) for r in listed], texts),
            "alerts": pa.array([r.id not in silent for r in listed], pa.bool_()),
            "residual": pa.array(
                [r.rule.residual and _residual(r.rule.residual) for r in listed], texts
            ),
            # What the residual needs, so that a worker need not read them all.
            "texts": pa.array(
                [None if n is None else sorted(n.texts) for n in needs], pa.list_(texts)
            ),
            "shortest": pa.array([n and n.shortest for n in needs], pa.int64()),
        }
    )
    about: Mapping[bytes, bytes] = {
        _MARK: b"1",
        _CORRELATIONS: json.dumps([c._asdict() for c in conditions]).encode(),
        _ASIDE: json.dumps([list(aside) for aside in rejects]).encode(),
        _MANY: json.dumps(sorted(many)).encode(),
    }
    sink = pa.BufferOutputStream()
    schema = batch.schema.with_metadata(about)
    with pa.ipc.new_stream(sink, schema) as stream:
        stream.write_batch(batch.replace_schema_metadata(about))
    return bytes(sink.getvalue())


def _read_note(table: ForwardingTable) -> tuple[pa.RecordBatch, dict[bytes, bytes]]:
    try:
        with pa.ipc.open_stream(pa.py_buffer(table.note)) as stream:
            about: Any = stream.schema.metadata or {}
            batch = stream.read_next_batch()
    except (pa.ArrowInvalid, StopIteration) as error:
        raise TableFileError("this table is not one of rules") from error
    if _MARK not in about:
        hint = "siena.spark.rules.compile_rules makes one"
        raise TableFileError("this table is not one of rules", hint=hint)
    return batch, about
