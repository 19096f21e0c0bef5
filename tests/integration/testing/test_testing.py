"""Brokers and networks for tests are real, end when they should, and come back."""

import threading
from typing import get_args

import pytest

import siena
from siena import Notification, testing
from siena.errors import NoBrokerError, SienaError
from siena.messages import Side
from siena.routing.topology.topology import Topology
from siena.sim.architecture import Architecture

SECONDS = 10.0
LINKED = [a for a in get_args(Architecture) if a not in {"centralised", "hybrid"}]


def threads() -> list[threading.Thread]:
    return [t for t in threading.enumerate() if t.name == "siena broker"]


def test_a_broker_is_there_within_the_block_only() -> None:
    with testing.broker(name="here") as broker:
        assert broker.name == "here"
        with siena.connect(broker.url) as client:
            assert client.broker == "here"
        url = broker.url
        broker.restart()
        assert (broker.url, broker.name) == (url, "here")
    broker.stop()  # nothing to do
    assert not threads()
    with pytest.raises(NoBrokerError), siena.connect(url):
        raise AssertionError("nobody is there")


def test_a_broker_in_a_process_can_be_killed() -> None:
    with (
        testing.process("--name", "there") as broker,
        siena.connect(broker.url, reconnect=None) as client,
    ):
        assert client.broker == broker.name == "there"
        broker.kill()
        with pytest.raises(SienaError):
            client.flush()


def test_settings_that_do_not_exist_are_refused() -> None:
    with pytest.raises(SienaError, match="unknown field"):
        testing.broker(nonsense=True)
    with pytest.raises(SienaError, match="unknown field"):
        testing.network("chain:2", nonsense=True)
    with pytest.raises(SienaError, match="closes a cycle"):
        testing.network("ring:3", "acyclic")
    with pytest.raises(SienaError, match="more than 64 brokers"):
        testing.network("chain:65")


@pytest.mark.parametrize("architecture", LINKED)
def test_a_network_delivers_across_brokers(architecture: Architecture) -> None:
    shape = "ring:4" if architecture == "general" else "tree:2x2"
    with (
        testing.network(shape, architecture) as network,
        siena.connect(network[2].url) as near,
        siena.connect(network[4].url) as far,
    ):
        wanted = near.subscribe("x > 3").settled(SECONDS)
        also = far.subscribe("x > 4").settled(SECONDS)
        for x in (3, 4, 5):
            far.publish(x=x)
        assert wanted.get(SECONDS) == Notification(x=4)
        assert wanted.get(SECONDS) == Notification(x=5)
        assert also.get(SECONDS) == Notification(x=5)
        near.publish(x=9)
        assert also.get(SECONDS) == wanted.get(SECONDS) == Notification(x=9)
        assert (wanted.waiting, also.waiting) == (0, 0)
    assert not threads()


def test_a_network_heals() -> None:
    with (
        testing.network("chain:3") as network,
        siena.connect(network.urls[0]) as one,
        siena.connect(network[3].url) as two,
    ):
        wanted = one.subscribe("x any").settled(SECONDS)
        network[2].restart()
        network.wait_for_links()
        again = one.subscribe("x any").settled(SECONDS)
        two.publish(x=1)
        assert wanted.get(SECONDS) == again.get(SECONDS) == Notification(x=1)
    assert len(network) == 3


def test_a_hybrid_network_says_who_is_what() -> None:
    triangle = [(1, 2), (1, 3), (2, 3)]
    topology = Topology([*triangle, (3, 4)])
    sides = {**dict.fromkeys(triangle, Side.MESH), (4, 3): Side.MASTER}
    with (
        testing.network(topology, "hybrid", sides=sides) as network,
        siena.connect(network[4].url) as low,
        siena.connect(network[1].url) as high,
    ):
        below = low.subscribe("x > 3").settled(SECONDS)
        above = high.subscribe("x > 4").settled(SECONDS)
        high.publish(x=4)
        low.publish(x=5)
        assert [below.get(SECONDS)["x"], below.get(SECONDS)["x"]] in ([4, 5], [5, 4])
        assert above.get(SECONDS)["x"] == 5
        assert (below.waiting, above.waiting) == (0, 0)
