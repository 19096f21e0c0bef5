"""A broker's bulk path beside a router that is told everything, message by message.

What clients ask for, and what neighbours say, goes to one router either way.  What is
published a broker matches in bulk, lays out and forwards as frames; the twin is handed
each publication as a message.  Both must send the same to every client and neighbour,
in the same order, but for sequences, which follow all that came at once.  Of the stamps
that a broker gives itself, numbers may be left out.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np
import pytest

from siena.block import BLOCK_BYTES_MAX, decode, encode
from siena.broker.access.principal import LOCAL, Principal
from siena.broker.clients.client import Client
from siena.broker.clients.requests import Requests
from siena.broker.clients.session import Session
from siena.broker.data.licences import Licence
from siena.broker.data.publish_batch import PublishBatch
from siena.broker.io.backpressure import Holder
from siena.broker.io.connection import Connection
from siena.broker.io.outbox import Outbox
from siena.broker.peers.handoff_tasks import HandoffTasks
from siena.broker.peers.link import Link, Other
from siena.broker.settings import Settings
from siena.broker.state import BrokerState
from siena.clock import SystemClock
from siena.messages import (
    Advertise,
    Elsewhere,
    Found,
    Leave,
    Lost,
    Message,
    Notify,
    Numbered,
    Outbox as Messages,
    PeerConnect,
    PeerDisconnect,
    Publish,
    Resume,
    Side,
    Stamp,
    Subscribe,
    Suspend,
    Unadvertise,
    Unsubscribe,
)
from siena.model import Advertisement, Constraint, Filter, Notification, Operator
from siena.protocol.control_frames import unpack
from siena.protocol.data_frames import (
    Forwarded,
    unpack_forward,
    unpack_found,
    unpack_msg,
)
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.forward_runs import (
    TIME_UNIT,
    ForwardRun,
    RunHead,
    unpack_run,
)
from siena.protocol.fast.split_frames import run_of
from siena.protocol.frames import HEAD_BYTES, LENGTH_BYTES, Op, Splitter
from siena.protocol.limits import FRAME_BYTES_MAX
from siena.routing.interest_table import Change
from siena.routing.options import Covering, Options
from siena.routing.router import Router
from siena.sim.random_world import (
    random_advertisement,
    random_filter,
    random_notification,
    random_pattern,
)

SEEDS = 100
STEPS = 60
NEIGHBOURS = (2, 3)
CLIENTS = (1, 2, 3)
ME, EPOCH = 1, 7
# What random notifications may say.
EVERYTHING = Advertisement(Constraint(name, Operator.ANY) for name in "xys")


@dataclass(eq=False)
class Wire:
    """What a client, or a neighbour, has been sent; nothing is ever too much."""

    neighbour: int | None = None
    name: str = ""
    takes_runs: bool = True
    is_relaying: bool = False
    principal: Principal = LOCAL
    licence: Licence | None = None
    vain_bytes: int = 0
    is_drawn: bool = False
    hears_gaps: bool = False
    outbox: Outbox = field(default_factory=lambda: Outbox("link", 1))
    frames: list[bytes] = field(default_factory=list)
    told: list[Message] = field(default_factory=list)
    refused: int = 0

    def reply(self, frame: bytes) -> None:
        self.frames.append(frame)

    def fail(self, error: ProtocolError) -> None:
        if error.fault is not Fault.NOT_ADVERTISED:
            raise error
        self.refused += 1

    def expect(self, size: int) -> bool:  # noqa: ARG002 -- there is room for all
        return True

    def deliver(self, frames: bytes, count: int) -> int:  # noqa: ARG002 -- as above
        self.frames.append(frames)
        return 0

    def hold(self, by: Holder) -> None:  # noqa: ARG002 -- none waits
        raise AssertionError("nothing is full")

    def tell(self, messages: Sequence[Message]) -> None:
        self.told += messages

    def forward(self, frame: bytes, count: int) -> None:
        self.frames.append(frame)
        assert len(_forwarded(frame)) == count

    def snapshot(self) -> dict[str, object]:
        return {"name": str(self.neighbour), "forwarded": len(self.frames)}

    def permit(self) -> None:
        """Nor are roles."""

    def holds(self, change: Change[Filter] | Change[Advertisement]) -> None:
        """Digests are none of the twin's business."""


