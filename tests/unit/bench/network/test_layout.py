"""Layouts of networks that are measured: where brokers and clients are."""

import pytest

from siena.bench.broker.workload import Workload
from siena.bench.network.layout import BROKERS_MAX, Layout
from siena.errors import SienaError

SHAPES = ("chain:1", "chain:2", "chain:3", "star:4", "ring:3", "ring:5", "tree:2x2")


@pytest.mark.parametrize("shape", SHAPES)
def test_every_broker_is_started_once_and_calls_those_that_run(shape: str) -> None:
    layout = Layout(shape)
    running: set[int] = set()
    links = set()
    for number, called in layout.order:
        assert running >= set(called)
        links |= {frozenset((number, each)) for each in called}
        running.add(number)
    assert running == set(layout.topology.brokers)
    assert len(layout.order) == len(running)
    assert links == {frozenset((one, other)) for one, other, _ in layout.topology.links}


@pytest.mark.parametrize("shape", SHAPES)
def test_publisher_subscribers_and_middle_share_out_the_brokers(shape: str) -> None:
    layout = Layout(shape)
    assert layout.publisher not in layout.middle
    assert not set(layout.subscribers) & set(layout.middle)
    all_of_them = {layout.publisher, *layout.subscribers, *layout.middle}
    assert all_of_them == set(layout.topology.brokers)


def test_subscribers_of_a_chain_are_at_its_other_end() -> None:
    chain = Layout("chain:3")
    assert (chain.publisher, chain.subscribers, chain.middle) == (1, (3,), (2,))
    assert chain.links_crossed == 2
    assert chain.is_tree
    assert not chain.is_complete


def test_one_broker_has_both_ends_and_no_link() -> None:
    alone = Layout("chain:1")
    assert (alone.publisher, alone.subscribers, alone.middle) == (1, (1,), ())
    assert alone.links_crossed == 0


def test_a_ring_of_three_links_all_with_all() -> None:
    ring = Layout("ring:3")
    assert ring.is_complete
    assert not ring.is_tree


def test_each_of_the_last_brokers_has_the_work_that_was_asked_for() -> None:
    work = Layout("star:4").workload(Workload(100, 10, 1.5, seed=7))
    assert (work.interests, work.connections, work.matches) == (200, 20, 3.0)
    assert work.seed == 7


def test_a_network_that_no_machine_can_run_is_refused() -> None:
    with pytest.raises(SienaError, match=f"there are 1 to {BROKERS_MAX} brokers"):
        Layout(f"chain:{BROKERS_MAX + 1}")
