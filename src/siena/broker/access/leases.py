"""Leases: who is here by a credential, and must go when that ends."""

import asyncio
from typing import Protocol

from siena.broker.access.audit import Audit
from siena.broker.access.authenticator import Authenticator
from siena.broker.access.principal import Principal
from siena.clock import Clock
from siena.protocol.error_codes import Fault, ProtocolError

# A timer of the loop is set no further ahead: clocks are set, and machines sleep.
TIMER_SECONDS_MAX = 3_600.0


class LeaseHolder(Protocol):
    """A connection, or a client without one."""

    principal: Principal

    def fail(self, error: ProtocolError) -> None:
        """Tell what is wrong, and end if that cannot be lived with."""
        ...


class LeasedSession(Protocol):
    """What outlives a connection: its session."""

    principal: Principal


class Leases:
    """All who are here by a credential."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.audit = Audit()
        """Where it is written down whose credential has ended."""
        self._held: dict[LeaseHolder, LeasedSession | None] = {}
        self._timers: dict[LeaseHolder, asyncio.TimerHandle] = {}

    def __len__(self) -> int:
        return len(self._held)

    def begin(self, holder: LeaseHolder, session: LeasedSession | None = None) -> None:
        """A principal has come; a neighbour has no session."""
        if holder.principal.is_local:
            return
        self._held[holder] = session
        self._set(holder)

    def end(self, holder: LeaseHolder) -> None:
        """A principal has gone."""
        self._held.pop(holder, None)
        timer = self._timers.pop(holder, None)
        if timer is not None:
            timer.cancel()

    def renew(self, access: Authenticator) -> None:
        """Credentials have changed: some have other roles now, and some must go."""
        for holder, session in list(self._held.items()):
            new = access.renewed(holder.principal)
            if new is None:
                self._end(holder, Fault.CREDENTIAL_REVOKED, "the credential is revoked")
                continue
            holder.principal = new
            if session is not None:
                session.principal = new

    def _set(self, holder: LeaseHolder) -> None:
        end = holder.principal.expires_at
        if end is None:
            return
        seconds = min(max(0.0, end - self._clock.now()), TIMER_SECONDS_MAX)
        loop = asyncio.get_running_loop()
        self._timers[holder] = loop.call_later(seconds, self._look, holder)

    def _look(self, holder: LeaseHolder) -> None:
        if holder.principal.has_expired(self._clock.now()):
            self._end(holder, Fault.CREDENTIAL_EXPIRED, "the credential has expired")
        else:
            self._set(holder)

    def _end(self, holder: LeaseHolder, fault: Fault, text: str) -> None:
        self.end(holder)
        identity = holder.principal.identity
        self.audit.write("credential ended", identity, error=fault.number)
        holder.fail(ProtocolError(fault, text))