class Bulk:
    """A broker without connections: its router, and the path of publications."""

    def __init__(self, options: Options, side: Side) -> None:
        router = Router(ME, options, epoch=EPOCH, flat=True)
        self.state = BrokerState(Settings(), SystemClock(), router, "one")
        self.requests = Requests(self.state)
        self.batch = PublishBatch(self.state)
        self.side = side
        self.clients = {number: Wire() for number in CLIENTS}
        # One of them is of the version before, which knows no runs.
        self.links = {n: Wire(n, takes_runs=n == NEIGHBOURS[0]) for n in NEIGHBOURS}
        for number, wire in self.clients.items():
            session = Session(number, router.registrations, f"client {number}")
            session.sink = wire
            self.state.sessions[number] = session

    def link(self, number: int) -> None:
        self.state.links[number] = self.links[number]
        self.state.handle(PeerConnect(self.side.opposite), number)

    def cut(self, number: int) -> None:
        del self.state.links[number]
        self.state.handle(PeerDisconnect(), number)

    def publish(self, number: int, notifications: list[Notification]) -> None:
        run = run_of([encode(n) for n in notifications])
        wire = cast("Connection", self.clients[number])
        session, elsewhere = self.state.sessions[number], cast("HandoffTasks", None)
        parts = self.state, self.batch, self.requests, elsewhere
        Client(wire, session, *parts).run(run)
        self.batch.flush()

    def hear(self, notifies: list[Notify], number: int) -> None:
        """A neighbour forwards some, in one frame or in several."""
        other = Other(number, "", 0, self.side, "them", [], takes_runs=True)
        wire = cast("Connection", self.links[number])
        link = Link(self.state, self.batch, wire, other, lambda _: None)
        if len(notifies) == 1 or not self.links[number].takes_runs:
            for notify in notifies:
                link.handle(_packed(notify))
        else:
            link.handle(_in_one_run(notifies))
        self.batch.flush()

    @property
    def refused(self) -> int:
        """How many publications were not advertised."""
        return sum(wire.refused for wire in self.clients.values())

    def sent(self) -> dict[object, list[object]]:
        """What everybody has been sent since the last time."""
        found: dict[object, list[object]] = {}
        for number, wire in self.links.items():
            forwarded = [one for frame in wire.frames for one in _forwarded(frame)]
            found[number] = [*wire.told, *forwarded]
            wire.told.clear()
            wire.frames.clear()
        for number, wire in self.clients.items():
            splitter = Splitter(FRAME_BYTES_MAX)
            frames = list(splitter.feed(b"".join(wire.frames)))
            found[str(number)] = _in_order([s for f in frames if (s := _said(*f))])
            wire.frames.clear()
        return found


class Twin:
    """The same router, handed every publication as a message."""

    def __init__(self, options: Options, side: Side) -> None:
        self.router = Router(ME, options, epoch=EPOCH, flat=True)
        self.side = side
        self.out: Messages = []
        self.refused = 0

    def handle(self, message: Message, source: int | str) -> None:
        before = self.router.published
        self.out += self.router.handle(message, source)
        if isinstance(message, Publish) and self.router.published == before:
            self.refused += 1

    def sent(self) -> dict[object, list[object]]:
        found: dict[object, list[object]] = {}
        found |= {number: [] for number in NEIGHBOURS}
        found |= {str(number): [] for number in CLIENTS}
        for interface, message in self.out:
            assert not isinstance(interface, Elsewhere)
            if isinstance(interface, int):
                if isinstance(message, Notify):
                    found[interface].append(_stripped(message))
                else:
                    found[interface].append(message)
            elif isinstance(message, (Lost, Numbered)):
                found[interface].append(_letter(message))
        self.out = []
        return {who: _in_order(said) for who, said in found.items()}


def _stripped(notify: Notify) -> object:
    """All but the time, which a broker reads from its clock."""
    return notify.notification, _foreign(notify.stamp), notify.root, notify.ttl


def _forwarded(frame: bytes) -> list[object]:
    if frame[LENGTH_BYTES] == Op.RUN:
        heads = [*unpack_run(frame[HEAD_BYTES:], BLOCK_BYTES_MAX).forwarded()]
        assert len(heads) > 1
    else:
        heads = [unpack_forward(frame[HEAD_BYTES:])]
    assert heads == sorted(heads, key=lambda head: head.time), "not later"
    return [(decode(h.block), _foreign(h.stamp), h.root, h.ttl) for h in heads]


def _packed(notify: Notify) -> Forwarded:
    block = encode(notify.notification)
    return Forwarded(notify.stamp, notify.root, notify.time, notify.ttl, 0, block)


def _in_one_run(notifies: list[Notify]) -> ForwardRun:
    """A RUN frame, read."""
    (broker, epoch, number), time = notifies[0].stamp, notifies[0].time
    head = RunHead(broker, epoch, number, notifies[0].root, time, notifies[0].ttl, 0)
    run = ForwardRun(
        head,
        np.array([n.stamp.number - number for n in notifies], np.uint32),
        np.array([(n.time - time) / TIME_UNIT for n in notifies], np.uint32),
        run_of([encode(n.notification) for n in notifies]),
    )
    return unpack_run(run.pack(head)[HEAD_BYTES:], BLOCK_BYTES_MAX)


def _foreign(stamp: Stamp) -> Stamp:
    return stamp if stamp.broker != ME else Stamp(ME, EPOCH, 0)


def _in_order(said: list[object]) -> list[object]:
    """Sequences last."""
    return sorted(
        said, key=lambda each: isinstance(each, tuple) and type(each[0]) is int
    )


def _letter(message: Lost | Numbered) -> object:
    if isinstance(message, Lost):
        return message.count
    content = message.content
    if isinstance(content, Found):
        return message.numbers[0], tuple(n.notification for n in content.sequence)
    assert isinstance(content, Notify)
    return message.numbers, content.notification


