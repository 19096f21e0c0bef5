"""Networks of addresses: whether a text is an address inside ``10.0.0.0/8``."""

from collections.abc import Callable
from functools import lru_cache
from ipaddress import (
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

from siena.errors import FilterError

# The longest address there is, with a zone, and some room.
_ADDRESS_CHARACTERS_MAX = 64
# Texts that are remembered as addresses: a rule asks for many networks of each.
ADDRESSES_MAX = 8_192


def read_network(text: str) -> IPv4Network | IPv6Network:
    """The network of a text; bits behind the mask are let pass, as most tools do."""
    try:
        return ip_network(text[:_ADDRESS_CHARACTERS_MAX], strict=False)
    except ValueError:
        raise FilterError(
            f'"{text[:_ADDRESS_CHARACTERS_MAX]}" is not a network',
            hint="write it as 10.0.0.0/8",
        ) from None


def compile_network(text: str) -> Callable[[str], bool]:
    """The test whether a string is an address of the network.

    >>> inside = compile_network("10.0.0.0/8")
    >>> inside("10.20.30.40"), inside("11.0.0.1"), inside("ten")
    (True, False, False)
    """
    network = read_network(text)

    def contains(address: str) -> bool:
        if len(address) > _ADDRESS_CHARACTERS_MAX:
            return False
        found = _read_address(address)
        # An address of the other version is in no network of this one.
        return (
            found is not None
            and found.version == network.version
            and (found in network)
        )

    return contains


@lru_cache(ADDRESSES_MAX)
def _read_address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        return ip_address(text)
    except ValueError:
        return None
