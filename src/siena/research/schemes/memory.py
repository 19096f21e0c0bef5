"""What a scheme stores: identifiers, bits and predicates.

Measured, with :class:`Memory`, and predicted, with the formulas of the paper.  The
formulas have *s* senders, *r* receivers and *n* brokers, predicates of ``predicate``
bits and an ``alpha`` for the disjunction advantage: the size of a disjunction, divided
by the sizes of its parts (1 where nothing is gained).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

from siena.algebra.poset.poset import Poset
from siena.model import Filter
from siena.research.schemes.network import Disjunction


def text_bits(f: Filter) -> int:
    """The size of a filter as text, in bits."""
    return 8 * len(str(f).encode())


@dataclass(frozen=True, slots=True)
class Memory:
    """What all brokers store together.

    >>> from siena.lang.parser import parse_filter as parse
    >>> filters = parse("x > 2"), parse("x > 3")
    >>> memory = Memory(brokers=12, tables=(Disjunction(frozenset([4, 7]), filters),))
    >>> memory.copies, memory.predicate_bits(), memory.predicate_bits(reduced=True)
    (2, 80, 40)

    ``identifiers`` counts numbers of brokers, each of which takes the logarithm of how
    many there are; ``flags`` counts single bits; ``tables`` are the disjunctions.
    """

    brokers: int
    identifiers: int = 0
    flags: int = 0
    tables: tuple[Disjunction, ...] = ()

    @property
    def copies(self) -> int:
        """How many predicates of brokers are stored, each as often as it is."""
        return sum(len(table.members) for table in self.tables)

    @property
    def identifier_bits(self) -> int:
        """The bits that identifiers and flags take."""
        return self.identifiers * log2_ceiling(self.brokers) + self.flags

    def predicate_bits(
        self, size: Callable[[Filter], int] = text_bits, *, reduced: bool = False
    ) -> int:
        """The bits that predicates take; ``reduced``, without the covered filters."""
        return sum(
            sum(map(size, reduced_filters(t.filters) if reduced else t.filters))
            for t in self.tables
        )

    def bits(
        self, size: Callable[[Filter], int] = text_bits, *, reduced: bool = False
    ) -> int:
        """All bits: ``M(S)`` of the paper."""
        return self.identifier_bits + self.predicate_bits(size, reduced=reduced)


@lru_cache(maxsize=4096)  # the brokers along a path store the same disjunctions
def reduced_filters(filters: tuple[Filter, ...]) -> tuple[Filter, ...]:
    """The filters that no other one covers: the disjunction advantage."""
    poset = Poset.of_filters()
    for f in filters:
        poset.add(f)
    return tuple(sorted(poset.roots, key=lambda f: f.constraints))


def log2_ceiling(brokers: int) -> int:
    """How many bits tell so many brokers apart.

    >>> [log2_ceiling(n) for n in (1, 2, 3, 4, 5, 12)]
    [0, 1, 2, 2, 3, 4]
    """
    return max(0, brokers - 1).bit_length()


# --- The formulas ---------------------------------------------------------------


def psf_bits(*, brokers: int, senders: int, hops: int, predicate: int) -> int:
    """``s log n + M_p Σ dist``: exact where nothing is gained by disjunction.

    ``hops`` is the sum of the distances from every sender to every receiver.
    """
    return senders * log2_ceiling(brokers) + predicate * hops


def pif_bits(  # the formula has that many letters
    *,
    brokers: int,
    senders: int,
    receivers: int,
    degree_max: int,
    predicate: int,
    alpha: float,
) -> tuple[float, float]:
    """``M(PIF)``: as the terms for one broker add up, and as the paper prints it.

    The printed formula multiplies the predicates by the number of brokers twice; both
    are orders of growth, not counts (erratum E11 of our specification).
    """
    children = senders * degree_max * log2_ceiling(brokers)
    tables = receivers * predicate * alpha
    return brokers * (children + tables), brokers * (children + brokers * tables)


def drp_bits(*, brokers: int, senders: int, receivers: int, predicate: int) -> int:
    """``n r log n + s r M_p``: routes everywhere, and all predicates at senders."""
    routes = brokers * receivers * log2_ceiling(brokers)
    return routes + senders * receivers * predicate
