"""Keeps a client connected: the first connection, the next, and the end.

*Ownership*: the client starts :meth:`Reconnector.run` as its one task and ends it by
cancelling it.  However it ends, the transport is closed and the session knows why.
"""

import asyncio
import contextlib
import itertools
import logging
import ssl
from collections.abc import Callable, Sequence
from errno import ECONNREFUSED

from siena.client.core.backoff import Backoff
from siena.client.core.session import Session
from siena.client.core.transport import Transport
from siena.client.missed_interval import MissedInterval
from siena.client.settings import Settings
from siena.client.tokens import refusal_hint
from siena.errors import (
    ConnectionLostError,
    NoBrokerError,
    RequestRefusedError,
    ServiceError,
    SienaError,
)
from siena.protocol.address import Address
from siena.protocol.client import Event
from siena.protocol.control_frames import Connect, Error, Gap, Welcome
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.handshake import GRANTS, TOKEN, Info

log = logging.getLogger("siena.client")
# A client whose token every broker refuses so often in a row asks no more: nobody gives
# back what was revoked, and who waits for notifications should learn that none come.
REFUSALS_MAX = 3
NOT_LET_IN = frozenset({Fault.NOT_ADMITTED.number, Fault.CREDENTIAL_EXPIRED.number})
TRUST_HINT = "whom to believe: tls=, SIENA_CA, or siena context add --ca"


