"""Workloads: filters and notifications drawn from the distributions of the papers.

Two generators, each a value: the same parameters give the same filters and the
same notifications, in every process and on every machine, and the first ``n`` of a
longer run are the run of ``n``.

==============  ================================================================
:class:`TR0605`  independent filters; the workload of every matching benchmark
:class:`SSBG`    one predicate per interface; the workload of the routing studies
==============  ================================================================
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice, product
from random import Random
from typing import Literal, TypeVar

from siena.errors import SienaError
from siena.model import (
    Constraint,
    Filter,
    Kind,
    Notification,
    Operator,
    Predicate,
    Value,
)
from siena.sim.words import WORDS

T = TypeVar("T")

Distribution = Literal["zipf", "uniform"]
"""How popular names are: the one of rank ``r`` has the weight ``1/r``, or all one."""

Name = tuple[str, Kind]
Condition = tuple[Operator, Value]

# How many draws are made at a time.  One by one they would cost three times as
# much; from a thousand on nothing is gained.
_BLOCK_SIZE = 1024


@dataclass(frozen=True, slots=True)
class TR0605:
    """The workload of "Understanding Content-Based Routing Schemes", Lugano 2006/05.

    >>> workload = TR0605(names=500, distribution="zipf", seed=7)
    >>> for text in workload.texts(3):
    ...     print(text)
    s25 >* president and s35 = month
    integer i128 < 18 and integer i156 > 15 and integer i16 = -6 and s13 != work
    integer i12 = 57 and s61 = contract
    >>> notification = next(workload.notifications(1))
    >>> len(notification), notification["i2"], notification["s1"]
    (10, -84, 'year')

    What the paper leaves open is decided in section C.7 of our specification:
    integer constraints are typed, words are as frequent as ``1/rank``, and the
    names of one filter or notification are distinct.

    Args:
        names: how many attributes there are.  Our benchmarks have 50, 500 and
            5000.  By rank, every other one is a string and the rest are integers:
            ``s1``, ``i2``, ``s3``, … (the paper: half of each).
        distribution: how popular the names are; the paper has both.
        seed: decides everything else.
    """

    names: int = 500
    distribution: Distribution = "zipf"
    seed: int = 1

    def __post_init__(self) -> None:
        if self.names < ATTRIBUTES:
            raise SienaError(f"W-TR0605 needs {ATTRIBUTES} names or more")

    def filters(self, count: int) -> Iterator[Filter]:
        """The first ``count`` filters.

        Cost: about 10 µs each, so ten seconds for a million.
        """
        random = _random(self.seed, "filters")
        names = self._draw_names(random)
        conditions = {
            Kind.STRING: _draw(random, *_pairs(_STRING_OPERATORS, _WORDS)),
            Kind.INTEGER: _draw(random, *_pairs(_INTEGER_OPERATORS, _INTEGERS)),
        }
        for size in islice(_draw(random, *_unzip(FILTER_SIZES)), count):
            yield _filter(_distinct(names, size), conditions)

    def texts(self, count: int) -> Iterator[str]:
        """The same filters, written in the language."""
        return map(str, self.filters(count))

    def notifications(self, count: int) -> Iterator[Notification]:
        """The first ``count`` notifications, of ten attributes each."""
        random = _random(self.seed, "notifications")
        names = self._draw_names(random)
        values: dict[Kind, Iterator[Value]] = {
            Kind.STRING: _draw(random, *_unzip(_WORDS)),
            Kind.INTEGER: _draw(random, *_unzip(_INTEGERS)),
        }
        for _ in range(count):
            yield _notification(_distinct(names, ATTRIBUTES), values)

    def _draw_names(self, random: Random) -> Iterator[Name]:
        ranks = range(1, self.names + 1)
        names = [
            (f"s{rank}", Kind.STRING) if rank % 2 else (f"i{rank}", Kind.INTEGER)
            for rank in ranks
        ]
        if self.distribution == "uniform":
            return _draw(random, names, [1] * self.names)
        return _draw(random, names, [1 / rank for rank in ranks])


@dataclass(frozen=True, slots=True)
class SSBG:
    """The workload of the authors' own generator, distributed with SIGCOMM 2003.

    >>> workload = SSBG(seed=7)
    >>> [len(predicate) for predicate in workload.predicates(interfaces=5)]
    [10, 12, 16, 9, 2]
    >>> print(min(workload.notifications(9), key=len))
    market = minister and senate = 42

    Names and string values are the words, strings and integers are equally
    likely, and a name keeps the kind that was drawn for it.  Integers are 0 to 99
    and all operators are equally likely, which is our decision (C.7): the shipped
    lists of integers and of kinds are not the authors'.  A predicate has fewer
    filters than were drawn for it if two of them are equal.

    Args:
        distribution: how popular the words are, as names and as values; ``zipf``
            is the shipped list of weights, ``floor(200 / rank)``.
        filters: how many filters a predicate has; ``range(0, 20)`` for the variant
            of the CBNSIM simulator, ``range(1, 2)`` for its study of scalability.
        constraints: how many constraints a filter has.
        attributes: how many attributes a notification has.
        seed: decides everything else.
    """

    distribution: Distribution = "zipf"
    # The generator's defaults; its upper ends are exclusive, as Python's are.
    filters: range = range(1, 20)
    constraints: range = range(1, 5)
    attributes: range = range(1, 10)
    seed: int = 1

    def __post_init__(self) -> None:
        if not self.filters or not self.constraints or not self.attributes:
            raise SienaError("W-SSBG needs a range with at least one number in it")
        if max(self.constraints[-1], self.attributes[-1]) > len(WORDS):
            raise SienaError(f"W-SSBG has {len(WORDS)} names, and no more")

    def predicates(self, interfaces: int = 100) -> Iterator[Predicate]:
        """One predicate for each interface; the generator's default is a hundred."""
        random = _random(self.seed, "predicates")
        names = self._draw_names(random)
        words = list(zip(WORDS, self._word_weights(), strict=True))
        conditions = {
            Kind.STRING: _draw(random, *_pairs(_SSBG_STRING_OPERATORS, words)),
            Kind.INTEGER: _draw(
                random, *_pairs(_SSBG_INTEGER_OPERATORS, _SSBG_INTEGERS)
            ),
        }
        for _ in range(interfaces):
            yield Predicate(
                _filter(_distinct(names, random.choice(self.constraints)), conditions)
                for _ in range(random.choice(self.filters))
            )

    def notifications(self, count: int) -> Iterator[Notification]:
        """The first ``count`` notifications."""
        random = _random(self.seed, "notifications")
        names = self._draw_names(random)
        values: dict[Kind, Iterator[Value]] = {
            Kind.STRING: _draw(random, WORDS, self._word_weights()),
            Kind.INTEGER: _draw(random, *_unzip(_SSBG_INTEGERS)),
        }
        for _ in range(count):
            size = random.choice(self.attributes)
            yield _notification(_distinct(names, size), values)

    def _draw_names(self, random: Random) -> Iterator[Name]:
        # Kinds have a source of their own, so that predicates and notifications
        # agree on them whichever is drawn first.
        kinds = _random(self.seed, "kinds").choices((Kind.STRING, Kind.INTEGER), k=200)
        return _draw(random, list(zip(WORDS, kinds, strict=True)), self._word_weights())

    def _word_weights(self) -> Sequence[float]:
        if self.distribution == "uniform":
            return [1] * len(WORDS)
        return [len(WORDS) // rank for rank in range(1, len(WORDS) + 1)]


# --- The numbers of W-TR0605 ----------------------------------------------------

# Attributes of a notification, as the headline measurement of SIGCOMM 2003 has it.
ATTRIBUTES = 10
# Constraints in a filter, and how many filters of a hundred have so many.
FILTER_SIZES = [(1, 10), (2, 40), (3, 30), (4, 10), (5, 5), (6, 5)]
_STRING_OPERATORS = [
    (Operator.EQ, 40),
    (Operator.PREFIX, 10),
    (Operator.SUFFIX, 10),
    (Operator.SUBSTRING, 10),
    (Operator.NE, 10),
    (Operator.LT, 10),
    (Operator.GT, 10),
]
_INTEGER_OPERATORS = [
    (Operator.EQ, 40),
    (Operator.LT, 25),
    (Operator.GT, 25),
    (Operator.NE, 10),
]
_WORDS = [(word, 1 / rank) for rank, word in enumerate(WORDS, start=1)]
_INTEGERS = [(integer, 1) for integer in range(-100, 101)]

# --- The numbers of W-SSBG ------------------------------------------------------

_SSBG_STRING_OPERATORS = [(operator, 1) for operator, _ in _STRING_OPERATORS]
_SSBG_INTEGER_OPERATORS = [(operator, 1) for operator, _ in _INTEGER_OPERATORS]
_SSBG_INTEGERS = [(integer, 1) for integer in range(100)]

# --- Drawing --------------------------------------------------------------------


def _random(seed: int, use: str) -> Random:
    """A source for one use.

    A string is hashed with SHA-512 to seed it, so neighbouring seeds have nothing
    in common, and neither have the filters and the notifications of one seed.
    """
    return Random(f"{seed}/{use}")


def _draw(random: Random, items: Sequence[T], weights: Sequence[float]) -> Iterator[T]:
    """Draw for ever, in blocks."""
    cumulative = list(accumulate(weights))
    while True:
        yield from random.choices(items, cum_weights=cumulative, k=_BLOCK_SIZE)


def _distinct(draws: Iterator[Name], count: int) -> list[Name]:
    """The next ``count`` different names; what is drawn again is drawn anew."""
    found: dict[Name, None] = {}  # a set that keeps the order
    while len(found) < count:
        found[next(draws)] = None
    return list(found)


def _filter(
    names: Sequence[Name], conditions: Mapping[Kind, Iterator[Condition]]
) -> Filter:
    constraints: list[Constraint] = []
    for name, kind in names:
        operator, operand = next(conditions[kind])
        constraints.append(Constraint.trusted(name, operator, operand, kind))
    return Filter(constraints)


def _notification(
    names: Sequence[Name], values: Mapping[Kind, Iterator[Value]]
) -> Notification:
    return Notification((name, next(values[kind])) for name, kind in names)


def _pairs(
    operators: Sequence[tuple[Operator, float]], operands: Sequence[tuple[Value, float]]
) -> tuple[list[Condition], list[float]]:
    """Operator and operand are independent: drawn together, they are one draw."""
    return _unzip(
        [
            ((operator, operand), often * frequent)
            for (operator, often), (operand, frequent) in product(operators, operands)
        ]
    )


def _unzip(weighted: Sequence[tuple[T, float]]) -> tuple[list[T], list[float]]:
    return [item for item, _ in weighted], [weight for _, weight in weighted]
