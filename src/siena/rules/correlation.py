"""Correlations: Sigma's rules about several events, as values.

Each refers to rules of the same set, about one event each, and says how often, or in
which order, they have to fire within a span of time, for the same values of the
attributes in ``group_by``.  This is the model: it has no clock and keeps no events.
Windowed counts and sequences over streams are counted in :mod:`siena.spark`; an ordered
one is also a :class:`~siena.model.Pattern`, whose steps brokers know, though not the
span and the grouping.

Reference:
    The Sigma correlation rules specification, 2.1.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from siena.errors import FilterError, SienaError
from siena.model import Pattern
from siena.model.expression.rule import Rule
from siena.rules.entry import RuleEntry, RuleSet, SetAside
from siena.rules.reading import RuleSettings
from siena.rules.sigma_files import is_correlation, sigma_name


class CorrelationKind(StrEnum):
    """What a correlation asks of the events that its rules select."""

    EVENT_COUNT = "event_count"
    VALUE_COUNT = "value_count"
    TEMPORAL = "temporal"
    TEMPORAL_ORDERED = "temporal_ordered"


@dataclass(frozen=True, slots=True)
class Correlation:
    """A rule about several events.

    With ``event_count`` the number of events that one of ``rules`` selects, with
    ``value_count`` the number of different values of ``fields`` in them, within
    ``span_s`` seconds and for one group, compares with ``count`` as ``comparison``
    says (``>=``, ``>``, ``<=``, ``<``, ``=``, ``!=``).  With ``temporal`` every one of
    ``rules`` has to select an event within the span; with ``temporal_ordered`` in
    their order.  ``aliases`` names, for an attribute of ``group_by`` and a rule, the
    attribute that is meant.  Unless ``generates``, alerts of the rules themselves are
    not wanted.
    """

    entry: RuleEntry
    kind: CorrelationKind
    rules: tuple[str, ...]
    group_by: tuple[str, ...]
    span_s: int
    comparison: str = ">="
    count: int = 1
    fields: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str, str], ...] = ()
    generates: bool = False

    @property
    def id(self) -> str:
        """The id of the entry."""
        return self.entry.id

    def attribute(self, name: str, rule_id: str) -> str:
        """Where a name of ``group_by`` is found in what a rule selects."""
        for alias, rule, attribute in self.aliases:
            if alias == name and rule == rule_id:
                return attribute
        return name

    def is_reached(self, count: int) -> bool:
        """Whether a count of events, or of different values, satisfies the condition.

        >>> entry = RuleEntry("c", "…", "sigma")
        >>> kind = CorrelationKind.EVENT_COUNT
        >>> c = Correlation(entry, kind, ("a",), (), 60, ">=", 3)
        >>> c.is_reached(2), c.is_reached(3)
        (False, True)
        """
        return {
            ">=": count >= self.count,
            ">": count > self.count,
            "<=": count <= self.count,
            "<": count < self.count,
            "=": count == self.count,
            "!=": count != self.count,
        }[self.comparison]

    def pattern(self, rules: Mapping[str, Rule]) -> Pattern:
        """The pattern of an ordered correlation: its rules' predicates, in order.

        Raises:
            FilterError: if there is no order, or a step has a residual.
        """
        if self.kind is not CorrelationKind.TEMPORAL_ORDERED:
            raise FilterError(f"{self.kind} is no sequence").about(self.id)
        for rule_id in self.rules:
            if not rules[rule_id].is_exact:
                message = "a step of a pattern is a predicate, and this has a residual"
                raise FilterError(message).about(rule_id)
        return Pattern(rules[rule_id].predicate for rule_id in self.rules)


_COMPARISONS = {"gte": ">=", "gt": ">", "lte": "<=", "lt": "<", "eq": "=", "neq": "!="}


def read_correlations(
    rules: RuleSet, settings: RuleSettings | None = None
) -> Iterator[Correlation | SetAside]:
    """The correlations of a set; one that cannot be read is put aside.

    Fields have the names that the settings give them, as in the rules themselves.
    """
    settings = settings or RuleSettings()
    names = _names(rules)
    for entry in rules.enabled:
        if entry.dialect == "sigma" and is_correlation(entry.text):
            try:
                found = _read(entry, names, settings.pipeline_text())
                yield _renamed(found, settings.fields)
            except SienaError as error:
                yield SetAside(entry.place or entry.id, str(error), entry.id)


def _renamed(found: Correlation, fields: Mapping[str, str]) -> Correlation:
    aliased = {alias for alias, _, _ in found.aliases}
    return replace(
        found,
        group_by=tuple(n if n in aliased else fields.get(n, n) for n in found.group_by),
        fields=tuple(fields.get(name, name) for name in found.fields),
        aliases=tuple(
            (alias, rule, fields.get(name, name)) for alias, rule, name in found.aliases
        ),
    )


def _names(rules: Iterable[RuleEntry]) -> dict[str, RuleEntry]:
    """The entries by id, and by the name that correlations may call them."""
    found = {entry.id: entry for entry in rules}
    for entry in rules:
        if entry.dialect == "sigma":
            name = sigma_name(entry.text)
            if name:
                found.setdefault(name, entry)
    return found


def _read(
    entry: RuleEntry, names: Mapping[str, RuleEntry], pipeline: str | None
) -> Correlation:
    from sigma.correlations import (  # noqa: PLC0415 -- an extra
        SigmaCorrelationCondition,
        SigmaCorrelationRule,
    )
    from sigma.exceptions import SigmaError  # noqa: PLC0415 -- an extra
    from yaml import YAMLError  # noqa: PLC0415 -- an extra

    from siena.dialects.sigma.reader import read_pipeline  # noqa: PLC0415 -- an extra

    try:
        found = SigmaCorrelationRule.from_yaml(entry.text)
        if pipeline is not None:
            read_pipeline(pipeline).apply(found)
    except (SigmaError, YAMLError, TypeError, ValueError, AttributeError) as error:
        raise FilterError(" ".join(str(error).split())).about(entry.id) from None
    try:
        kind = CorrelationKind(found.type.name.lower())
    except ValueError:
        word = found.type.name.lower()
        raise FilterError(f"correlations by {word} are not read").about(
            entry.id
        ) from None
    if not isinstance(found.condition, SigmaCorrelationCondition) or not found.rules:
        message = "a correlation lists its rules, and compares with one number"
        raise FilterError(message).about(entry.id)
    if not isinstance(found.condition.count, int):
        raise FilterError("a count is a whole number").about(entry.id)
    fields = found.condition.fieldref or ()
    return Correlation(
        entry=entry,
        kind=kind,
        rules=tuple(_id(str(r.reference), names, entry) for r in found.rules),
        group_by=tuple(found.group_by or ()),
        span_s=found.timespan.seconds,
        comparison=_COMPARISONS[found.condition.op.name.lower()],
        count=found.condition.count,
        fields=(fields,) if isinstance(fields, str) else tuple(fields),
        aliases=tuple(
            (alias, _id(rule, names, entry), attribute)
            for alias, mapping in found.aliases.to_dict().items()
            for rule, attribute in mapping.items()
        ),
        generates=found.generate,
    )


def _id(reference: str, names: Mapping[str, RuleEntry], entry: RuleEntry) -> str:
    found = names.get(reference)
    if found is None:
        message = f'there is no rule "{reference[:100]}" in the set'
        raise FilterError(message).about(entry.id)
    if found.dialect == "sigma" and is_correlation(found.text):
        message = f'"{reference[:100]}" is a correlation itself'
        raise FilterError(message, hint="name its rules").about(entry.id)
    return found.id
