"""The mapping of identities to handlers: ``map_identity`` of the papers."""

import asyncio
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from siena.broker.access.principal import Principal
from siena.broker.clients.cancelling import covered_interests
from siena.broker.clients.in_process_entry import InProcessEntry
from siena.broker.clients.session import Session
from siena.broker.webhooks.delivery import HandlerDelivery, Tries, Way
from siena.broker.webhooks.durable import DurableHandlerDelivery, WantedDurable
from siena.broker.webhooks.http import Hooks
from siena.broker.webhooks.limits import BEGIN_SECONDS_MAX, DRAIN_SECONDS_MAX
from siena.broker.webhooks.mail import Mail
from siena.broker.webhooks.remembered import Asker, HandlerLine, RememberedHandlers
from siena.broker.webhooks.targets import Target, check_allowed, read_target
from siena.errors import SienaError
from siena.lang.parser import parse_interest
from siena.messages import Interest
from siena.protocol.address import read_address
from siena.protocol.control_frames import Resume, Subscribe, Unsubscribe
from siena.protocol.error_codes import Fault, ProtocolError

log = logging.getLogger("siena.broker")

SMTP_PORT = 25

AnyDelivery = HandlerDelivery | DurableHandlerDelivery


class Handlers:
    """All handlers of a broker.

    Ownership: the tasks of its deliveries; :meth:`drain` ends them.
    """

    def __init__(self, entry: InProcessEntry) -> None:
        self._entry = entry
        self._deliveries: dict[str, tuple[AnyDelivery, asyncio.Task[None]]] = {}
        self._hooks: Hooks | None = None
        self._forgotten = Tries()
        self._remembered: RememberedHandlers | None = None

    async def take_up(self) -> None:
        """Let identities have the handlers that they had when the broker ended.

        Raises:
            SienaError: if what is remembered cannot be read.
        """
        broker = self._entry.broker
        path = broker.settings.log.path
        if broker.log_service.journal is None or path is None:
            return
        self._remembered = RememberedHandlers(Path(path), self._lines)
        is_open = broker.settings.access is None
        for line, asker in self._remembered.take_up(broker.access, is_open=is_open):
            try:
                if line.durable is None:
                    self.map(line.identity, line.handler, None, asker)
                else:
                    wanted = line.identity, line.handler, line.durable, asker
                    await self.map_durable(*wanted, seconds=0.0)
            except ProtocolError as error:
                log.warning("%s has its handler no more: %s", line.identity, error)

    async def save(self) -> None:
        """Write down who has which handler, if there is a log; returns when it is.

        Raises:
            ProtocolError: if the disk does not take it.
        """
        if self._remembered is not None:
            await self._remembered.save()

    def _lines(self) -> list[HandlerLine]:
        return [
            HandlerLine(
                *(identity, delivery.target.text),
                Asker.of(delivery.in_process_session.client.session.principal),
                getattr(delivery, "wanted", None),
            )
            for identity, (delivery, task) in self._deliveries.items()
            if self._entry.is_draining or not task.done()
        ]

    async def map_durable(
        self,
        identity: str,
        handler: str,
        wanted: WantedDurable,
        principal: Principal,
        *,
        seconds: float = BEGIN_SECONDS_MAX,
    ) -> None:
        """From now on, what a durable subscription has goes to this handler.

        The identity has no other handler, and no subscriptions, then.

        Raises:
            ProtocolError: and then nothing has changed.
        """
        target = self._read(handler)
        way = self._way(target)
        in_process_session = self._entry.enter(
            principal=principal, name=target.text[:200]
        )
        delivery = DurableHandlerDelivery(
            *(self._entry, in_process_session, identity, target, way, wanted)
        )
        task = asyncio.get_running_loop().create_task(delivery.run())
        try:
            await delivery.begun(seconds)
        except BaseException:
            await self._end(delivery, task)
            raise
        audit = self._entry.broker.state.gate.audit
        audit.write("handler set", principal.identity, name=identity)
        if identity in self._deliveries:
            await self._end(*self._deliveries.pop(identity))
        self._deliveries[identity] = delivery, task

    def map(
        self,
        identity: str,
        handler: str,
        subscriptions: Sequence[str] | None,
        principal: Principal,
    ) -> None:
        """From now on, what is for an identity goes to this handler.

        What was kept for it goes there first.  With subscriptions, it has these and no
        others.

        Raises:
            ProtocolError: and then nothing has changed.
        """
        target = self._read(handler)
        gate = self._entry.broker.state.gate
        for text in subscriptions or ():
            gate.subscribe(principal, _check(text), None)
        gate.audit.write("handler set", principal.identity, name=identity)
        way = self._way(target)
        known, task = self._deliveries.get(identity, (None, None))
        if known is not None and task is not None:
            is_durable = isinstance(known, DurableHandlerDelivery)
            if is_durable or task.done():
                # Its credential ended before, and what it asked for was kept since; or
                # it read a durable subscription, and does no more.
                task.cancel()
                self._entry.leave(self._deliveries.pop(identity)[0].in_process_session)
        if identity in self._deliveries:
            delivery = self._deliveries[identity][0]
            delivery.target, delivery.way = target, way
            self._entry.show(delivery.in_process_session, principal)
        else:
            delivery = self._begin(identity, target, way, principal)
        if subscriptions is not None:
            self._subscribe(delivery.in_process_session.client.session, subscriptions)

    async def forget(self, identity: str) -> None:
        """An identity has no handler any more, and wants nothing.

        Raises:
            ProtocolError: if it has none.
        """
        self._delivery(identity)
        audit = self._entry.broker.state.gate.audit
        audit.write("handler forgotten", identity)
        await self._end(*self._deliveries.pop(identity))

    async def _end(self, delivery: AnyDelivery, task: "asyncio.Task[None]") -> None:
        """Let a delivery bring nothing more, and want nothing."""
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        self._subscribe(delivery.in_process_session.client.session, ())
        self._entry.leave(delivery.in_process_session)
        for name, count in delivery.tries.snapshot().items():
            setattr(self._forgotten, name, getattr(self._forgotten, name) + count)

    def unsubscribe(self, identity: str, interest: str) -> list[str]:
        """End all subscriptions of an identity that an interest covers, and name them.

        Raises:
            ProtocolError: if it has no handler, or the interest cannot be read.
        """
        wide = _check(interest)
        session = self._delivery(identity).in_process_session.client.session
        numbers = covered_interests(wide, session.asked)
        ended = [str(session.asked[number]) for number in numbers]
        self._entry.broker.route()  # what was published before
        for number in numbers:
            self._entry.broker.requests.handle(session, Unsubscribe(number))
        return ended

    async def drain(self) -> None:
        """Bring what is on its way, for a short time; the entry has said good-bye."""
        tasks = [task for _, task in self._deliveries.values()]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=DRAIN_SECONDS_MAX)
            for task in late:
                task.cancel()
            await asyncio.gather(*late, return_exceptions=True)
        if self._remembered is not None:
            await self._remembered.close()
        for delivery, _ in self._deliveries.values():
            self._entry.leave(delivery.in_process_session)
        self._deliveries.clear()
        if self._hooks is not None:
            await self._hooks.close()

    def snapshot(self) -> dict[str, Any]:
        """Who has which handler, and how well it goes."""
        return {
            identity: {
                "handler": delivery.target.text,
                "subscriptions": _subscriptions_of(delivery),
                **_durable_of(delivery),
                **delivery.tries.snapshot(),
            }
            for identity, (delivery, _) in self._deliveries.items()
        }

    def totals(self) -> dict[str, int]:
        """How well it went for all, those that were forgotten included."""
        tries = [self._forgotten, *(c.tries for c, _ in self._deliveries.values())]
        totals = [each.snapshot() for each in tries]
        return {name: sum(each[name] for each in totals) for name in totals[0]}

    # --- Beginning ------------------------------------------------------------------

    def _read(self, handler: str) -> Target:
        try:
            target = read_target(handler)
        except SienaError as error:
            raise ProtocolError.because(Fault.BAD_REQUEST, error) from None
        try:
            check_allowed(target, self._entry.broker.settings.handlers.allow)
        except SienaError as error:
            raise ProtocolError.because(Fault.NOT_ALLOWED, error) from None
        return target

    def _delivery(self, identity: str) -> AnyDelivery:
        if identity not in self._deliveries:
            text = f"{identity!r} has no handler"
            raise ProtocolError(Fault.NUMBER_UNKNOWN, text)
        return self._deliveries[identity][0]

    def _way(self, target: Target) -> Way:
        if target.scheme == "mailto":
            settings = self._entry.broker.settings.handlers
            return Mail(read_address(settings.smtp, SMTP_PORT), settings.sender)
        if self._hooks is None:
            self._hooks = Hooks()
        return self._hooks

    def _begin(
        self, identity: str, target: Target, way: Way, principal: Principal
    ) -> HandlerDelivery:
        in_process_session = self._entry.enter(
            principal=principal, name=target.text[:200], identity=identity
        )
        delivery = HandlerDelivery(self._entry, in_process_session, target, way)
        loop = asyncio.get_running_loop()
        self._deliveries[identity] = delivery, loop.create_task(delivery.run())
        self._entry.broker.requests.handle(in_process_session.client.session, Resume())
        return delivery

    def _subscribe(self, session: Session, wanted: Sequence[str]) -> None:
        """Let an identity have these subscriptions."""
        broker = self._entry.broker
        broker.route()  # what was published before
        for number in list(session.interests):
            broker.requests.handle(session, Unsubscribe(number))
        for number, text in enumerate(wanted, 1):
            broker.requests.handle(session, Subscribe(number, text))


def _subscriptions_of(delivery: AnyDelivery) -> list[str]:
    session = delivery.in_process_session.client.session
    return [str(interest) for interest in session.interests.values()]


def _durable_of(delivery: AnyDelivery) -> dict[str, Any]:
    """What its handler reads, if that is durable."""
    if isinstance(delivery, HandlerDelivery):
        return {}
    return {"durable": msgspec.to_builtins(delivery.wanted)}


def _check(text: str) -> Interest:
    try:
        return parse_interest(text)
    except SienaError as error:
        raise ProtocolError.because(Fault.BAD_INTEREST, error) from None
