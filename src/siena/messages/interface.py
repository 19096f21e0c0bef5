"""Who a message comes from and goes to, and how a publication is told from others."""

from enum import Enum
from typing import NamedTuple, Self

# A broker's name for one neighbour.  A broker is a number and a client is a name, so
# that no table ever mistakes one for the other.
Interface = int | str


class Party(str):
    """One numbered request of a client, which is an interested party of its own.

    What one of them cancels is not cancelled for another.  A client that does not
    number its requests is one party.

    >>> party = Party("3", 7)
    >>> party, party.client, party.number
    ('3/7', '3', 7)
    >>> client_of(party), client_of("a")
    ('3', 'a')
    """

    __slots__ = ("client", "number")

    client: str
    number: int

    def __new__(cls, client: str, number: int) -> Self:
        """The party of a client's request with this number."""
        self = super().__new__(cls, f"{client}/{number}")
        self.client = client
        self.number = number
        return self


class Elsewhere(str):
    """The broker where this client was before, as long as it moves here."""

    __slots__ = ()


def client_of(party: str) -> str:
    """The client of a party."""
    return party.client if isinstance(party, Party) else party


class Side(Enum):
    """What a broker takes a neighbouring broker for.

    ``MASTER`` and ``CHILD`` are the two ends of one link of a hierarchy, ``PEER`` both
    ends of a link whose removal would cut the network in two, ``MESH`` both ends of a
    link in a network that may have cycles.

    >>> Side.MASTER.opposite, Side.MESH.opposite
    (<Side.CHILD: 'child'>, <Side.MESH: 'mesh'>)
    """

    MASTER = "master"
    CHILD = "child"
    PEER = "peer"
    MESH = "mesh"

    @property
    def opposite(self) -> "Side":
        """What the neighbour takes us for."""
        return {Side.MASTER: Side.CHILD, Side.CHILD: Side.MASTER}.get(self, self)


# More hops than any way through a network has that we know of; what goes in circles
# ends here.
TTL_MAX = 1_024


class Window(NamedTuple):
    """Which publications of one life of a broker are known: the last, and those before.

    Bit *i* of ``bits`` stands for the number ``mark - i``.
    """

    broker: int
    epoch: int
    mark: int
    bits: int


class Stamp(NamedTuple):
    """What makes a publication unlike all others, even one of equal content.

    ``epoch`` is the life of the broker: after a restart it counts from 0 again, and
    no broker may take its new publications for old ones.
    """

    broker: int
    epoch: int
    number: int
