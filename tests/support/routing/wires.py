"""Routers joined by wires: the smallest body there is, for examples and golden tests.

Wires are FIFO and lossless.  Whatever a client asks for is carried through until
nothing is on its way any more, and ``sent`` has what went over which link.
"""

from collections import deque
from collections.abc import Iterable

from siena import parse_advertisement, parse_interest, parse_notification
from siena.messages import (
    Advertise,
    Interface,
    Message,
    Notify,
    Outbox,
    PeerDisconnect,
    Publish,
    Side,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from siena.routing.options import Options
from siena.routing.router import Router


class Wires:
    """A network of routers, and what has gone over its links."""

    def __init__(
        self,
        links: Iterable[tuple[int, int]] = (),
        options: Options | None = None,
        *,
        side: Side = Side.PEER,
        weights: dict[tuple[int, int], float] | None = None,
        brokers: Iterable[int] = (),
        declarative: bool = False,
    ) -> None:
        self.routers: dict[int, Router] = {}
        self.got: list[tuple[str, Message]] = []
        self.sent: list[tuple[int, int, Message]] = []
        # As the papers have it, with cancellations first.
        self._options = options or Options(withdrawal="covering")
        self._declarative = declarative
        self._on_their_way: deque[tuple[int, int, Message]] = deque()
        self.slow: set[tuple[int, int]] = set()
        """Links, from one end to the other, on which all waits until ``hurry``."""
        self._late: deque[tuple[int, int, Message]] = deque()
        for broker in brokers:
            self.router(broker)
        for one, other in links:
            self.connect(one, other, side, (weights or {}).get((one, other), 1))

    def router(self, broker: int) -> Router:
        if broker not in self.routers:
            self.routers[broker] = Router(
                broker, self._options, declarative=self._declarative
            )
        return self.routers[broker]

    def connect(
        self, one: int, other: int, side: Side = Side.PEER, weight: float = 1
    ) -> list[str]:
        """Join two brokers; the first takes the second for ``side``."""
        self.router(other)
        self._send(one, self.router(one).connect(other, side, weight))
        return self._drain()

    def cut(self, one: int, other: int) -> list[str]:
        """Cut a link: each end hears of it from nobody."""
        for here, there in ((one, other), (other, one)):
            self._send(here, self.routers[here].handle(PeerDisconnect(), there))
        return self._drain()

    def ask(self, client: str, broker: int, message: Message) -> list[str]:
        """Let a client ask for something; what was sent between brokers, as text."""
        self._send(broker, self.router(broker).handle(message, client))
        return self._drain()

    def carry_all(self, broker: int, out: Outbox) -> list[str]:
        """Carry through what a router has answered behind our back."""
        self._send(broker, out)
        return self._drain()

    def subscribe(self, client: str, broker: int, text: str) -> list[str]:
        return self.ask(client, broker, Subscribe(parse_interest(text)))

    def unsubscribe(self, client: str, broker: int, text: str) -> list[str]:
        return self.ask(client, broker, Unsubscribe(parse_interest(text)))

    def advertise(self, client: str, broker: int, text: str) -> list[str]:
        return self.ask(client, broker, Advertise(parse_advertisement(text)))

    def unadvertise(self, client: str, broker: int, text: str) -> list[str]:
        return self.ask(client, broker, Unadvertise(parse_advertisement(text)))

    def publish(
        self, client: str, broker: int, text: str, time: float = 0
    ) -> tuple[list[str], list[str]]:
        """Who received it, and over which links it went."""
        before = len(self.got)
        links = self.ask(client, broker, Publish(parse_notification(text), time))
        told = self.got[before:]
        return sorted(c for c, m in told if isinstance(m, Notify)), links

    def interests(self, broker: int) -> dict[str, set[Interface]]:
        """Which filters a broker holds, and for whom."""
        table = self.routers[broker].tables.filters
        return {str(f): {h.hop for h in table.holders(f)} for f in table}

    def forwards(self, broker: int) -> dict[str, set[int]]:
        """Which filters a broker has told to which neighbours."""
        told: dict[str, set[int]] = {}
        for number, neighbour in self.routers[broker].tables.neighbours.items():
            for f, _ in neighbour.filters.told:
                told.setdefault(str(f), set()).add(number)
        return told

    def check(self) -> None:
        """Every router keeps its invariants, and has what its neighbours told it."""
        for number, router in self.routers.items():
            router.check()
            for other, neighbour in router.tables.neighbours.items():
                origins = neighbour.side is Side.MESH
                theirs = self.routers[other].tables.filters.announced_by(number)
                told = {
                    (str(f), o if origins else other) for f, o in neighbour.filters.told
                }
                assert {(str(f), o) for f, o in theirs} == told

    def carry(self, sent: tuple[int, int, Message]) -> list[str]:
        """Carry one message that a test has held back, and all that follows."""
        self._on_their_way.append(sent)
        return self._drain()

    def hurry(self) -> list[str]:
        """Let slow links bring what they have, and be slow no longer."""
        self.slow.clear()
        self._on_their_way += self._late
        self._late.clear()
        return self._drain()

    def _send(self, source: int, out: Iterable[tuple[Interface, Message]]) -> None:
        for interface, message in out:
            if isinstance(interface, str):
                self.got.append((interface, message))
            else:
                self._on_their_way.append((source, interface, message))

    def _drain(self) -> list[str]:
        carried = []
        while self._on_their_way:
            source, target, message = sent = self._on_their_way.popleft()
            if (source, target) in self.slow:
                self._late.append(sent)
                continue
            self.sent.append((source, target, message))
            carried.append(say(source, target, message))
            self._send(target, self.router(target).handle(message, source))
        return carried


def say(source: int, target: int, message: Message) -> str:
    """A message on one line, as the specification writes it."""
    what: object = getattr(message, "interest", getattr(message, "advertisement", ""))
    return f"{source}→{target} {type(message).__name__.lower()} {what}".rstrip()
