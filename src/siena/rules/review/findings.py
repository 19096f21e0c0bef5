"""What a review says: findings, each with its proof or an event that shows it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from siena.lang.json_text import Json
from siena.lang.notification_form import notification_to_json
from siena.model import Notification
from siena.rules.entry import RuleEntry, SetAside
from siena.rules.review.covers import Part

# Filters of a rule whose proofs are written out, and filters of a union that are named.
PARTS_SHOWN = 12
RIVALS_SHOWN = 12


class FindingKind(StrEnum):
    """What is found about a rule, the worst first."""

    UNREADABLE = "unreadable"
    DEAD = "dead"
    EQUAL = "equal"
    SHADOWED = "shadowed"
    OVERLAPS = "overlaps"
    RESIDUAL = "residual"
    UNDECIDED = "undecided"


# What a rule set should not have; the others are for information.
FAULTS = frozenset(list(FindingKind)[:4])


@dataclass(frozen=True, slots=True)
class Finding:
    """Something about a rule, and about the others that have to do with it.

    ``proof`` says, filter by filter, what covers it; ``example`` is an event at which
    all of them fire; ``difference`` one at which the others fire and this rule does
    not, if they are wider.  ``text`` is a reason, or a residual.
    """

    kind: FindingKind
    rule: str
    others: tuple[str, ...] = ()
    text: str = ""
    proof: tuple[Part, ...] = ()
    example: Notification | None = None
    difference: Notification | None = None

    def to_json(self, names: "list[str]") -> dict[str, Json]:
        """The finding for programs; ``names`` are the ids of the rules by number."""
        found: dict[str, Any] = {"finding": self.kind.value, "rule": self.rule}
        if self.others:
            found["others"] = list(self.others)
        if self.text:
            found["text"] = self.text
        if self.proof:
            found["proof"] = [_part(part, names) for part in self.proof[:PARTS_SHOWN]]
            found["filters"] = len(self.proof)
        for key, event in (("example", self.example), ("only_other", self.difference)):
            if event is not None:
                found[key] = notification_to_json(event)
        return found


def _part(part: Part, names: "list[str]") -> dict[str, Any]:
    return {
        "filter": str(part.filter),
        "by": [
            {"rule": names[number], "filter": str(filter_)}
            for number, filter_ in part.by[:RIVALS_SHOWN]
        ],
        "because": [f"{r.subject}: {r.because}" for r in part.reasons()],
    }


@dataclass(frozen=True, slots=True)
class Review:
    """All findings about a set.

    ``entries`` are the rules that were read, by number; ``pairs`` the numbers of a
    rule and one that it covers; ``needed`` counts the rules of which an event shows
    that no other fires there.
    """

    entries: tuple[RuleEntry, ...]
    findings: tuple[Finding, ...]
    pairs: tuple[tuple[int, int], ...]
    set_aside: tuple[SetAside, ...]
    needed: int

    @property
    def names(self) -> list[str]:
        """The ids of the rules, by number."""
        return [entry.id for entry in self.entries]

    def counts(self) -> Mapping[str, int]:
        """How many findings there are of each kind."""
        return {
            kind.value: sum(f.kind is kind for f in self.findings)
            for kind in FindingKind
        }

    def faults(self) -> Iterator[Finding]:
        """The findings that a rule set should not have."""
        return (f for f in self.findings if f.kind in FAULTS)

    def to_json(self) -> dict[str, Json]:
        """The review for programs."""
        names = self.names
        findings: list[Json] = [f.to_json(names) for f in self.findings]
        counts: dict[str, Json] = dict(self.counts())
        pairs: list[Json] = [[names[i], names[j]] for i, j in self.pairs]
        return {
            "rules": len(self.entries),
            "needed": self.needed,
            "counts": counts,
            "covering_pairs": pairs,
            "findings": findings,
        }
