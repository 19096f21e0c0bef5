"""Simulated networks: time, links, faults, costs."""

import pytest

from conformance.scripts import whole
from siena import parse_filter, parse_interest, parse_notification
from siena.errors import LimitError, SienaError
from siena.messages import Subscribe
from siena.routing.options import Options
from siena.routing.topology.topology import Topology
from siena.sim.architecture import Architecture
from siena.sim.network import Fault
from siena.sim.scheduler import Scheduler
from siena.sim.steps import Step, perform
from siena.sim.topologies.regular import chain, ring, star, tree
from siena.sim.world import World


def subscribe(world: World, client: str, at: int, text: str) -> None:
    perform(
        world, Step(op="subscribe", client=client, at=at, interest=parse_interest(text))
    )
    world.run()


def publish(world: World, at: int, text: str) -> list[str]:
    """Who received it."""
    before = {name: len(c.received) for name, c in world.clients.items()}
    step = Step(
        op="publish", client=f"p{at}", at=at, notification=parse_notification(text)
    )
    perform(world, step)
    world.run()
    return sorted(
        name
        for name, client in world.clients.items()
        if len(client.received) > before.get(name, 0)
    )


ARCHITECTURES: tuple[Architecture, ...] = (
    "centralised",
    "hierarchical",
    "acyclic",
    "general",
)


@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("latency", [(0.0, 0.0), (0.1, 3.0)])
def test_every_architecture_delivers_the_same(
    architecture: Architecture, latency: tuple[float, float]
) -> None:
    world = World(tree(2, 2), architecture, latency=latency, seed=5)
    subscribe(world, "a", 4, "x > 3")
    subscribe(world, "b", 7, "x > 5")
    subscribe(world, "c", 1, "y any")
    assert publish(world, 6, "x = 4") == ["a"]
    assert publish(world, 6, "x = 7, y = 1") == ["a", "b", "c"]
    assert publish(world, 6, "x = 1") == []


def test_T_G4_flooding_delivers_the_same_with_at_least_as_many_messages() -> None:
    """Flooding: every broker gets every notification over every link of the tree."""
    script = whole("acyclic", "T-G4")
    network = Topology([(one, other) for one, other in script["links"]])
    for architecture in ARCHITECTURES[1:]:
        world = World(network, architecture)
        for step in script["steps"]:
            if "subscribe" in step:
                subscribe(world, step["client"], step["at"], step["subscribe"])
                continue
            world.network.sent.clear()
            assert publish(world, step["at"], step["publish"]) == step["delivered"]
            assert len(world.network.sent) <= step["copies_max"]


def test_costs_are_those_of_the_links_that_are_crossed() -> None:
    network = Topology([(1, 2, 2), (2, 3, 5)])
    for architecture, cost in (("acyclic", 7.0), ("centralised", 7.0)):
        world = World(network, architecture)  # type: ignore[arg-type]
        subscribe(world, "a", 3, "x any")
        assert world.network.account.costs == {"subscribe": cost}
        publish(world, 1, "x = 1")
        assert world.network.account.costs["notify"] == 7.0


def test_no_message_overtakes_another_on_its_link() -> None:
    world = World(chain(2), "acyclic", latency=(0.0, 9.0), seed=1)
    subscribe(world, "a", 2, "x any")
    client = world.client("p", 1)
    for value in range(20):
        world.publish(client, parse_notification(f"x = {value}"))
    world.run()
    got = [notify.notification["x"] for notify in world.clients["a"].received]
    assert got == list(range(20))


@pytest.mark.parametrize(("fault", "got"), [("lost", []), ("duplicated", ["a"])])
def test_a_frame_that_is_lost_or_comes_twice_breaks_its_link(
    fault: Fault, got: list[str]
) -> None:
    """Both ends forget, connect again, and tell each other everything."""
    world = World(chain(3), "acyclic", latency=(1.0, 1.0))
    subscribe(world, "a", 3, "x any")
    subscribe(world, "b", 1, "y any")
    world.spoil_frame(1, 2, fault)
    world.network.sent.clear()
    assert publish(world, 1, "x = 1") == got
    sent = [message for message in world.network.sent if set(message[:2]) == {1, 2}]
    assert sent == [
        (1, 2, "notify"),
        (1, 2, "peerconnect"),
        (2, 1, "peerconfirm"),
        (2, 1, "subscribe"),
        (1, 2, "subscribe"),
    ]
    assert publish(world, 1, "x = 2") == ["a"]
    assert publish(world, 3, "y = 2") == ["b"]


