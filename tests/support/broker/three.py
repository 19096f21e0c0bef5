"""Networks of three brokers with roles: random ones, and what a plain evaluator says.

The evaluator knows the texts of the roles, and nothing of brokers: what is published
goes to every broker on the way as long as the export of one end and the import of the
other let it, and is heard by those who may hear it and asked for it.
"""

import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from msgspec.structs import replace

from broker.people import PEOPLE, NamedBroker, access, named
from broker.random_texts import notification, text
from siena.block import decode
from siena.broker.access.principal import Principal
from siena.broker.settings import LinkSettings, Settings
from siena.lang.parser import parse_predicate
from siena.model import Predicate, Value
from siena.protocol.control_frames import Subscribe
from siena.protocol.data_frames import Delivery
from siena.protocol.frames import Op
from wire import Wire, connect, until

NAMES = ("b1", "b2", "b3")
READERS, ASKED = 2, 2
# What everybody may say and hear, and everybody asks for: that a round has ended.
MARK = "mark any"


@dataclass
class Roles:
    """What counts in a network, as texts: of each broker the roles of all who come."""

    publish: dict[str, str]
    hear: dict[tuple[str, int], str]
    imports: dict[tuple[str, str], str]  # at one broker, from another
    exports: dict[tuple[str, str], str]

    def of(self, broker: str) -> dict[str, dict[str, Any]]:
        """The roles of a broker, as its settings have them."""
        roles: dict[str, dict[str, Any]] = {
            "writer": {"publish": _marked(self.publish[broker])}
        }
        for reader in range(READERS):
            heard = _marked(self.hear[broker, reader])
            roles[f"reader{reader}"] = {"subscribe": heard}
        for other in NAMES:
            if (broker, other) in self.imports:
                exported = _marked(self.exports[broker, other])
                imported = _marked(self.imports[broker, other])
                roles[other] = {"peer": {"import": imported, "export": exported}}
        return roles


def _marked(text: str) -> str:
    return f"({text}) or {MARK}"


def path(middle: str) -> list[tuple[str, str]]:
    """The links of a network with one broker in the middle."""
    return [(other, middle) for other in NAMES if other != middle]


def way(middle: str, start: str, end: str) -> list[tuple[str, str]]:
    """The hops from one broker to another."""
    if start == end:
        return []
    if middle in {start, end}:
        return [(start, end)]
    return [(start, middle), (middle, end)]


@asynccontextmanager
async def three(
    middle: str, roles: Roles, **more: object
) -> AsyncIterator[dict[str, NamedBroker]]:
    """Three brokers, each of which takes the others for who they are."""
    people = ["writer", *NAMES, *(f"reader{n}" for n in range(READERS))]
    PEOPLE.update({name: Principal(name, roles=(name,)) for name in people})
    order = [middle, *(name for name in NAMES if name != middle)]
    found: dict[str, NamedBroker] = {}
    async with AsyncExitStack() as stack:
        for name in order:
            links: tuple[LinkSettings, ...] = ()
            if name != middle:
                url = found[middle].addresses[0].url
                links = (LinkSettings(url=url, role=middle),)
            settings = Settings(
                name=name,
                listen=("127.0.0.1:0",),
                accept_peers=True,
                access=access(**roles.of(name)),
                links=links,
            )
            settings = replace(settings, **more)
            found[name] = await stack.enter_async_context(named(settings))
        await until(lambda: len(found[middle].state.links) == 2)
        await until(lambda: all(broker.state.links for broker in found.values()))
        yield found


@dataclass
class Reader:
    """A client that has asked for something."""

    broker: str
    number: int
    wire: Wire
    asked: list[Predicate]

    async def settle(self) -> None:
        """Ask again for all of it, and wait until the network knows."""
        for number, asked in enumerate(self.asked):
            self.wire.send(Subscribe(number, f"({asked}) or {MARK}"))
        left = len(self.asked)
        while left:
            left -= getattr(await self.wire.next(), "op", None) == Op.SETTLED

    async def round(self) -> set[tuple[int, int]]:
        """What came, by its number and that of what was asked for; all marks have."""
        found: set[tuple[int, int]] = set()
        marks: set[Value] = set()
        while len(marks) < len(NAMES):
            came = await self.wire.next()
            if not isinstance(came, Delivery):
                continue
            notification = decode(came.block)
            if "mark" in notification:
                marks.add(notification["mark"])
                continue
            number = notification["n"]
            assert isinstance(number, int)
            found |= {(number, asked) for asked in came.subscriptions}
        return found


class World:
    """Random roles, clients and notifications, in one network of three."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.middle = self.rng.choice(NAMES)
        self.roles = self.draw()
        self.decisions = self.permitted = self.forbidden = self.missing = 0

    def draw(self) -> Roles:
        """Roles for all."""
        rng = self.rng
        pairs = [pair for a, b in path(self.middle) for pair in ((a, b), (b, a))]
        wide = ["[]", "x any or y any or z any"]

        def some() -> str:
            return rng.choice(wide) if rng.random() < 0.7 else text(rng)

        return Roles(
            {name: some() for name in NAMES},
            {(name, n): some() for name in NAMES for n in range(READERS)},
            {pair: some() for pair in pairs},
            {pair: some() for pair in pairs},
        )

    async def run(self, each: int) -> None:
        """Two rounds, with other roles in the second."""
        async with three(self.middle, self.roles) as brokers:
            readers = [
                Reader(
                    name,
                    n,
                    await connect(brokers[name], name=f"reader{n}"),
                    [parse_predicate(text(self.rng)) for _ in range(ASKED)],
                )
                for name in NAMES
                for n in range(READERS)
            ]
            writers = {
                name: await connect(brokers[name], name="writer") for name in NAMES
            }
            await self._round(readers, writers, each)
            self.roles = self.draw()
            for name, broker in brokers.items():
                new = access(**self.roles.of(name))
                broker.reload(replace(broker.settings, access=new))
            await self._round(readers, writers, each)

    async def _round(
        self, readers: list[Reader], writers: dict[str, Wire], each: int
    ) -> None:

        for reader in readers:
            await reader.settle()
        sent: dict[int, tuple[str, dict[str, Value]]] = {}
        for name, writer in writers.items():
            many: list[dict[str, Value]] = []
            for _ in range(each):
                n = len(sent)
                sent[n] = name, notification(self.rng)
                many.append({**sent[n][1], "n": n})
            writer.publish(*many, {"mark": name})
        for reader in readers:
            wanted = self._wanted(reader, sent)
            found = await reader.round()
            self.decisions += len(sent) * len(reader.asked)
            self.permitted += len(wanted)
            self.forbidden += len(found - wanted)
            self.missing += len(wanted - found)

    def _wanted(
        self, reader: Reader, sent: dict[int, tuple[str, dict[str, Value]]]
    ) -> set[tuple[int, int]]:
        """What a plain evaluator lets a reader hear."""
        roles = self.roles
        hears = parse_predicate(roles.hear[reader.broker, reader.number])
        found = set()
        for n, (start, said) in sent.items():
            guards = [roles.publish[start]]
            for here, there in way(self.middle, start, reader.broker):
                guards += [roles.exports[here, there], roles.imports[there, here]]
            may = all(parse_predicate(guard).matches(said) for guard in guards)
            if may and hears.matches(said):
                found |= {(n, a) for a, p in enumerate(reader.asked) if p.matches(said)}
        return found
