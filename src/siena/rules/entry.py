"""Entries of a rule set: rules as they are kept, in the words of their dialect.

The columns are the same wherever rules are kept: in files, in tables of Spark, in the
answers of ``siena rules``.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from siena.errors import InvalidFormError, LimitError

# What every form of a rule set has; the first and the third are required.
COLUMNS = ("id", "dialect", "text", "severity", "enabled", "version")
# Rules in one set: ten times what the largest public one has.
RULES_MAX = 100_000
# The id, the severity, the version or the title of a rule.
WORD_CHARACTERS_MAX = 1_024


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """A rule as it is kept: its text, and what is known about it.

    ``place`` says where it was found; it is not part of the rule.

    >>> RuleEntry("r1", "price > 3").dialect
    'siena'
    """

    id: str
    text: str
    dialect: str = "siena"
    severity: str = ""
    enabled: bool = True
    version: str = ""
    title: str = ""
    place: str = ""

    def __post_init__(self) -> None:
        if not self.id:
            raise InvalidFormError("a rule has an id")
        for word in (self.id, self.dialect, self.severity, self.version, self.title):
            if len(word) > WORD_CHARACTERS_MAX:
                what = "characters in the id, severity, version or title of a rule"
                raise LimitError("WORD_CHARACTERS_MAX", WORD_CHARACTERS_MAX, what)


class SetAside(NamedTuple):
    """What was to be a rule and is none, with the reason: never lost, and counted."""

    place: str
    reason: str
    id: str = ""


class RuleSet:
    """Entries with different ids, in the order in which they came.

    >>> rules = RuleSet([RuleEntry("a", "x = 1"), RuleEntry("a", "x = 2", place="b:3")])
    >>> len(rules), rules["a"].text, rules.set_aside[0].reason
    (1, 'x = 1', 'there is a rule with the id "a" already')
    """

    def __init__(
        self,
        entries: Iterable[RuleEntry | SetAside] = (),
        set_aside: Iterable[SetAside] = (),
    ) -> None:
        self._by_id: dict[str, RuleEntry] = {}
        aside = list(set_aside)
        for entry in entries:
            if isinstance(entry, SetAside):
                aside.append(entry)
                continue
            first = self._by_id.setdefault(entry.id, entry)
            if first is not entry:
                at = f", {first.place}" if first.place else ""
                reason = f'there is a rule with the id "{entry.id}" already{at}'
                aside.append(SetAside(entry.place, reason, entry.id))
            elif len(self._by_id) > RULES_MAX:
                raise LimitError("RULES_MAX", RULES_MAX, "rules in a set")
        self.set_aside: tuple[SetAside, ...] = tuple(aside)

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[RuleEntry]:
        return iter(self._by_id.values())

    def __contains__(self, rule_id: object) -> bool:
        return rule_id in self._by_id

    def __getitem__(self, rule_id: str) -> RuleEntry:
        return self._by_id[rule_id]

    @property
    def enabled(self) -> tuple[RuleEntry, ...]:
        """The entries that are in force."""
        return tuple(entry for entry in self if entry.enabled)
