"""What brokers save that look for patterns together, carried by production routers.

Sensors publish events, each kind from one place.  A pattern is a sequence of kinds.
Either brokers take patterns apart and delegate them, or every client subscribes to the
single events and looks for the sequence by itself: the same routers, another way to
ask.

Factoring is no third way.  A broker that takes a pattern apart and delegates no part
subscribes to its steps one by one, as the client would: what crosses links is the same.
"""

from random import Random
from typing import NamedTuple

from siena.lang import parse_advertisement, parse_filter
from siena.matching.pattern import PatternMatcher
from siena.messages import Advertise, Subscribe
from siena.model import Notification, Pattern
from siena.research.studies.framework.rows import Row, digest, integer, number
from siena.routing.options import Options
from siena.routing.topology.trees import minimum_spanning_tree
from siena.sim.topologies.drawn import barabasi_albert
from siena.sim.world import World

STEPS = 3
PATTERNS = 20
# A moment between publications, so that each comes later than the one before.
MOMENT = 1.0


class Plan(NamedTuple):
    """Who wants what, and what is published where."""

    patterns: list[Pattern]
    sensors: dict[str, int]
    """The broker at which each kind of event is published."""
    clients: list[tuple[int, int]]
    """For each client its broker, and its pattern."""
    events: list[str]


def look_for_patterns(row: Row) -> Row:
    """Messages that crossed links, with delegation and without, and what was found."""
    seed = integer(row, "seed")
    tree = minimum_spanning_tree(barabasi_albert(integer(row, "brokers"), seed=seed))
    plan = draw(row, tree.brokers, Random(f"{seed}/patterns"))
    delegated, alone = (
        carry(World(tree, "acyclic", _OPTIONS), plan, delegates=delegates)
        for delegates in (True, False)
    )
    return {
        "delegated_messages": delegated.messages,
        "alone_messages": alone.messages,
        "delegated_setup": delegated.setup,
        "alone_setup": alone.setup,
        "delegated_found": len(delegated.found),
        "alone_found": len(alone.found),
        "delegated_which": digest(delegated.found),
        "alone_which": digest(alone.found),
    }


_OPTIONS = Options(forwarding="advertisement")


# A client, and which publications made the sequence that it got.
Sequence = tuple[int, tuple[int, ...]]


class Carried(NamedTuple):
    """Messages on links before anything is published, those after, and what came."""

    setup: int
    messages: int
    found: list[Sequence]


def draw(row: Row, brokers: tuple[int, ...], random: Random) -> Plan:
    """Patterns whose kinds come from one place with the probability ``together``."""
    patterns, sensors = [], {}
    for place in range(PATTERNS):
        kinds = [f"k{place}x{step}" for step in range(STEPS)]
        home = random.choice(brokers)
        is_together = random.random() < number(row, "together")
        for kind in kinds:
            sensors[kind] = home if is_together else random.choice(brokers)
        steps = [parse_filter(f"kind = {kind}") for kind in kinds]
        patterns.append(Pattern(steps))
    clients = [
        (random.choice(brokers), random.randrange(PATTERNS))
        for _ in range(integer(row, "clients"))
    ]
    events = random.choices(list(sensors), k=integer(row, "publications"))
    return Plan(patterns, sensors, clients, events)


def carry(world: World, plan: Plan, *, delegates: bool) -> Carried:
    """Advertise, subscribe, publish; clients ask for patterns, or for their steps."""
    sensors = {
        kind: world.client(f"sensor-{kind}", broker)
        for kind, broker in plan.sensors.items()
    }
    for kind, sensor in sensors.items():
        offered = parse_advertisement(f"kind = {kind} and serial any")
        world.ask(sensor, Advertise(offered))
    world.run()
    for place, (broker, wanted) in enumerate(plan.clients):
        client = world.client(f"c{place}", broker)
        pattern = plan.patterns[wanted]
        for interest in (pattern,) if delegates else pattern.steps:
            world.ask(client, Subscribe(interest))
    world.run()
    setup = world.network.account.counts.total()
    for serial, kind in enumerate(plan.events):
        world.scheduler.after(MOMENT, lambda: None)
        world.run()
        world.publish(sensors[kind], Notification(kind=kind, serial=serial))
        world.run()
    messages = world.network.account.counts.total() - setup
    return Carried(setup, messages, _found(world, plan, delegates=delegates))


def _found(world: World, plan: Plan, *, delegates: bool) -> list[Sequence]:
    """Sequences that clients got, or found in what they got."""
    found: list[Sequence] = []
    for place, (_, wanted) in enumerate(plan.clients):
        client = world.clients[f"c{place}"]
        if delegates:
            sequences = [
                tuple(notify.notification for notify in each.sequence)
                for each in client.found
            ]
        else:
            matcher = PatternMatcher(plan.patterns[wanted])
            offered = (
                matcher.offer(notify.notification, moment)
                for moment, notify in enumerate(client.received)
            )
            sequences = [each for each in offered if each is not None]
        found += [(place, tuple(map(_serial, sequence))) for sequence in sequences]
    return found


def _serial(notification: Notification) -> int:
    serial = notification["serial"]
    assert isinstance(serial, int)
    return serial
