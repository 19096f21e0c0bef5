"""What a study is: a question, how it is asked, and what the answer must look like."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from matplotlib.figure import Figure

from siena.research.studies.framework.claim import Claim, Finding
from siena.research.studies.framework.rows import Row
from siena.research.studies.framework.selection import selection

Size = Literal["full", "quick", "test"]
"""As the papers have it, in minutes, and in seconds."""

Plan = Callable[[Size, int], list[Row]]
"""The rows of parameters for a size and a number of seeds."""
Run = Callable[[Row], Row]
"""From parameters to results; a function of a module, known there by its name."""
Draw = Callable[[Sequence[Row]], Figure]


class Parameter(NamedTuple):
    """A number that the figure depends on, and who says so."""

    name: str
    value: str
    source: str


@dataclass(frozen=True, slots=True)
class Study:
    """One figure, or one question."""

    name: str
    title: str
    paper: str
    says: str
    """What the paper says about it, in our words."""
    shape: str
    """What to expect of the figure, in words."""
    caption: str
    """What the figure shows, for a reader who has nothing else."""
    parameters: tuple[Parameter, ...]
    run: Run
    plan: Plan
    claims: tuple[Claim, ...]
    draw: Draw
    seeds: dict[Size, int] = field(
        default_factory=lambda: {"full": 10, "quick": 3, "test": 1}
    )
    first_seed: int = 1
    bands: str = (
        "Points are means over the seeds, and bands their 95 % bootstrap intervals "
        "where there are several."
    )
    """What is drawn of several seeds; the end of the caption."""
    remark: str = ""
    """Why we differ, where we do; what had to be decided."""
    is_timed: bool = False
    """Whether results are times, which no two machines have in common."""

    def rows(self, size: Size, seeds: int | None = None) -> list[Row]:
        """The plan, with the number of seeds that is usual for the size."""
        return self.plan(size, self.seeds[size] if seeds is None else seeds)

    def seeds_in_words(self, seeds: int) -> str:
        """Which seeds those of a plan are."""
        first, last = self.first_seed, self.first_seed + seeds - 1
        return f"seed {first}" if seeds == 1 else f"seeds {first} to {last}"

    def check(self, rows: Sequence[Row]) -> list[Finding]:
        """What becomes of all claims."""
        names = [name for row in self.plan("test", 1)[:1] for name in row]
        return [
            replace(claim.finding(rows), columns=selection(claim.of(rows), rows, names))
            for claim in self.claims
        ]


def among(seeds: int, first: int = 1) -> range:
    """The seeds: more of them are the same ones first.

    >>> list(among(3))
    [1, 2, 3]
    """
    return range(first, first + seeds)


def listed(values: Iterable[float]) -> str:
    """Numbers as a table of parameters has them, so that it says what is run.

    >>> listed((50, 100, 2000))
    '50, 100, 2,000'
    """
    return ", ".join(f"{value:,}" for value in values)
