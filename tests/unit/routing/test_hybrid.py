"""Gateways: hierarchies joined by a mesh, and meshes joined by peers."""

import random

import pytest

from conformance.scripts import network_of, replay, whole
from routing.wires import Wires


@pytest.mark.parametrize("script", ["T-B25", "T-B25-meshes"])
@pytest.mark.parametrize("seed", range(8))
def test_T_B25_clusters_deliver_what_flooding_would(script: str, seed: int) -> None:
    """In the networks of the scripts: two clusters of three, gateways 1 and 4."""
    wires = network_of(whole("general", script))
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
    replay("general", "T-B25-meshes")


def test_a_gateway_tells_the_outside_only_the_roots_of_the_inside() -> None:
    replay("general", "T-B25-roots")
