"""A client that speaks frames: asks as the script says, and counts the answers."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import cast

from siena.algebra.covering import covers_advertisement, covers_filter
from siena.block.codec import decode, encode
from siena.model import Advertisement, Filter, Notification
from siena.protocol import control_frames as bodies
from siena.protocol.client import ClientConversation, Event
from siena.protocol.control_frames import Body
from siena.protocol.data_frames import Delivery
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Op, pack
from siena.protocol.handshake import Info
from siena.sim.steps import Step
from worlds.script import ABSENT_KEPT

# What answers a request; a publication has no answer.
_ANSWERS: dict[type[Body], Op] = {bodies.Settled: Op.SUB, bodies.Quench: Op.ADV}

Hear = Callable[[str, Notification], None]
Miss = Callable[[str, int], None]


class LiveClient:
    """One identity, at one broker at a time.

    Every filter of the script is a subscription with a number of its own; to cancel
    what a filter covers is to cancel all the numbers whose filters it covers.

    Args:
        hear: is told what is delivered, and may raise; what it raised is in ``error``.
        miss: is told how much was not kept.
    """

    def __init__(self, name: str, hear: Hear, miss: Miss) -> None:
        self.name = name
        self.error: BaseException | None = None
        self.open: Counter[tuple[int, int | None]] = Counter()
        """Requests that have not been answered: operation and number."""
        self._hear = hear
        self._miss = miss
        self._quenched: set[int] = set()
        self._url = ""
        self._wire: _Wire | None = None
        self._filters: dict[int, Filter] = {}
        self._advertisements: dict[int, Advertisement] = {}
        self._numbers = 0

    @property
    def quenched(self) -> list[Advertisement]:
        """Those of its advertisements that admit nothing that a client wants."""
        return [a for n, a in self._advertisements.items() if n in self._quenched]

    # --- What the script says -------------------------------------------------------

    async def connect(self, url: str) -> bool:
        """Be at this broker from now on; whether it has kept something."""
        self._url = url
        host, port = url.removeprefix("siena://").split(":")
        wire = self._wire = _Wire(self)
        await asyncio.get_running_loop().create_connection(
            lambda: wire, host, int(port)
        )
        return await wire.welcomed

    @property
    def is_absent(self) -> bool:
        """Whether it has hung up, or has never connected."""
        return self._wire is None

    def close(self) -> None:
        """Hang up; what it has asked for and not heard of is not answered any more."""
        if self._wire is not None:
            self._wire.close()
            self._wire = None
        self.open.clear()

    async def move(self, url: str, queue: int, *, is_careful: bool) -> None:
        """Go to another broker, and ask it for what the first keeps.

        Who is careful suspends itself first, and loses nothing that comes meanwhile;
        who just hangs up may lose what is being written at that moment.
        """
        old = self._url
        if is_careful and not self.is_absent:
            self._ask(bodies.Suspend(queue))
            while self.open[Op.SUSPEND, None]:  # noqa: ASYNC110 -- soon answered
                await asyncio.sleep(0)
        self.close()
        await self.connect(url)
        if queue == ABSENT_KEPT:
            self._ask(bodies.Suspend(queue))
            self._ask_again()
        self._ask(bodies.Move(old))

    async def ask(self, step: Step) -> None:
        """Ask for what a step says; who is absent comes back for it."""
        if step.op == "suspend" and step.queue == ABSENT_KEPT:
            self.close()
            return
        if self.is_absent:
            if not await self.connect(self._url):  # it wanted nothing then
                self._ask(bodies.Suspend(ABSENT_KEPT))
            self._ask_again()
        if step.op == "publish":
            assert step.notification is not None
            self._write(pack(Op.PUB, encode(step.notification)))
        elif step.op == "suspend":
            self._ask(bodies.Suspend(step.queue))
        elif step.op == "resume":
            self._ask(bodies.Resume())
        elif step.op in {"subscribe", "advertise"}:
            self._add(step)
        else:
            self._cancel(step)

    def _ask_again(self) -> None:
        """Ask for everything, as one does whose connection broke."""
        for number, f in self._filters.items():
            self._ask(bodies.Subscribe(number, str(f)))
        for number, advertisement in self._advertisements.items():
            self._ask(bodies.Advertise(number, str(advertisement)))

    def _add(self, step: Step) -> None:
        self._numbers += 1
        if step.op == "subscribe":
            assert isinstance(step.interest, Filter)
            self._filters[self._numbers] = step.interest
            self._ask(bodies.Subscribe(self._numbers, str(step.interest)))
        else:
            assert step.advertisement is not None
            self._advertisements[self._numbers] = step.advertisement
            self._ask(bodies.Advertise(self._numbers, str(step.advertisement)))

    def _cancel(self, step: Step) -> None:
        if step.op == "unsubscribe":
            assert isinstance(step.interest, Filter)
            for number, f in list(self._filters.items()):
                if covers_filter(step.interest, f):
                    del self._filters[number]
                    self._ask(bodies.Unsubscribe(number))
        else:
            assert step.op == "unadvertise"
            assert step.advertisement is not None
            for number, a in list(self._advertisements.items()):
                if covers_advertisement(step.advertisement, a):
                    del self._advertisements[number]
                    self._ask(bodies.Unadvertise(number))

    def _ask(self, body: Body) -> None:
        self.open[body.op, getattr(body, "number", None)] += 1
        self._write(body.pack())

    def _write(self, data: bytes) -> None:
        assert self._wire is not None
        self._wire.write(data)

    # --- What the broker says -------------------------------------------------------

    def heard(self, event: Event) -> None:
        """Something came."""
        if isinstance(event, Delivery):
            self._hear(self.name, decode(event.block))
        elif isinstance(event, bodies.Done):
            self._answered(event.request, event.number)
        elif isinstance(event, (bodies.Settled, bodies.Quench)):
            # That nobody wants something any more is said unasked, too.
            self._answered(_ANSWERS[type(event)], event.number)
            if isinstance(event, bodies.Quench):
                change = (
                    self._quenched.add if event.quenched else self._quenched.discard
                )
                change(event.number)
        elif isinstance(event, bodies.Lost):
            self._miss(self.name, event.count)
        elif isinstance(event, ProtocolError):
            raise event
        else:
            is_refused = isinstance(event, bodies.Error) and (
                event.fault == Fault.NOT_ADVERTISED.number
            )
            is_known = is_refused or isinstance(event, (Info, bodies.Welcome))
            assert is_known, f"{self.name} was told {event}"

    def _answered(self, request: int, number: int | None) -> None:
        self.open[request, number] -= 1
        if self.open[request, number] <= 0:
            del self.open[request, number]


class _Wire(asyncio.Protocol):
    """One connection of a client."""

    def __init__(self, client: LiveClient) -> None:
        self._client = client
        self._conversation = ClientConversation(bodies.Connect(0, identity=client.name))
        self._transport: asyncio.Transport | None = None
        self._is_closed = False
        self.welcomed: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Those of uvloop are transports, but not of this class.
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        if self._is_closed:
            return
        try:
            for event in self._conversation.feed(data):
                self._client.heard(event)
                if isinstance(event, Info):
                    self.write(self._conversation.hello())
                elif isinstance(event, bodies.Welcome):
                    self.welcomed.set_result(event.resumed)
        except BaseException as error:  # noqa: BLE001 -- it is raised where it is awaited
            self._client.error = self._client.error or error
            if not self.welcomed.done():
                self.welcomed.set_exception(error)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 -- why is told
        if not self._is_closed:
            self._client.error = self._client.error or EOFError(
                f"the broker of {self._client.name} hung up"
            )

    def write(self, data: bytes) -> None:
        assert self._transport is not None
        self._transport.write(data)

    def close(self) -> None:
        self._is_closed = True
        if self._transport is not None:
            self._transport.close()
