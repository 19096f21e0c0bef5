"""Quotas: how much one principal, and one connection, may take of a broker.

Each has a name, which the settings set and the refusal says; what is refused is counted
by that name.  A principal without an identity is its connection.
"""

import os
from collections import Counter
from dataclasses import dataclass, field
from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Annotated

from msgspec import Meta, Struct

from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.limits import SUBSCRIPTIONS_MAX

Amount = Annotated[int, Meta(ge=0)]
Seconds = Annotated[float, Meta(ge=0)]

# Of so many requests, one asks how much memory there is.
ASKED_EVERY = 64
# Accounts of identities that are remembered.
ACCOUNTS_MAX = 16_384


class Quotas(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The table ``[quotas]``; where 0 is said, there is no such quota."""

    # Connections of one identity at a time.
    connections: Amount = 1_000
    # Subscriptions of one connection, and the filters that they are multiplied out to.
    subscriptions: Annotated[int, Meta(ge=1, le=SUBSCRIPTIONS_MAX)] = SUBSCRIPTIONS_MAX
    filters: Amount = 262_144
    # The text of one interest.
    interest_characters: Amount = 65_536
    # Patterns of one connection, and their steps together.
    patterns: Amount = 1_024
    pattern_steps: Amount = 4_096
    # What one principal publishes in a second: above that it is read more slowly.
    publications_second: Amount = 0
    publication_bytes_second: Amount = 0
    # Seconds of the processor that requests of one principal, or neighbour, may take at
    # once while others are served, and how much of each second it gets back.
    work_seconds: Seconds = 0.1
    work_share: Annotated[float, Meta(gt=0, le=1)] = 0.05
    # What a neighbour has announced: filters and advertisements.
    announcements: Amount = 1_000_000
    # What is kept for all who are away, together; each has a bound of its own.
    kept_bytes: Amount = 536_870_912
    # Names under which one principal, or connection, commits to the log; and how long
    # the log waits for a reader of whom nothing is heard, while publishers wait.
    commits: Amount = 64
    commit_seconds: Seconds = 300.0
    # How long a reader with policy `block` may keep publishers waiting.
    block_seconds: Seconds = 30.0
    # The memory of the process above which nothing more is taken on; unless it is said,
    # three quarters of what the machine, or its container, has.
    memory_bytes: Amount | None = None


class Bucket:
    """So much at once, and so much of it again in each second.

    >>> bucket = Bucket(rate=10, burst=20)
    >>> bucket.spend(20, now=0.0), bucket.spend(5, now=0.0), bucket.spend(0, now=1.0)
    (0.0, 0.5, 0.0)
    """

    __slots__ = ("_at", "burst", "left", "rate")

    def __init__(self, rate: float, burst: float) -> None:
        self.rate = rate
        self.burst = burst
        self.left = burst
        """What there was when something was last taken; below 0 is a debt."""
        self._at = 0.0

    def spend(self, amount: float, now: float) -> float:
        """Take it; how many seconds it takes until that is made up for."""
        passed = max(0.0, now - self._at)
        self.left = min(self.burst, self.left + self.rate * passed) - amount
        self._at = now
        return max(0.0, -self.left / self.rate)

    def draw(self, amount: float, now: float) -> None:
        """Take it; but a debt of what was taken before is no greater than the burst."""
        self.spend(0, now)
        self.left = max(self.left, -self.burst) - amount

    def is_overdrawn(self, now: float) -> bool:
        """Whether more was taken than there was, and is not made up for yet."""
        left = self.left
        return left < 0 and left + self.rate * max(0.0, now - self._at) < 0


@dataclass(slots=True, eq=False)
class Account:
    """What one principal has taken."""

    connections: int = 0
    commits: set[str] = field(default_factory=set)
    publications: Bucket | None = None
    publication_bytes: Bucket | None = None
    work: Bucket | None = None

    @property
    def is_limited(self) -> bool:
        """Whether what it publishes is counted."""
        return self.publications is not None or self.publication_bytes is not None

    def publish(self, count: int, size: int, now: float) -> float:
        """Publications of so many bytes; how long the next ones have to wait."""
        waits = [0.0]
        if self.publications is not None:
            waits.append(self.publications.spend(count, now))
        if self.publication_bytes is not None:
            waits.append(self.publication_bytes.spend(size, now))
        return max(waits)


class Accounts:
    """The accounts of all who are there, and what was refused to them by name."""

    def __init__(self, quotas: Quotas = Quotas()) -> None:  # noqa: B008 -- frozen
        self.quotas = quotas
        self.refusals: Counter[str] = Counter()
        self._of_identities: dict[str, Account] = {}
        self._work_of_hosts: dict[str, Bucket] = {}
        self._memory = 0
        self._asked = 0
        self._memory_max = memory_of_machine() * 3 // 4

    def of_stranger(self, host: str) -> Account:
        """A new account, but for the work: all strangers of one host share that.

        Of IPv6, a host is the network that one is given.
        """
        account, key = self._open(), network_of(host)
        work = self._work_of_hosts.pop(key, account.work)
        if work is not None:
            while len(self._work_of_hosts) >= ACCOUNTS_MAX:  # the one seen longest ago
                del self._work_of_hosts[next(iter(self._work_of_hosts))]
            account.work = self._work_of_hosts[key] = work
        return account

    def of(self, identity: str | None) -> Account:
        """The account of an identity; of none, a new one for each connection."""
        if identity is None:
            return self._open()
        found = self._of_identities.get(identity)
        if found is None:
            if len(self._of_identities) >= ACCOUNTS_MAX:
                self._forget_idle()
            found = self._of_identities[identity] = self._open()
        return found

    def check(self, name: str, count: float, *, about: int | None = None) -> None:
        """Refuse what is more than a quota.

        >>> Accounts(Quotas(commits=2)).check("commits", 3)
        Traceback (most recent call last):
        siena.protocol.error_codes.ProtocolError: more than 2 commits
        (quota commits) (error 111)

        Raises:
            ProtocolError: with the name and the value of the quota.
        """
        most = getattr(self.quotas, name)
        if most and count > most:
            raise self.refuse(name, about=about)

    def check_memory(self, fault: Fault = Fault.QUOTA) -> None:
        """Take nothing more on where there is no memory for it.

        Raises:
            ProtocolError: if the process has as much as it may have.
        """
        most = self.most("memory_bytes")
        if not most:
            return
        # To ask the system each time would take longer than most requests.
        self._asked += 1
        if self._asked % ASKED_EVERY == 1:
            self._memory = memory_now()
        if self._memory > most:
            self._memory = memory_now()
            if self._memory > most:
                raise self.refuse("memory_bytes", fault=fault)

    def refuse(
        self, name: str, *, about: int | None = None, fault: Fault = Fault.QUOTA
    ) -> ProtocolError:
        """Count a refusal; the answer."""
        self.refusals[name] += 1
        most = self.most(name)
        text = f"more than {most:g} {name.replace('_', ' ')} (quota {name})"
        return ProtocolError(fault, text, about=about)

    def most(self, name: str) -> float:
        """How much a quota allows; 0, where there is no such quota."""
        most: float | None = getattr(self.quotas, name)
        return self._memory_max if most is None else most

    def _open(self) -> Account:
        quotas = self.quotas
        return Account(
            publications=_bucket(quotas.publications_second),
            publication_bytes=_bucket(quotas.publication_bytes_second),
            work=Bucket(quotas.work_share, quotas.work_seconds)
            if quotas.work_seconds
            else None,
        )

    def _forget_idle(self) -> None:
        for identity, account in list(self._of_identities.items()):
            if not account.connections and not account.commits:
                del self._of_identities[identity]


def network_of(host: str) -> str:
    """What strangers share: an address, or of IPv6 the 64 bits that lead to it.

    >>> network_of("192.0.2.7"), network_of("2001:db8::7:1"), network_of("")
    ('192.0.2.7', '2001:db8::/64', '')
    """
    try:
        address = ip_address(host.partition("%")[0])
    except ValueError:
        return host
    if address.version == 6 and address.ipv4_mapped is None:
        return str(ip_network((address, 64), strict=False))
    return host


def memory_now() -> int:
    """The memory of this process now, in bytes; 0 where the system does not say it."""
    try:
        pages = Path("/proc/self/statm").read_bytes().split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def memory_of_machine() -> int:
    """The memory that there is for this process, in bytes; 0 where it is not said."""
    try:
        found = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf
        return 0
    try:
        bound = Path("/sys/fs/cgroup/memory.max").read_bytes().strip()
    except OSError:
        return found
    return min(found, int(bound)) if bound.isdigit() else found


def _bucket(rate: int) -> Bucket | None:
    return Bucket(rate, rate) if rate else None
