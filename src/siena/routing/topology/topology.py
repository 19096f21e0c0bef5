"""Topologies: which brokers are linked, and what each link costs.

A topology is a value.  Who computes with it lives elsewhere: the trees on which
messages travel in :mod:`siena.routing.topology.trees`, the generators of networks in
:mod:`siena.sim.topologies`.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import NamedTuple

from siena.errors import InvalidTopologyError

Broker = int
"""A broker is known by its number."""

Weight = int | Fraction
"""What it costs to cross a link.

Never a float: the length of a path must not depend on the end from which it is
added up, or there and back would be different ways.
"""

# Larger numbers are mistakes; and a table by number stays possible.
BROKER_MAX = 1_000_000_000
# One word, so that it can be written in a file.
ROLE = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")


class Link(NamedTuple):
    """Two brokers that are linked, the smaller number first, and the weight."""

    one: Broker
    other: Broker
    weight: Weight = 1


@dataclass(frozen=True, slots=True, init=False)
class Topology:
    """Brokers and weighted links between them; links lead both ways.

    >>> square = Topology([(1, 2, 5), (2, 3), (3, 4), (4, 1)])
    >>> square.brokers, dict(square.neighbours(2))
    ((1, 2, 3, 4), {1: 5, 3: 1})
    >>> square.is_connected, square.is_tree
    (True, False)

    A link without a weight has weight 1.  Weights are positive; a float is taken for
    exactly the number that it is.  A broker may have a *role*, a word that means
    something to the caller that asked for the network.

    >>> Topology([(1, 2, -5)])
    Traceback (most recent call last):
    siena.errors.InvalidTopologyError: the weight of link 1-2 is -5, and must be
    positive

    Raises:
        InvalidTopologyError: for a broker linked to itself, two links between the same
            brokers, a weight that is not positive, a role of no broker.
    """

    brokers: tuple[Broker, ...]
    links: tuple[Link, ...]
    roles: Mapping[Broker, str] = field(hash=False)
    _neighbours: Mapping[Broker, Mapping[Broker, Weight]] = field(
        repr=False, compare=False
    )

    def __init__(
        self,
        links: Iterable[
            tuple[Broker, Broker] | tuple[Broker, Broker, float | Fraction]
        ],
        *,
        brokers: Iterable[Broker] = (),
        roles: Mapping[Broker, str] | None = None,
    ) -> None:
        draft = TopologyDraft()
        for broker in brokers:
            draft.add_broker(broker)
        for one, other, *weight in links:
            for broker in (one, other):
                if broker not in draft.neighbours:
                    draft.add_broker(broker)
            draft.add_link(one, other, *weight)
        for broker, role in (roles or {}).items():
            draft.add_role(broker, role)
        draft.fill(self)

    def neighbours(self, broker: Broker) -> Mapping[Broker, Weight]:
        """The brokers linked to this one, ascending, each with the link's weight."""
        return self._neighbours[broker]

    def weight(self, one: Broker, other: Broker) -> Weight:
        """The weight of the link between two neighbours."""
        return self._neighbours[one][other]

    def with_role(self, role: str) -> tuple[Broker, ...]:
        """The brokers that have this role."""
        return tuple(b for b in self.brokers if self.roles.get(b) == role)

    @property
    def is_connected(self) -> bool:
        """Whether every broker can be reached from every other."""
        return len(self.component(self.brokers[0])) == len(self) if self else True

    @property
    def is_tree(self) -> bool:
        """Whether there is exactly one way between any two brokers."""
        return self.is_connected and len(self.links) == max(0, len(self) - 1)

    def component(self, broker: Broker) -> frozenset[Broker]:
        """All brokers that can be reached from this one."""
        found = {broker}
        waiting = [broker]
        while waiting:
            new = self._neighbours[waiting.pop()].keys() - found
            found |= new
            waiting += new
        return frozenset(found)

    def __len__(self) -> int:
        return len(self.brokers)

    def __contains__(self, broker: Broker) -> bool:
        return broker in self._neighbours

    def __reduce__(self) -> tuple[object, ...]:
        # A read-only view of a mapping does not travel between processes.
        return _rebuild, (self.links, self.brokers, dict(self.roles))


class TopologyDraft:
    """A topology while it is being put together, refusing what does not fit.

    A reader of files uses it directly: it knows which line it is at.
    """

    def __init__(self) -> None:
        self.neighbours: dict[Broker, dict[Broker, Weight]] = {}
        self.roles: dict[Broker, str] = {}

    def add_broker(self, broker: Broker) -> None:
        """Add a broker; one that is there already is left as it is."""
        if not 0 <= broker <= BROKER_MAX:
            raise InvalidTopologyError(
                f"{broker} is no number for a broker", hint=f"0 to {BROKER_MAX}"
            )
        self.neighbours.setdefault(broker, {})

    def add_link(
        self, one: Broker, other: Broker, weight: float | Fraction = 1
    ) -> None:
        """Link two brokers that are there."""
        for broker in (one, other):
            if broker not in self.neighbours:
                raise InvalidTopologyError(f"there is no broker {broker}")
        if one == other:
            raise InvalidTopologyError(f"broker {one} cannot be linked to itself")
        name = f"link {one}-{other}"
        if other in self.neighbours[one]:
            raise InvalidTopologyError(f"{name} is there already")
        exact = _exact(weight, name)
        self.neighbours[one][other] = self.neighbours[other][one] = exact

    def add_role(self, broker: Broker, role: str) -> None:
        """Say what a broker is."""
        if broker not in self.neighbours:
            raise InvalidTopologyError(f"there is no broker {broker}")
        if not ROLE.fullmatch(role):
            raise InvalidTopologyError(f"{role!r} is no role", hint="a word is wanted")
        self.roles[broker] = role

    def finish(self) -> Topology:
        """The topology."""
        topology = Topology.__new__(Topology)
        self.fill(topology)
        return topology

    def fill(self, topology: Topology) -> None:
        """Write the parts of a new topology, all of them sorted."""
        neighbours = {
            broker: MappingProxyType(dict(sorted(self.neighbours[broker].items())))
            for broker in sorted(self.neighbours)
        }
        links = tuple(
            Link(one, other, weight)
            for one, others in neighbours.items()
            for other, weight in others.items()
            if one < other
        )
        roles = MappingProxyType(dict(sorted(self.roles.items())))
        object.__setattr__(topology, "brokers", tuple(neighbours))
        object.__setattr__(topology, "links", links)
        object.__setattr__(topology, "roles", roles)
        object.__setattr__(topology, "_neighbours", MappingProxyType(neighbours))


def _rebuild(
    links: tuple[Link, ...], brokers: tuple[Broker, ...], roles: dict[Broker, str]
) -> Topology:
    return Topology(links, brokers=brokers, roles=roles)


def _exact(weight: float | Fraction, name: str) -> Weight:
    try:
        fraction = Fraction(weight)
    except (OverflowError, ValueError):  # infinite, or not a number
        fraction = Fraction(0)
    if fraction <= 0:
        raise InvalidTopologyError(
            f"the weight of {name} is {weight}, and must be positive"
        )
    return fraction.numerator if fraction.denominator == 1 else fraction
