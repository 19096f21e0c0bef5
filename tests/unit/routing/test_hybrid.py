"""Gateways: hierarchies joined by a mesh, and meshes joined by peers."""

import random

import pytest

from routing.wires import Wires
from siena.messages import LinkState, Side

# Two clusters of three: 1 and 4 are the gateways.
CLUSTERS = {1: 1, 2: 1, 3: 1, 4: 4, 5: 4, 6: 4}


def hierarchies_in_a_mesh() -> Wires:
    wires = Wires()
    for server, master in ((2, 1), (3, 2), (5, 4), (6, 4)):
        wires.connect(server, master, Side.MASTER)
    wires.connect(1, 4, Side.MESH)
    return wires


def meshes_joined_by_peers() -> Wires:
    wires = Wires()
    for one, other in ((1, 2), (2, 3), (1, 3), (4, 5), (5, 6), (4, 6)):
        wires.connect(one, other, Side.MESH)
    wires.connect(1, 4, Side.PEER)
    return wires


@pytest.mark.parametrize("make", [hierarchies_in_a_mesh, meshes_joined_by_peers])
@pytest.mark.parametrize("seed", range(8))
def test_T_B25_clusters_deliver_what_flooding_would(make: object, seed: int) -> None:
    assert callable(make)
    wires: Wires = make()
    rng = random.Random(seed)
    wanted = {}
    for client in "abcdef":
        bound = wanted[client] = rng.randrange(5)
        wires.subscribe(client, rng.randrange(1, 7), f"x > {bound}")
    for client in "ab":
        wanted.pop(client)
        wires.unsubscribe(client, next(iter(_brokers_of(wires, client))), "[]")
    wires.check()
    for value in range(6):
        receivers, links = wires.publish("p", rng.randrange(1, 7), f"x = {value}")
        assert receivers == sorted(c for c, bound in wanted.items() if value > bound)
        assert len(links) == len(set(links))


def _brokers_of(wires: Wires, client: str) -> set[int]:
    return {
        n for n, r in wires.routers.items() if r.tables.filters.held_by(client)
    } or {1}


def test_T_B25_link_states_stay_within_their_mesh() -> None:
    wires = meshes_joined_by_peers()
    carried = [(a, b) for a, b, message in wires.sent if isinstance(message, LinkState)]
    assert carried
    assert all(CLUSTERS[a] == CLUSTERS[b] for a, b in carried)


def test_a_gateway_tells_the_outside_only_the_roots_of_the_inside() -> None:
    wires = meshes_joined_by_peers()
    assert "1→4 subscribe x > 0" in wires.subscribe("a", 2, "x > 0")
    assert not [s for s in wires.subscribe("b", 3, "x > 0") if s.startswith("1→4")]
    assert not [s for s in wires.subscribe("c", 2, "x > 5") if s.startswith("1→4")]
