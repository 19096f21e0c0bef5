"""Verdicts: an answer, and the notification that shows it."""

from dataclasses import dataclass

from siena.model import Notification


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer, with its witness where the interesting answer has one.

    ``reason`` says why where no single notification can show it.  ``shown`` is False
    where the answer is no only because the work that was allowed did not suffice to
    decide; callers treat it as the no that it may be, and ``limit`` is the name of what
    bounded the work.
    """

    holds: bool
    witness: Notification | None = None
    shown: bool = True
    reason: str = ""
    limit: str = ""

    def __bool__(self) -> bool:
        return self.holds


YES = Verdict(holds=True)


def not_shown(limit: str) -> Verdict:
    """The answer of who came to a limit."""
    return Verdict(holds=False, shown=False, limit=limit)
