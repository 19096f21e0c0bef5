"""Claims: what a paper says, how rows decide it, and which rows must refute it.

A claim becomes a *finding* when it meets rows.  There are four verdicts, because "it
agrees" says too little: a claim holds; it differs, and then the finding says why;
these rows do not decide it; or the paper leaves open what would decide it, and then
what comes out with our choices is told beside it.

Every claim names *spoils*: ways to make its rows wrong.  A check that no wrong rows can
fail shows nothing, so the tests spoil the rows of every claim and want it to differ.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from siena.errors import SienaError
from siena.research.studies.framework.rows import Row

# With fewer seeds an interval would be too wide to tell anything; see decision 30.
CHANCE_SEEDS = 3

Spoil = Callable[[Sequence[Row]], list[Row]]
"""From rows to wrong ones."""


class Verdict(StrEnum):
    """What became of a claim."""

    HOLDS = "holds"
    DIFFERS = "differs"
    UNDECIDED = "not decided"
    OPEN = "left open"


class Answer(NamedTuple):
    """What rows say about a claim, and the numbers."""

    verdict: Verdict
    found: str
    seeds: int | None = None
    """Where intervals decided: of how many seeds, those that all its cells share."""


Decide = Callable[[Sequence[Row]], Answer]
Select = Callable[[Sequence[Row]], Sequence[Row]]


def everything(rows: Sequence[Row]) -> Sequence[Row]:
    """All rows of a study."""
    return rows


def having(is_meant: Callable[[Row], bool]) -> Select:
    """The rows of which something is so.

    >>> having(lambda row: row["x"] == 2)([{"x": 1}, {"x": 2}])
    [{'x': 2}]
    """
    return lambda rows: [row for row in rows if is_meant(row)]


def decided(is_so: bool, found: str) -> Answer:  # noqa: FBT001 -- it is the whole answer
    """The answer where rows leave no doubt.

    >>> decided(2 + 2 == 4, "4").verdict
    <Verdict.HOLDS: 'holds'>
    """
    return Answer(Verdict.HOLDS if is_so else Verdict.DIFFERS, found)


def undecided(found: str) -> Answer:
    """The answer of rows that are too few, or too different from each other."""
    return Answer(Verdict.UNDECIDED, found)


def weakest(*answers: Answer) -> Answer:
    """Of several answers to parts of a claim the one that decides about it.

    >>> weakest(decided(True, "one part"), undecided("the other")).found
    'the other'
    """
    ranks = (Verdict.DIFFERS, Verdict.UNDECIDED, Verdict.HOLDS)
    found = min(answers, key=lambda answer: ranks.index(answer.verdict))
    return found._replace(seeds=least_seeds(answer.seeds for answer in answers))


def least_seeds(counts: Iterable[int | None]) -> int | None:
    """The fewest of several numbers of seeds, as far as they are known.

    >>> least_seeds([5, None, 2]), least_seeds([None])
    (2, None)
    """
    return min((count for count in counts if count is not None), default=None)


@dataclass(frozen=True, slots=True)
class Claim:
    """Something that a paper, or a study of ours, says about rows."""

    name: str
    """As our specification calls it."""
    says: str
    test: str
    """How it is decided, in words."""
    decide: Decide
    spoils: Mapping[str, Spoil]
    """Wrong rows that must refute it, by what is wrong with them."""
    mends: Mapping[str, Spoil] = field(default_factory=dict)
    """Rows on which it must hold; wanted where it does not hold on ours."""
    of: Select = everything
    """The rows that it is about."""
    about: str = "all runs"
    """The same in words."""
    why: str = ""
    """If it differs, why; said only then."""
    leaves_open: str = ""
    """What the paper does not say and the claim depends on: it is not held to it."""
    is_gating: bool = True
    """Whether a run fails if it differs; our specification says why not."""
    seeds_min: int = 1
    """With fewer seeds, chance may have decided."""

    def answer(self, rows: Sequence[Row]) -> Answer:
        """What the rows say, however few they are."""
        own = self.of(rows)
        return self._decide(own) if own else undecided("there are no such runs")

    def finding(self, rows: Sequence[Row]) -> "Finding":
        """The claim with its verdict, and on what that rests."""
        own = self.of(rows)
        there = len({row["seed"] for row in own})
        answer = self.answer(rows)
        is_of_chance = answer.seeds is not None
        # Cells that are compared may share fewer seeds than there are.
        seeds = there if answer.seeds is None else answer.seeds
        if seeds < self.seeds_min and answer.verdict is not Verdict.UNDECIDED:
            words = f"{answer.found}; needs {self.seeds_min} seeds"
            answer = undecided(words)
        elif is_of_chance and seeds < CHANCE_SEEDS and self._is_too_sure(answer):
            few = (
                f"needs {CHANCE_SEEDS} seeds"
                if seeds > 1
                else "one seed has no interval"
            )
            answer = undecided(f"{answer.found}; {few}")
        elif self.leaves_open and answer.verdict is not Verdict.UNDECIDED:
            outcome = f"with our choices it {answer.verdict}: {answer.found}"
            answer = Answer(Verdict.OPEN, outcome)
        data = f"{self.about}: {_count(len(own), 'row')}, {_count(there, 'seed')}"
        if seeds < there:
            data += f", {seeds} in every case"
        return Finding(
            claim=self.name,
            says=self.says,
            verdict=answer.verdict,
            found=answer.found,
            test=self.test,
            data=data,
            why=self._why(answer.verdict),
            is_gating=self.is_gating,
        )

    def blind_spots(self, rows: Sequence[Row]) -> list[str]:
        """What is wrong with the claim itself: the wrong rows that do not refute it."""
        own = self.of(rows)
        if not own:
            return ["there are no rows that it is about"]
        if not self.spoils:
            return ["it names no wrong rows that would refute it"]
        missed = [
            f"not refuted by wrong rows: {words}"
            for words, spoil in self.spoils.items()
            if self._decide(spoil(own)).verdict is not Verdict.DIFFERS
        ]
        if self._decide(own).verdict is not Verdict.HOLDS and not self.mends:
            missed.append("it does not hold, and names no rows on which it would")
        missed += [
            f"does not hold on mended rows: {words}"
            for words, mend in self.mends.items()
            if self._decide(mend(own)).verdict is not Verdict.HOLDS
        ]
        return missed

    def _is_too_sure(self, answer: Answer) -> bool:
        """Of few seeds: what a run must pass may fail by them, and no more."""
        if self.is_gating:
            return answer.verdict is Verdict.HOLDS
        return answer.verdict is not Verdict.UNDECIDED

    def _decide(self, rows: Sequence[Row]) -> Answer:
        try:
            return self.decide(rows)
        except KeyError as error:
            known = ", ".join(dict.fromkeys(name for row in rows for name in row))
            raise SienaError(
                f"claim {self.name}: looks for {error}, which is not there",
                hint=f"columns of its rows: {known}",
            ) from error

    def _why(self, verdict: Verdict) -> str:
        if verdict is Verdict.OPEN:
            return self.leaves_open
        if verdict is Verdict.DIFFERS:
            return self.why or "Not explained: this should be looked at."
        return ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What became of one claim, in words that can be kept.

    >>> finding = Finding("F28a", "cost grows", Verdict.DIFFERS, "it falls")
    >>> finding.is_failure, str(finding.verdict)
    (True, 'differs')
    """

    claim: str
    says: str
    verdict: Verdict
    found: str
    test: str = ""
    data: str = ""
    """Which rows, how many, and of how many seeds: the power of the test."""
    why: str = ""
    is_gating: bool = True
    columns: str = ""
    """The values of columns by which these rows are found among all."""

    @property
    def is_failure(self) -> bool:
        """Whether the run that found it has failed."""
        return self.is_gating and self.verdict is Verdict.DIFFERS


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"
