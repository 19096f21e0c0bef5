"""What two stores found, claim by claim: before and after a change, here and there."""

from collections.abc import Iterable
from typing import NamedTuple

from siena.research.studies.framework.claim import Finding
from siena.research.studies.framework.results import read_result
from siena.research.studies.framework.store import Store


class Change(NamedTuple):
    """One claim in both stores; nothing where one of them does not know it.

    >>> Change("fig5", "T-E20", "near", "holds", "1 %", "differs", "9 %").is_otherwise
    True
    """

    study: str
    claim: str
    says: str
    before: str
    found_before: str
    after: str
    found_after: str

    @property
    def is_otherwise(self) -> bool:
        """Whether the verdict is another one."""
        return self.before != self.after


def compare(names: Iterable[str], one: Store, other: Store) -> list[Change]:
    """All claims of the studies that were run in both stores."""
    changes = []
    for name in names:
        before, after = read_result(name, one), read_result(name, other)
        if before is not None and after is not None:
            changes += _claims(name, before.findings, after.findings)
    return changes


def _claims(
    study: str, before: Iterable[Finding], after: Iterable[Finding]
) -> list[Change]:
    """By what they say: a study may make several claims under one name."""
    known = {(f.claim, f.says): f for f in before}
    new = {(f.claim, f.says): f for f in after}
    return [
        Change(study, claim, says, *_words(known, key), *_words(new, key))
        for key in dict.fromkeys([*known, *new])
        for claim, says in [key]
    ]


def _words(
    findings: dict[tuple[str, str], Finding], key: tuple[str, str]
) -> tuple[str, str]:
    finding = findings.get(key)
    return (str(finding.verdict), finding.found) if finding else ("", "")
