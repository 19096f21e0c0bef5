"""What brokers save that look for patterns together, carried by production routers.

Sensors publish events, each kind from one place.  A pattern is a sequence of kinds.
Either brokers factor and delegate patterns, or every client subscribes to the single
events and looks for the sequence by itself: the same routers, another way to ask.
"""

from random import Random
from typing import NamedTuple

from siena.lang import parse_advertisement, parse_filter
from siena.matching.pattern import PatternMatcher
from siena.messages import Advertise, Subscribe
from siena.model import Notification, Pattern
from siena.research.studies.framework.rows import Row, integer, number
from siena.routing.options import Options
from siena.routing.topology.trees import minimum_spanning_tree
from siena.sim.topologies.drawn import barabasi_albert
from siena.sim.world import World

STEPS = 3
PATTERNS = 20
# A moment between publications, so that each comes later than the one before.
MOMENT = 1.0


class _Plan(NamedTuple):
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
    plan = _draw(row, tree.brokers, Random(f"{seed}/patterns"))
    delegated, alone = (
        _carry(World(tree, "acyclic", _OPTIONS), plan, delegates=delegates)
        for delegates in (True, False)
    )
    return {
        "delegated_messages": delegated.messages,
        "alone_messages": alone.messages,
        "delegated_setup": delegated.setup,
        "alone_setup": alone.setup,
        "delegated_found": delegated.found,
        "alone_found": alone.found,
    }


_OPTIONS = Options(forwarding="advertisement")


class _Carried(NamedTuple):
    setup: int
    messages: int
    found: int


def _draw(row: Row, brokers: tuple[int, ...], random: Random) -> _Plan:
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
    return _Plan(patterns, sensors, clients, events)


def _carry(world: World, plan: _Plan, *, delegates: bool) -> _Carried:
    sensors = {
        kind: world.client(f"sensor-{kind}", broker)
        for kind, broker in plan.sensors.items()
    }
    for kind, sensor in sensors.items():
        world.ask(sensor, Advertise(parse_advertisement(f"kind = {kind}")))
    world.run()
    for place, (broker, wanted) in enumerate(plan.clients):
        client = world.client(f"c{place}", broker)
        pattern = plan.patterns[wanted]
        for interest in (pattern,) if delegates else pattern.steps:
            world.ask(client, Subscribe(interest))
    world.run()
    setup = world.network.account.counts.total()
    for kind in plan.events:
        world.scheduler.after(MOMENT, lambda: None)
        world.run()
        world.publish(sensors[kind], Notification(kind=kind))
        world.run()
    messages = world.network.account.counts.total() - setup
    return _Carried(setup, messages, _found(world, plan, delegates=delegates))


def _found(world: World, plan: _Plan, *, delegates: bool) -> int:
    """Sequences that clients got, or found in what they got."""
    total = 0
    for place, (_, wanted) in enumerate(plan.clients):
        client = world.clients[f"c{place}"]
        if delegates:
            total += len(client.found)
            continue
        matcher = PatternMatcher(plan.patterns[wanted])
        total += sum(
            matcher.offer(notify.notification, moment) is not None
            for moment, notify in enumerate(client.received)
        )
    return total