def _said(op: int, body: bytes) -> object:
    """What of a client's frames the twin says, too: deliveries, and LOST."""
    if op == Op.MSG:
        numbers, block = unpack_msg(body)
        return tuple(sorted(numbers)), decode(block)
    if op == Op.FOUND:
        number, blocks = unpack_found(body)
        return number, tuple(map(decode, blocks))
    return getattr(unpack(op, body), "count", None) if op == Op.LOST else None


class Script:
    """Random things that happen to both."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        coverings: list[Covering] = ["exact", "pairwise", "none"]
        covering = self.rng.choice(coverings)
        options = Options(
            forwarding=self.rng.choice(("subscription", "advertisement")),
            covering=covering,
            quench=self.rng.random() < 0.5,
        )
        side = self.rng.choice((Side.PEER, Side.MESH, Side.CHILD, Side.MASTER))
        self.options = options
        self.bulk, self.twin = Bulk(options, side), Twin(options, side)
        self.linked: set[int] = set()
        self.numbers = dict.fromkeys(CLIENTS, 0)
        self.heard = 0

    def step(self) -> None:
        client = self.rng.choice(CLIENTS)
        if self.rng.random() < 0.2:
            self._change_link(self.rng.choice(NEIGHBOURS))
        elif self.rng.random() < 0.4:
            self._publish(client)
        else:
            self._ask(client)

    def _change_link(self, number: int) -> None:
        is_up = number in self.linked
        if is_up and self.rng.random() < 0.7:
            self._hear(number)
        elif is_up:
            self.linked.remove(number)
            self.bulk.cut(number)
            self.twin.handle(PeerDisconnect(), number)
            self.twin.out = [(i, m) for i, m in self.twin.out if i != number]
        elif self.bulk.side is not Side.MASTER or not self.linked:
            self.linked.add(number)
            self.bulk.link(number)
            self.twin.handle(PeerConnect(self.bulk.side.opposite), number)

    def _hear(self, number: int) -> None:
        """A neighbour wants something, or forwards a notification, perhaps again."""
        if self.rng.random() < 0.5:
            message: Message = Subscribe(random_filter(self.rng), number)
            if self.options.is_advertising and self.rng.random() < 0.5:
                message = Advertise(random_advertisement(self.rng), number)
            self.bulk.state.handle(message, number)
            self.twin.handle(message, number)
            return
        notifies: list[Notify] = []
        for _ in range(self.rng.choice((1, 1, 2, 5))):
            self.heard += self.rng.random() < 0.7 or bool(notifies)
            self.heard += self.rng.random() < 0.2  # some are for others
            seeded = random.Random(self.heard)  # a copy has the same content
            content = random_notification(seeded)
            stamp, time = Stamp(9, 0, self.heard), float(self.heard)
            notifies.append(Notify(content, stamp, time, number, 9))
        if self.rng.random() < 0.2:  # once more, what came before
            self.heard = max(self.heard - self.rng.randint(0, 4), 0)
        self.bulk.hear(notifies, number)
        for notify in notifies:
            self.twin.handle(notify, number)

    def _publish(self, client: int) -> None:
        count = self.rng.randint(1, 4)
        notifications = [random_notification(self.rng) for _ in range(count)]
        self.bulk.publish(client, notifications)
        for notification in notifications:
            # One is always later than another, as patterns want it.
            self.twin.handle(
                Publish(notification, self.twin.router.published + 1e9), str(client)
            )

    def _ask(self, client: int) -> None:
        session = self.bulk.state.sessions[client]
        op = self.rng.choice(
            ("sub", "sub", "sub", "unsub", "adv", "adv", "unadv", "away", "back")
        )
        if op == "sub":
            self.numbers[client] += 1
            is_pattern = self.rng.random() < 0.2
            interest = (random_pattern if is_pattern else random_filter)(self.rng)
            self._both(Subscribe(interest), session.party(self.numbers[client]))
        elif op == "unsub" and session.interests:
            number = self.rng.choice(sorted(session.interests))
            self._both(Unsubscribe(session.interests[number]), session.party(number))
        elif op == "adv":
            self.numbers[client] += 1
            party = session.party(self.numbers[client])
            some = random_advertisement(self.rng)
            self._both(Advertise(self.rng.choice((some, EVERYTHING))), party)
        elif op == "unadv" and session.advertisements:
            number = self.rng.choice(sorted(session.advertisements))
            ended = Unadvertise(session.advertisements[number])
            self._both(ended, session.party(number))
        elif op == "away":
            kind = self.rng.choice((Suspend, Leave))
            self._both(kind(self.rng.choice((0, 2, 50))), session.client)
        elif op == "back":
            self._both(Resume(), session.client)

    def _both(self, message: Message, source: str) -> None:
        self.bulk.state.handle(message, source)
        self.twin.handle(message, source)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_the_bulk_path_sends_what_the_router_would(seed: int) -> None:
    script = Script(seed)
    for number in range(STEPS):
        script.step()
        assert script.bulk.sent() == script.twin.sent(), f"step {number}"
        assert script.bulk.refused == script.twin.refused, f"step {number}"
