"""CBCB: what is learnt, what is lost by pruning, and how requests repair it.

The scripts stand in ``conformance/cbcb.json``.
"""

import pytest
from hypothesis import event, example, given, strategies as st

from conformance.cbcb import play
from networks import topologies, webs
from siena.lang.parser import parse_filter as parse, parse_predicate
from siena.model import Filter, Notification
from siena.research.cbcb.broadcast import Broadcast
from siena.research.cbcb.messages import (
    ContentMessage,
    ReceiverAdvertisement,
    SenderRequest,
    UpdateReply,
)
from siena.research.cbcb.node import Node, Options
from siena.research.cbcb.world import CbcbWorld, Layer
from siena.research.schemes.network import Network
from siena.research.schemes.pif import PIF
from siena.routing.topology.topology import Topology
from siena.sim.topologies.drawn import random_graph
from siena.sim.topologies.regular import chain

P = (parse("x > 3"),)
MATCHING = Notification(x=4)


def world_of(topology: Topology, options: Options | None = None) -> CbcbWorld:
    return CbcbWorld(topology, options, delay_s=0)


def wanted_by(world: CbcbWorld, broker: int, filters: tuple[Filter, ...]) -> None:
    world.want(broker, filters)
    world.run()


def publish(world: CbcbWorld, source: int, message: Notification) -> dict[int, int]:
    """Who received a notification, and how often."""
    publication = world.publish(source, message)
    world.run()
    return dict(publication.received)


def request(world: CbcbWorld, *brokers: int) -> None:
    for broker in brokers:
        world.request(broker)
    world.run()


# --- T-C20: pruning loses a route -------------------------------------------------


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("T-C20", id="T_C20_paper"),
        pytest.param("T-C20-off", id="T_C20_off"),
    ],
)
def test_who_hears_of_4(script: str) -> None:
    """Pruned, a message from 4 never reaches 3: a false negative."""
    play(script)


@pytest.mark.parametrize(
    "script",
    [
        pytest.param("T-C20-repaired", id="T_C20_repaired"),
        pytest.param("T-C20-not-repaired", id="T_C20_not_repaired_where_empty"),
    ],
)
def test_a_request_repairs_what_it_asks_for(script: str) -> None:
    play(script)


def test_T_C20_what_each_broker_learns() -> None:
    play("T-C20")


def test_pruning_loses_a_route_even_on_a_tree() -> None:
    """Once a request has narrowed the table on the far side of a wide one."""
    narrow = (parse("x > 5"),)
    for prunes, receivers in ((True, {}), (False, {3: 1})):
        world = world_of(chain(3), Options(prunes=prunes))
        wanted_by(world, 3, P)
        wanted_by(world, 3, narrow)
        request(world, 1)
        assert world.nodes[1].table.wanted(2) == narrow
        assert world.nodes[2].table.wanted(3) == P
        wanted_by(world, 3, P)
        assert publish(world, 1, MATCHING) == receivers


# --- T-C21: everybody interested gets everything once -----------------------------

