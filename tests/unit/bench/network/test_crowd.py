"""A crowd in a network with cycles, at a size that a test can wait for."""

import pytest

from siena.bench.network.crowd import Crowd
from siena.messages import Notify
from siena.routing.options import Covering, Options
from siena.sim.invariants import Violation
from siena.sim.topologies.drawn import barabasi_albert, waxman
from siena.sim.world import World


def crowd_of(clients: int, *, covering: Covering = "exact", seed: int = 1) -> Crowd:
    shape = barabasi_albert(12, seed=seed)
    options = Options(covering=covering)
    world = World(shape, "general", options, seed=seed, latency=(0.5, 1.5))
    crowd = Crowd(world, seed)
    crowd.come(clients)
    return crowd


@pytest.mark.parametrize("covering", ["exact", "none"])
def test_everybody_gets_what_the_oracle_says(covering: Covering) -> None:
    crowd = crowd_of(60, covering=covering)
    crowd.settle(10)
    crowd.publish(60)
    assert crowd.verify() > 0
    crowd.go(30)
    crowd.publish(60)
    assert crowd.verify() > 0
    for router in crowd.world.routers.values():
        router.check()


def test_the_same_seed_gives_the_same_crowd() -> None:
    one, same, other = (crowd_of(20, seed=seed) for seed in (1, 1, 2))
    counts = [crowd.world.network.account.counts for crowd in (one, same, other)]
    assert counts[0] == counts[1] != counts[2]


def received(crowd: Crowd) -> list[list[Notify]]:
    crowd.publish(40)
    return [c.received for c in crowd.world.clients.values() if c.received]


def test_what_is_lost_is_noticed() -> None:
    crowd = crowd_of(40)
    received(crowd)[0].pop()
    with pytest.raises(Violation, match="wanted by"):
        crowd.verify()


def test_what_comes_twice_is_noticed() -> None:
    crowd = crowd_of(40)
    lists = received(crowd)
    lists[0].append(lists[0][0])
    with pytest.raises(Violation, match="twice"):
        crowd.verify()


def test_a_question_about_settling_crosses_no_link_twice() -> None:
    """Where all brokers want the same, following covers would go round in circles."""
    shape = waxman(20, seed=3)
    world = World(shape, "general")
    crowd = Crowd(world, 3)
    crowd.come(400)
    before = world.network.account.counts.copy()
    crowd.settle(1)
    asked = world.network.account.counts - before
    assert asked["settle"] == asked["settled"] <= len(shape.brokers) - 1