class Reconnector:
    """Finds a broker at one of the addresses whenever there is no connection."""

    def __init__(
        self, addresses: Sequence[Address], settings: Settings, session: Session
    ) -> None:
        self._addresses = itertools.cycle(addresses)
        self._address_count = len(addresses)
        self._settings = settings
        self._session = session
        session.on_gap = self._gap
        self._transport: Transport | None = None
        # Of the connection that is being made.
        self._welcome: asyncio.Future[Welcome] | None = None
        self.address = addresses[0]
        self.info: Info | None = None
        self.welcome: Welcome | None = None

    async def start(self) -> None:
        """Connect for the first time.

        Raises:
            NoBrokerError: if no broker answers.
            ServiceError: if one does, and does not want us.
        """
        try:
            await self._try_all()
        except ServiceError:
            if not self._settings.patient or self._settings.reconnect is None:
                raise
            await self._return(self._settings.reconnect)

    async def run(self) -> None:
        """Stay connected until cancelled, or until giving up."""
        while self._transport is not None:
            reason = await self._watch(self._transport)
            self._transport = None
            lost = _as_lost(reason, self.address)
            self._session.detach(lost)
            again = self._settings.reconnect
            tries = f"; trying again for {again.give_up_s:g} s" if again else ""
            log.warning("%s: %s%s", self.address, reason, tries)
            _call(self._settings.on_disconnect, lost)
            try:
                if again is None:
                    raise lost
                await self._return(again)
            except SienaError as error:
                self._session.fail(_as_lost(error, self.address))
            else:
                # As loud as the loss: who has read of that wants to know.
                log.warning("%s: connected again", self.address)
                _call(self._settings.on_reconnect)

    async def close(self, reason: SienaError) -> None:
        """Hang up, once all that was sent is written."""
        self._session.fail(reason)
        transport, self._transport = self._transport, None
        if transport is None:
            return
        transport.close(reason)
        try:
            async with asyncio.timeout(self._settings.close_s):
                await asyncio.shield(transport.ended)
        except TimeoutError:
            transport.abort(reason)

    def _gap(self, told: Gap) -> None:
        """Tell the program when something may have been lost."""
        gap = MissedInterval(told.start, told.end, told.reason)
        log.warning("%s: %s", self.address, gap)
        if self._settings.on_gap is not None:
            try:
                self._settings.on_gap(gap)
            except Exception:
                log.exception("a callback of the program failed")

    # -- one connection --------------------------------------------------------

    async def _try_all(self) -> None:
        """Connect to the first address that answers.

        Raises:
            ServiceError: if none does; that the token is refused, if all say so.
        """
        failure: ServiceError | None = None
        for _ in range(self._address_count):
            self.address = next(self._addresses)
            try:
                return await self._connect()
            except ServiceError as error:
                if failure is None or not _is_not_let_in(error):
                    failure = error
        assert failure is not None, "there is an address"
        raise failure

    async def _return(self, backoff: Backoff) -> None:
        """Try again and again, each time after a pause.

        Raises:
            ServiceError: the last failure, when it is time to give up.
        """
        refusals = 0
        loop = asyncio.get_running_loop()
        end = loop.time() + backoff.give_up_s
        for pause in backoff.pauses(self._settings.chance):
            await asyncio.sleep(pause)
            try:
                return await self._try_all()
            except ServiceError as error:
                log.info("%s", error)
                refusals = refusals + 1 if _is_not_let_in(error) else 0
                if refusals == REFUSALS_MAX or loop.time() >= end:
                    raise
        raise AssertionError("pauses have no end")

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        welcome: asyncio.Future[Welcome] = loop.create_future()
        wires: list[Transport] = []

        def make() -> Transport:
            transport = Transport(self._introduction(), self._hear, self._session.pace)
            wires.append(transport)
            self._welcome = welcome
            transport.ended.add_done_callback(lambda ended: _hang_up(welcome, ended))
            return transport

        try:
            async with asyncio.timeout(self._settings.connect_s):
                await loop.create_connection(
                    make, self.address.host, self.address.port, ssl=self._tls()
                )
                self.welcome = await asyncio.shield(welcome)
        except BaseException as error:
            for transport in wires:
                transport.abort(ConnectionLostError("the connection was given up"))
                if self._session.transport is transport:
                    self._session.detach(ConnectionLostError("no connection was made"))
            if isinstance(error, (OSError, SienaError)):
                raise self._explained(error) from None
            raise
        self._transport = wires[0]

    def _hear(self, transport: Transport, event: Event) -> None:
        """Meet the broker; what follows its welcome belongs to the session."""
        if self._session.transport is transport:
            self._session.hear(event)
        elif isinstance(event, Info):
            self.info = event
            if self._settings.token is not None and TOKEN not in event.features:
                text = f"{self.address}: this broker asks for no token"
                hint = "it lets in everybody; leave out token= if that is meant"
                transport.close(ServiceError(text, hint=hint))
        elif isinstance(event, Welcome):
            assert self.info is not None, "a broker says who it is before"
            assert self._welcome is not None, "there is a connection being made"
            self._welcome.set_result(event)
            self._session.is_parked = event.resumed and not self._session.connections
            self._session.attach(
                transport,
                self.info.limits,
                self.info.features,
                was_kept=event.resumed,
                broker=self.info.number,
            )
        elif isinstance(event, Error):
            text = f"{self.address}: {event.text}"
            hint = refusal_hint(event.fault, self._settings.token)
            transport.close(RequestRefusedError(event.fault, text, hint=hint))

    def _introduction(self) -> Connect:
        settings = self._settings
        return Connect(
            version=0,  # what both talk is known when the broker has greeted
            name=settings.name,
            identity=settings.identity,
            policy=settings.slow,
            token=settings.token,
            features=(GRANTS,),
        )

    def _tls(self) -> ssl.SSLContext | None:
        if not self.address.is_secure:
            return None
        return self._settings.tls or ssl.create_default_context()

    async def _watch(self, transport: Transport) -> SienaError:
        """Wait for the end; ask now and then whether it has come unnoticed."""
        seconds = self._settings.keepalive_s
        loop = asyncio.get_running_loop()
        asked_at: float | None = None
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    return await asyncio.shield(transport.ended)
            if asked_at is not None and transport.heard_at < asked_at:
                transport.abort(ConnectionLostError(f"no answer for {seconds:g} s"))
            elif loop.time() - transport.heard_at >= seconds:
                asked_at = loop.time()
                self._session.ping()

    def _explained(self, error: OSError | SienaError) -> ServiceError:
        """Why there is no connection, and what to do about it."""
        where = self.address
        if isinstance(error, TimeoutError):
            seconds = self._settings.connect_s
            hint = "" if where.is_secure else "sienas:// if it talks TLS"
            text = f"no broker answers at {where} within {seconds:g} s"
            return NoBrokerError(text, hint=hint)
        if isinstance(error, ssl.SSLError):
            reason = error.reason or "what answers does not talk TLS"
            is_doubt = isinstance(error, ssl.SSLCertVerificationError)
            hint = TRUST_HINT if is_doubt else ""
            return NoBrokerError(f"no TLS with {where}: {reason}", hint=hint)
        if isinstance(error, OSError) and _is_refusal(error):
            return NoBrokerError(
                f"no broker answers at {where}", hint="start one with: siena serve"
            )
        if isinstance(error, OSError):
            reason = error.strerror or str(error)
            return NoBrokerError(f"no broker answers at {where}: {reason}")
        if isinstance(error, (ProtocolError, ConnectionLostError)):
            return NoBrokerError(f"no broker answers at {where}: {error.message}")
        return _as_lost(error, where)


def _call(callback: Callable[..., object] | None, *arguments: SienaError) -> None:
    """Tell the program, if it wants to know; its mistakes do not end the connection."""
    if callback is None:
        return
    try:
        callback(*arguments)
    except Exception:
        log.exception("a callback of the program failed")


def _is_refusal(error: OSError) -> bool:
    """Refused.  A host has several addresses, and Python joins what they say."""
    return error.errno == ECONNREFUSED or f"[Errno {ECONNREFUSED}]" in str(error)


def _is_not_let_in(error: ServiceError) -> bool:
    return isinstance(error, RequestRefusedError) and error.fault in NOT_LET_IN


def _hang_up(
    hello: "asyncio.Future[Welcome]", ended: "asyncio.Future[SienaError]"
) -> None:
    if not hello.done():
        hello.set_exception(ended.result())
        hello.exception()  # seen, even if nobody waits any more


def _as_lost(reason: SienaError, address: Address) -> ServiceError:
    if isinstance(reason, ServiceError):
        return reason
    return ConnectionLostError(f"{address}: {reason}")
