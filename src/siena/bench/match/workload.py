"""What ``siena bench match`` asks: which filters, whose, and which notifications."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from siena.errors import SienaError
from siena.model import Filter, Notification
from siena.sim.words import WORDS
from siena.sim.workload import FILTER_SIZES, SSBG, TR0605, Distribution

# Names of W-TR0605 where nobody says how many: the middle one of our specification.
NAMES = 500


@dataclass(frozen=True)
class Question:
    """One workload, and what is wanted of it.

    >>> question = Question("ssbg", None, "uniform", interfaces=3, constraints_min=2)
    >>> min(len(f.constraints) for f in question.filters(50))
    2
    >>> [question.interface(number) for number in range(5)]
    [0, 1, 2, 0, 1]

    Args:
        workload: ``tr0605`` or ``ssbg``.
        names: how many names W-TR0605 has; W-SSBG has its words, and no choice.
        distribution: how popular the names are: ``zipf`` or ``uniform``.
        interfaces: to how many interfaces the filters are dealt in turn, and the
            interfaces that match are wanted; ``None`` for all matching filters.
        constraints_min: filters with fewer constraints are left out.
        batch: how many notifications are matched at a time.
        seed: decides what is drawn.

    Raises:
        SienaError: if there is no such workload.
    """

    workload: str = "tr0605"
    names: int | None = None
    distribution: str = "zipf"
    interfaces: int | None = None
    constraints_min: int = 1
    batch: int = 256
    seed: int = 1

    def __post_init__(self) -> None:
        _require(self.workload, "workload", ("tr0605", "ssbg"))
        _require(self.distribution, "distribution", ("zipf", "uniform"))
        if self.workload == "ssbg" and self.names not in {None, len(WORDS)}:
            raise SienaError(
                f"the names of W-SSBG are its {len(WORDS)} words",
                hint="leave --names out, or take --workload tr0605",
            )
        if self.constraints_min > self.constraints_max:
            raise SienaError(
                f"no filter of this workload has {self.constraints_min} constraints",
                hint=f"--constraints-min is at most {self.constraints_max}",
            )

    @cached_property
    def source(self) -> TR0605 | SSBG:
        """What draws the filters and the notifications."""
        shape: Distribution = "zipf" if self.distribution == "zipf" else "uniform"
        if self.workload == "ssbg":
            return SSBG(distribution=shape, seed=self.seed)
        return TR0605(self.names or NAMES, distribution=shape, seed=self.seed)

    @property
    def name_count(self) -> int:
        """How many attribute names there are."""
        source = self.source
        return source.names if isinstance(source, TR0605) else len(WORDS)

    @property
    def constraints_max(self) -> int:
        """How many constraints the longest filters have."""
        source = self.source
        if isinstance(source, TR0605):
            return max(size for size, _ in FILTER_SIZES)
        return source.constraints[-1]

    def filters(self, count: int) -> list[Filter]:
        """The first ``count`` filters with enough constraints."""
        fitting = (f for f in self._all() if len(f.constraints) >= self.constraints_min)
        return list(islice(fitting, count))

    def notifications(self, count: int) -> list[Notification]:
        """The first ``count`` notifications."""
        return list(self.source.notifications(count))

    def interface(self, number: int) -> int:
        """The interface of a filter; without a number of interfaces, its own."""
        return number if self.interfaces is None else number % self.interfaces

    def _all(self) -> Iterator[Filter]:
        endless = 2**62  # generators: as many as anybody takes
        source = self.source
        if isinstance(source, TR0605):
            yield from source.filters(endless)
        else:
            for predicate in source.predicates(endless):
                yield from predicate.filters


def _require(given: str, what: str, choices: tuple[str, ...]) -> None:
    if given not in choices:
        raise SienaError(f"{given!r} is not a {what}", hint=f"{' or '.join(choices)}")
