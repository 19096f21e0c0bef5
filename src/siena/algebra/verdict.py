"""Verdicts: an answer, and the notification that shows it."""

from dataclasses import dataclass

from siena.model import Notification


@dataclass(frozen=True, slots=True)
class Verdict:
    """An answer, with its witness where the interesting answer has one.

    ``reason`` says why where no single notification can show it.  ``shown`` is False
    where the answer is no only because the work that was allowed did not suffice to
    decide; callers treat it as the no that it may be.
    """

    holds: bool
    witness: Notification | None = None
    shown: bool = True
    reason: str = ""

    def __bool__(self) -> bool:
        return self.holds


YES = Verdict(holds=True)
NOT_SHOWN = Verdict(holds=False, shown=False)
