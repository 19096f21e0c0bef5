"""What a routing scheme is: three functions for every broker, and what they weigh."""

from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from siena.model import Value
from siena.research.schemes.memory import Memory
from siena.routing.topology.topology import Broker

H = TypeVar("H")
"""What a scheme writes into the header of a message."""


class Scheme(Protocol[H]):
    """``Init``, ``Hdr`` and ``Fwd`` of the paper.

    The broker where a notification was published writes ``init`` into the header and
    sends it to its ``forward``.  Every other broker sends what it received to its own
    ``forward``, with the header that ``header`` makes of the one received.
    """

    def init(self, source: Broker, notification: Mapping[str, Value], /) -> H:
        """The header of a notification published at ``source``."""

    def header(self, broker: Broker, header: H, /) -> H:
        """The header that a broker sends on when it has received this one."""

    def forward(
        self, broker: Broker, header: H, notification: Mapping[str, Value], /
    ) -> Iterable[Broker]:
        """The neighbours to which a broker sends a message that it has."""

    def memory(self) -> Memory:
        """What all brokers store together."""
