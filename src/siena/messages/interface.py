"""Who a message comes from and goes to, and how a publication is told from others."""

from enum import Enum
from typing import NamedTuple

# A broker's name for one neighbour.  A broker is a number and a client is a name, so
# that no table ever mistakes one for the other.
Interface = int | str


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


class Stamp(NamedTuple):
    """What makes a publication unlike all others, even one of equal content.

    ``epoch`` is the life of the broker: after a restart it counts from 0 again, and
    nobody must take its new publications for old ones.
    """

    broker: int
    epoch: int
    number: int