@pytest.mark.parametrize("fault", ["lost", "duplicated"])
def test_what_was_sent_behind_a_spoiled_frame_never_arrives(fault: Fault) -> None:
    world = World(chain(2), "acyclic", latency=(1.0, 1.0))
    subscribe(world, "a", 2, "x any")
    world.spoil_frame(1, 2, fault)
    for x in range(3):
        world.publish(world.client("p", 1), parse_notification(f"x = {x}"))
    world.run()
    got = [notify.notification["x"] for notify in world.clients["a"].received]
    assert got == ([] if fault == "lost" else [0])


def test_a_link_that_is_healed_spoils_nothing() -> None:
    world = World(chain(2), "acyclic")
    subscribe(world, "a", 2, "x any")
    world.spoil_frame(1, 2, "lost")
    world.network.heal()
    assert publish(world, 1, "x = 1") == ["a"]


def test_what_is_on_its_way_when_a_link_breaks_never_arrives() -> None:
    world = World(chain(2), "acyclic", latency=(1.0, 1.0))
    subscribe(world, "a", 2, "x any")
    world.publish(world.client("p", 1), parse_notification("x = 1"))
    world.disconnect(1, 2)
    world.connect(1, 2)
    world.run()
    assert world.clients["a"].received == []
    assert publish(world, 1, "x = 2") == ["a"]


def test_a_broker_that_crashed_comes_back_knowing_nothing() -> None:
    world = World(chain(3), "acyclic")
    subscribe(world, "a", 3, "x any")
    world.crash(2)
    assert publish(world, 1, "x = 1") == []
    world.restart(2)
    world.run()
    assert publish(world, 1, "x = 1") == ["a"]
    world.crash(3)
    world.restart(3)
    world.run()
    assert publish(world, 1, "x = 1") == []  # the client would have to ask again


def test_a_partition_heals() -> None:
    world = World(ring(4), "general")
    subscribe(world, "a", 3, "x any")
    for one, other in ((1, 2), (3, 4)):
        world.disconnect(one, other)
    world.run()
    assert world.component(1) == {1, 4}
    assert publish(world, 1, "x = 1") == []
    world.connect(1, 2)
    world.run()
    assert publish(world, 1, "x = 1") == ["a"]


def test_options_do_not_change_what_clients_receive() -> None:
    answers = set()
    for options in (
        Options(),
        Options(covering="pairwise"),
        Options(covering="none"),
        Options(merging="perfect"),
        Options(merging="imperfect"),
        Options(batching=True),
    ):
        world = World(star(4), "acyclic", options)
        for client, at, text in (
            ("a", 2, "x > 1"),
            ("b", 2, "x > 3"),
            ("c", 3, "x < 1"),
        ):
            subscribe(world, client, at, text)
        answers.add(tuple(tuple(publish(world, 4, f"x = {x}")) for x in range(5)))
    assert len(answers) == 1


def test_a_world_that_never_rests_is_stopped() -> None:
    scheduler = Scheduler()
    scheduler.events_max = 100

    def again() -> None:
        scheduler.after(1, again)

    again()
    with pytest.raises(LimitError, match="EVENTS_MAX"):
        scheduler.run()


@pytest.mark.parametrize(
    ("network", "architecture", "forwarding", "reason"),
    [
        (ring(4), "acyclic", "subscription", "the link between 3 and 4 closes a cycle"),
        (ring(3), "hierarchical", "subscription", "the link between 2 and 3 closes"),
        (chain(3), "hierarchical", "advertisement", "a hierarchical network does not"),
        (chain(3), "centralised", "advertisement", "a centralised network does not"),
        (chain(3), "hybrid", "subscription", "the link between 1 and 2 has no role"),
        (
            Topology([], brokers=[1, 2]),
            "hierarchical",
            "subscription",
            "broker 2 is not below 1",
        ),
    ],
)
def test_what_does_not_fit_together_is_refused(
    network: Topology, architecture: Architecture, forwarding: str, reason: str
) -> None:
    options = Options(forwarding=forwarding)  # type: ignore[arg-type]
    with pytest.raises(SienaError) as refused:
        World(network, architecture, options)
    assert str(refused.value).startswith(reason)


def test_a_client_is_at_one_broker_at_a_time() -> None:
    world = World(chain(2), "acyclic")
    world.ask(world.client("a", 1), Subscribe(parse_filter("x any")))
    with pytest.raises(SienaError, match="client 'a' is at broker 1, not 2"):
        world.client("a", 2)
