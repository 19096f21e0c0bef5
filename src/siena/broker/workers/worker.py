"""Who a worker is among several that serve one port.

One of them is the hub: the others call it, and so does every broker that wants a link,
wherever its connection has come in first.  So the workers are a star, in which there is
no cycle, and behind the hub the whole network is.
"""

from pathlib import Path
from typing import NamedTuple

from siena.protocol.address import Address, read_address

_HUB = "hub="


class Worker(NamedTuple):
    """One of several workers."""

    number: int
    """Its own; that of the hub is 0."""
    hub: Address
    """Where the hub is called, by workers and by other brokers."""
    secret: str
    """By which the hub knows its workers."""
    sockets: Path
    """Where the hub takes connections over."""

    @property
    def is_hub(self) -> bool:
        """Whether it is the hub itself."""
        return self.number == 0


def hub_feature(hub: Address) -> tuple[str, ...]:
    """What INFO says of the hub.

    >>> hub_feature(Address("127.0.0.1", 7))
    ('hub=127.0.0.1:7',)
    >>> print(hub_of(("hub=0.0.0.0:7",), "10.0.0.1"))
    siena://10.0.0.1:7
    """
    return (f"{_HUB}{hub.place}",)


def hub_of(features: tuple[str, ...], host: str) -> Address | None:
    """Where to call instead; the hub of one that listens everywhere is at its host."""
    for feature in features:
        if feature.startswith(_HUB):
            address = read_address(feature.removeprefix(_HUB))
            is_everywhere = address.host in {"0.0.0.0", "::"}  # noqa: S104 -- compared
            return Address(host, address.port) if is_everywhere else address
    return None
