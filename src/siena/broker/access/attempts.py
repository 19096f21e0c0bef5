"""Failed attempts: each makes the next one from there slower, for a while."""

import ipaddress
from collections import OrderedDict

# Addresses that are remembered: those that failed last.
ADDRESSES_MAX = 4_096
# The first failure is answered after so long; each that follows after twice as long.
DELAY_SECONDS = 0.05
DELAY_SECONDS_MAX = 5.0
# After so long without one, half of them are forgiven.
FORGIVEN_SECONDS = 30.0


class Attempts:
    """How often who has failed of late.

    >>> attempts = Attempts()
    >>> [attempts.failed("10.0.0.1:700", now) for now in (0.0, 0.0, 0.0)]
    [0.05, 0.1, 0.2]
    >>> attempts.delay("10.0.0.1:9", 0.0), attempts.delay("10.0.0.2:9", 0.0)
    (0.4, 0.0)
    >>> attempts.delay("10.0.0.1:9", 600.0)
    0.0
    """

    def __init__(self) -> None:
        # How many, and when the last.
        self._failures: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._failures)

    def failed(self, address: str, now: float) -> float:
        """One more; how long to wait before it is said."""
        key = _place(address)
        count = self._count(key, now)
        self._failures.pop(key, None)
        self._failures[key] = count + 1, now
        if len(self._failures) > ADDRESSES_MAX:
            self._failures.popitem(last=False)
        return _delay(count)

    def delay(self, address: str, now: float) -> float:
        """How long a client from there waits before it is looked at."""
        count = self._count(_place(address), now)
        return _delay(count) if count >= 1 else 0.0

    def _count(self, key: str, now: float) -> float:
        count, last = self._failures.get(key, (0.0, now))
        halvings = max(0.0, now - last) // FORGIVEN_SECONDS
        return count * float(0.5**halvings)


def _delay(count: float) -> float:
    # Of a large exponent there would be no float.
    return min(DELAY_SECONDS * float(2.0 ** min(count, 32.0)), DELAY_SECONDS_MAX)


def _place(address: str) -> str:
    """Who is taken for one: an address, or with IPv6 a network, which one has alone.

    >>> _place("[2001:db8::7]:80"), _place("127.0.0.1:7"), _place("")
    ('2001:db8::', '127.0.0.1', '')
    """
    host = address.rpartition(":")[0].strip("[]")
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return host
    if found.version == 4:
        return host
    return str(ipaddress.ip_network((found, 64), strict=False).network_address)
