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


class Holder(Protocol):
    """A connection, or a client without one."""

    principal: Principal

    def fail(self, error: ProtocolError) -> None:
        """Tell what is wrong, and end if that cannot be lived with."""
        ...


class Remembered(Protocol):
    """What outlives a connection: its session."""

    principal: Principal


class Leases:
    """All who are here by a credential."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.audit = Audit()
        """Where it is written down whose credential has ended."""
        self._held: dict[Holder, Remembered | None] = {}
        self._timers: dict[Holder, asyncio.TimerHandle] = {}

    def __len__(self) -> int:
        return len(self._held)

    def begin(self, holder: Holder, session: Remembered | None = None) -> None:
        """Somebody has come; a neighbour has no session."""
        if holder.principal.is_local:
            return
        self._held[holder] = session
        self._set(holder)

    def end(self, holder: Holder) -> None:
        """Somebody has gone."""
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

    def _set(self, holder: Holder) -> None:
        end = holder.principal.expires_at
        if end is None:
            return
        seconds = min(max(0.0, end - self._clock.now()), TIMER_SECONDS_MAX)
        loop = asyncio.get_running_loop()
        self._timers[holder] = loop.call_later(seconds, self._look, holder)

    def _look(self, holder: Holder) -> None:
        if holder.principal.has_expired(self._clock.now()):
            self._end(holder, Fault.CREDENTIAL_EXPIRED, "the credential has expired")
        else:
            self._set(holder)

    def _end(self, holder: Holder, fault: Fault, text: str) -> None:
        self.end(holder)
        identity = holder.principal.identity
        self.audit.write("credential ended", identity, error=fault.number)
        holder.fail(ProtocolError(fault, text))
