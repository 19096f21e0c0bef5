"""What a network of real brokers delivers is what the simulator says."""

import asyncio
import random
from pathlib import Path

import msgspec
import pytest

from repository import ROOT
from siena.block import encode
from siena.broker.network import Network, NetworkSettings, read_network
from siena.errors import InvalidTopologyError, SienaError
from siena.lang.parser import parse_filter
from siena.messages import Side, Subscribe, Unsubscribe
from siena.model import Filter, Notification
from siena.protocol.control_frames import Unsubscribe as UnsubscribeBody
from siena.protocol.data_frames import Delivery
from siena.routing.options import Options
from siena.routing.topology.topology import Topology
from siena.sim.architecture import Architecture
from siena.sim.world import World
from wire import Wire, connect, until

EXAMPLES = ROOT / "examples"

# Five brokers; the weights leave no two ways of equal length.
TREE = [(2, 1, 1, ""), (3, 2, 2, ""), (4, 1, 4, ""), (5, 4, 8, "")]
MESH = [*TREE, (5, 3, 3, ""), (4, 2, 6, "")]
HYBRID = [
    (2, 1, 1, "mesh"),
    (3, 2, 2, "mesh"),
    (3, 1, 4, "mesh"),
    (4, 1, 8, "peer"),
    (5, 4, 16, "master"),
]
NETWORKS: dict[Architecture, list[tuple[int, int, int, str]]] = {
    "hierarchical": TREE,
    "acyclic": TREE,
    "general": MESH,
    "hybrid": HYBRID,
}


def real(architecture: Architecture) -> NetworkSettings:
    links = [
        {"from": f"b{one}", "to": f"b{other}", "weight": weight, "role": role or None}
        for one, other, weight, role in NETWORKS[architecture]
    ]
    form = {
        "architecture": architecture,
        "brokers": [{"name": f"b{number}"} for number in range(1, 6)],
        "links": links,
    }
    return msgspec.convert(form, NetworkSettings)


def simulated(architecture: Architecture) -> World:
    links = NETWORKS[architecture]
    sides = {(link[0], link[1]): Side(link[3]) for link in links if link[3]}
    topology = Topology([link[:3] for link in links])
    return World(topology, architecture, Options(quench=True), sides=sides)


class Pair:
    """A network and a world, to which the same happens."""

    def __init__(self, network: Network, world: World, rng: random.Random) -> None:
        self.network = network
        self.world = world
        self.rng = rng
        self.wires: dict[int, Wire] = {}
        self.held: list[tuple[int, int, Filter]] = []

    async def connect(self) -> None:
        for at in range(1, 6):
            self.wires[at] = await connect(self.network.brokers[f"b{at}"])

    async def subscribe(self, number: int) -> None:
        at, rng = self.rng.randint(1, 5), self.rng
        texts = [
            f"x > {rng.randint(0, 5)}",
            f"x = {rng.randint(0, 6)}",
            f"x < {rng.randint(0, 5)} and y = {rng.randint(0, 2)}",
        ]
        f = parse_filter(rng.choice(texts))
        self.held.append((at, number, f))
        await self.wires[at].subscribe(number, str(f))
        self.world.ask(self.world.client(f"{at}/{number}", at), Subscribe(f))
        self.world.run()

    async def unsubscribe(self) -> None:
        at, number, f = self.held.pop(self.rng.randrange(len(self.held)))
        self.wires[at].send(UnsubscribeBody(number))
        await self.wires[at].sync()
        self.world.ask(self.world.client(f"{at}/{number}", at), Unsubscribe(f))
        self.world.run()

    def publish(self) -> None:
        at = self.rng.randint(1, 5)
        notification = Notification(x=self.rng.randint(0, 6), y=self.rng.randint(0, 2))
        self.wires[at].publish(notification)
        self.world.publish(self.world.client(f"publisher {at}", at), notification)

    def wanted(self, at: int) -> list[tuple[int, bytes]]:
        return sorted(
            (int(name.split("/")[1]), encode(notify.notification))
            for name, client in self.world.clients.items()
            if client.at == at
            for notify in client.received
        )

    async def check(self) -> None:
        """Everybody gets what the world says, over the links that it says."""
        for at, wire in self.wires.items():
            wanted = self.wanted(at)
            got: list[tuple[int, bytes]] = []
            while len(got) < len(wanted):
                came = await wire.next()
                assert isinstance(came, Delivery)
                got += [(number, came.block) for number in came.subscriptions]
            assert sorted(got) == wanted
        await self.quiet()
        for wire in self.wires.values():
            assert await wire.sync() == []
        brokers = self.network.brokers.items()
        numbers = {broker.state.router.me: int(name[1:]) for name, broker in brokers}
        carried = {
            (int(name[1:]), numbers[there]): link.snapshot()["forwarded"]
            for name, broker in brokers
            for there, link in broker.state.links.items()
        }
        said = self.world.network.sent
        assert carried == {link: said.count((*link, "notify")) for link in carried}

    async def quiet(self) -> None:
        """Wait until no broker hears anything from another any more."""
        before, now = [-1], [0]
        while now != before:
            await asyncio.sleep(0.05)
            counters = [b.state.counters for b in self.network.brokers.values()]
            before, now = now, [each.router_in + each.received for each in counters]