PREDICATES = ["x > 1", "x > 2", "x < 2", "x any", "y = 1", "x > 2 or y = 1", "not []"]
MESSAGES = [Notification(x=x, y=y) for x in (1, 2, 3) for y in (0, 1)]
LAYERS: tuple[Layer, ...] = ("shortest paths", "spanning tree")


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("seed", range(6), ids="T_C21_{}".format)
def test_every_interested_broker_receives_each_message_once(
    seed: int, layer: Layer
) -> None:
    brokers = 5 + 7 * seed
    topology = random_graph(brokers, extra_links=brokers // 2, seed=seed)
    world = CbcbWorld(topology, layer=layer)
    for broker in topology.brokers:
        text = PREDICATES[(broker * 5 + seed) % len(PREDICATES)]
        world.want(broker, parse_predicate(text))
    world.run()
    for source in topology.brokers[:: max(1, brokers // 6)]:
        for message in MESSAGES:
            received = publish(world, source, message)
            assert received == dict.fromkeys(world.publications[-1].expected, 1)
            assert received


# --- T-C22: what is no longer wanted ----------------------------------------------


@pytest.mark.parametrize("seed", range(4), ids="T_C22_{}".format)
def test_requests_make_false_positives_vanish(seed: int) -> None:
    topology = random_graph(12, extra_links=6, seed=seed)
    world = CbcbWorld(topology, delay_s=0)
    narrow = (parse("x > 7"),)
    for broker in topology.brokers:
        wanted_by(world, broker, P if broker == 5 else narrow)
    wanted_by(world, 5, narrow)

    def unmatched() -> int:
        before = sum(node.counters.unmatched for node in world.nodes.values())
        for source in topology.brokers:
            assert publish(world, source, MATCHING) == {}
        after = sum(node.counters.unmatched for node in world.nodes.values())
        return after - before

    assert unmatched() > 0
    request(world, *topology.brokers)
    assert unmatched() == 0
    assert publish(world, 1, Notification(x=8)) == dict.fromkeys(topology.brokers, 1)


# --- T-C23: the manual workload of the authors' simulator -------------------------


def test_T_C23_a_message_at_3_reaches_0_by_way_of_1() -> None:
    play("T-C23")


# --- Tables are those of per-interface forwarding ---------------------------------


@given(webs(), st.data())
def test_replies_are_what_per_interface_forwarding_stores(
    topology: Topology, data: st.DataObject
) -> None:
    """C.5.4: with packets, not computed from the trees."""
    predicates = {
        broker: parse_predicate(data.draw(st.sampled_from(PREDICATES)))
        for broker in topology.brokers
    }
    world = world_of(topology)
    for broker, predicate in predicates.items():
        # Something wide at first, so that replies have something to narrow.
        wanted_by(world, broker, (parse("x any"),))
        wanted_by(world, broker, predicate.filters)
    request(world, *topology.brokers)
    pif = PIF(Network(topology, predicates))
    for broker in topology.brokers:
        table = world.nodes[broker].table
        table.check()
        for neighbour in topology.neighbours(broker):
            wanted = pif.tables[broker].get(neighbour)
            for message in MESSAGES:
                expected = wanted is not None and wanted.matches(message)
                assert (neighbour in table.match(message)) == expected


# Who does what, a want or a request (None), and how long until the next.
Step = tuple[int, str | None, int]
wants = st.sampled_from(["x > 1", "x > 2", "y = 1", "not []"])
steps = st.tuples(st.integers(0, 4), st.none() | wants, st.sampled_from([0, 1, 2, 3]))
# Behind a fork one branch is slow to answer.
FORK = Topology([(1, 2, 1), (2, 3, 1), (2, 4, 10)])


@given(topologies(brokers=(3, 5), weights=(1, 1, 10)), st.lists(steps, max_size=8))
@example(FORK, [(0, None, 3), (2, "x > 1", 0)])  # a reply undid an advertisement
def test_whatever_happens_at_once_is_right_when_all_is_quiet(
    topology: Topology, history: list[Step]
) -> None:
    """Wants and requests cross each other on the way; links only keep their order."""
    world = CbcbWorld(topology)
    for place, want, wait in history:
        broker = topology.brokers[place % len(topology)]
        if want is None:
            world.request(broker)
        else:
            world.want(broker, parse_predicate(want))
        world.run(until=world.now + wait)
    world.run()
    event(f"replies: {world.packets['UR'] > 0}")
    for source in topology.brokers:
        for message in MESSAGES:
            received = publish(world, source, message)
            assert received == dict.fromkeys(world.publications[-1].expected, 1)


def test_an_advertisement_does_not_lose_a_race_with_a_reply() -> None:
    """Behind a fork: 3 has answered and then wants more, while 4 has yet to answer."""
    world = CbcbWorld(FORK)
    world.request(1)
    world.run(until=4)
    world.want(3, P)
    world.run()
    assert world.nodes[1].table.wanted(2) == P
    assert publish(world, 1, MATCHING) == {3: 1}


# --- One broker -------------------------------------------------------------------


def middle(options: Options | None = None) -> Node:
    """Broker 2 of a star, with 1, 3 and 4 around it."""
    star = Topology([(1, 2), (2, 3), (2, 4)])
    return Node(2, Broadcast.shortest_paths(star), options)


def test_what_grows_is_advertised_and_what_shrinks_is_not() -> None:
    node = middle()
    advertised = ReceiverAdvertisement(2, P)
    assert node.want(P) == [(1, advertised), (3, advertised), (4, advertised)]
    assert node.want(P) == []
    assert node.want([parse("x > 5")]) == []
    # It may have been told to others as it was in between.
    assert len(node.want(P)) == 3


def test_growth_can_be_kept_for_later() -> None:
    node = middle(Options(batches=True))
    assert node.want([parse("x = 1")]) == []
    assert node.want(P) == []
    assert [message for _, message in node.advertise()] == [
        ReceiverAdvertisement(2, P)
    ] * 3
    assert node.advertise() == []
    # What has grown and shrunk again may have been told to others in between.
    node.want([*P, parse("y = 1")])
    node.want(P)
    assert len(node.advertise()) == 3


def test_a_reply_is_not_wider_than_what_was_answered() -> None:
    """What a branch advertised before its answer, and no longer wants, is not in it."""
    node = middle()
    node.handle(SenderRequest(1, 1), source=1)
    node.handle(ReceiverAdvertisement(3, P), source=3)
    node.handle(UpdateReply(1, 1, ()), source=3)
    assert node.handle(UpdateReply(1, 1, ()), source=4) == [(1, UpdateReply(1, 1, ()))]


def test_a_fork_answers_when_all_branches_have() -> None:
    node = middle()
    node.want([parse("z = 1")])
    asked = SenderRequest(1, 7)
    assert node.handle(asked, source=1) == [(3, asked), (4, asked)]
    assert node.handle(UpdateReply(1, 7, P), source=3) == []
    assert node.handle(UpdateReply(1, 7, P), source=3) == []  # twice is once
    assert node.handle(UpdateReply(1, 8, P), source=4) == []  # never asked for
    [(target, reply)] = node.handle(UpdateReply(1, 7, (parse("x = 9"),)), source=4)
    assert target == 1
    # x = 9 is covered, and does not travel further.
    assert reply == UpdateReply(1, 7, (*P, parse("z = 1")))
    assert node.handle(UpdateReply(1, 7, P), source=4) == []


def test_requests_that_wait_too_long_are_forgotten() -> None:
    node = middle()
    node.handle(ReceiverAdvertisement(3, P), source=3)
    [(_, sent), *_] = node.request()
    assert isinstance(sent, SenderRequest)
    node.expire()
    node.handle(UpdateReply(2, sent.number, ()), source=1)
    node.expire()
    assert node.handle(UpdateReply(2, sent.number, ()), source=3) == []
    # The late answer changes nothing: the table is too wide at the worst.
    assert node.table.wanted(3) == P


def test_only_busy_interfaces_are_asked() -> None:
    node = middle(Options(messages_min=2))
    node.handle(ReceiverAdvertisement(3, P), source=3)
    assert node.request() == []
    for _ in range(2):
        assert [target for target, _ in node.publish(MATCHING)] == [3]
    assert [target for target, _ in node.request()] == [3]
    assert node.request() == []


def test_messages_do_not_go_back_and_in_vain_ones_are_counted() -> None:
    node = middle()
    node.handle(ReceiverAdvertisement(1, P), source=1)
    message = ContentMessage(1, 1, MATCHING)
    # Wanted only where it came from: useless, but something matched.
    assert node.handle(message, source=1) == []
    assert (node.counters.useless, node.counters.unmatched) == (1, 0)
    other = ContentMessage(1, 2, Notification(y=1))
    assert node.handle(other, source=1) == []
    assert (node.counters.useless, node.counters.unmatched) == (2, 1)
    node.want([parse("y = 1")])
    assert node.handle(other, source=1) == [(2, other)]
    assert (node.counters.delivered, node.counters.received) == (1, 3)