@pytest.mark.parametrize("architecture", NETWORKS)
@pytest.mark.parametrize("seed", [1, 2])
async def test_a_network_delivers_what_the_simulator_says(
    architecture: Architecture, seed: int
) -> None:
    network = Network(real(architecture))
    rng = random.Random(f"{architecture}/{seed}")
    pair = Pair(network, simulated(architecture), rng)
    await network.start()
    try:
        await pair.connect()
        for number in range(12):
            await pair.subscribe(number)
        for _ in range(4):
            await pair.unsubscribe()
        await pair.quiet()
        for _ in range(30):
            pair.publish()
        pair.world.run()
        await pair.check()
    finally:
        for wire in pair.wires.values():
            wire.close()
        await network.drain()


async def test_the_example_is_a_network() -> None:
    settings = read_network(EXAMPLES / "five-brokers.toml")
    assert len(settings.brokers) == 5
    free = [
        msgspec.structs.replace(broker, listen="127.0.0.1:0")
        for broker in settings.brokers
    ]
    network = Network(msgspec.structs.replace(settings, brokers=tuple(free)))
    await network.start()
    await until(lambda: len(network.brokers["one"].state.links) == 2)
    await network.drain()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('brokers = [{name = "a"}, {name = "a"}]', "two brokers are called a"),
        ('brokers = [{name = "a"}]\nlinks = [{from = "a", to = "b"}]', "no broker b"),
        ("brokers = []", "length >= 1"),
        ('brokers = [{nam = "a"}]', "unknown field `nam` - at `$.brokers[0]`"),
        ('brokers = [{nam = "a"}]', "did you mean name? there are: http, listen, name"),
        (
            'brokers = [{name = "a"}]\nlinks = [{from = "a", to = "a"}]',
            "closes a cycle",
        ),
        ("brokers = [", "is not TOML"),
    ],
)
def test_what_is_no_network_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "network.toml"
    path.write_text(text)
    with pytest.raises(SienaError) as caught:
        read_network(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)


def test_cycles_and_second_masters_are_refused() -> None:
    brokers = [{"name": name} for name in "abc"]
    ring = [("a", "b"), ("b", "c"), ("c", "a")]
    links = [{"from": one, "to": other} for one, other in ring]
    form = {"brokers": brokers, "links": links}
    with pytest.raises(InvalidTopologyError, match="closes a cycle"):
        msgspec.convert(form, NetworkSettings).check()
    general = form | {"architecture": "general"}
    msgspec.convert(general, NetworkSettings).check()
    two = {"brokers": brokers, "links": [links[0], {"from": "a", "to": "c"}]}
    with pytest.raises(InvalidTopologyError, match="two masters"):
        msgspec.convert(two | {"architecture": "hierarchical"}, NetworkSettings).check()
