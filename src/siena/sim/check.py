"""Trying worlds: random things happen to a random world, and invariants are watched.

A world goes through rounds.  In each of them a few things happen at once, while
messages are on their way; then it comes to rest, and is compared with the oracle.
The seed of a world is all that is needed to see it again.
"""

import random
from dataclasses import dataclass, replace

from siena.errors import LimitError
from siena.messages import Advertise, Interest, Stamp, Subscribe
from siena.model import Filter, Notification, Pattern, Predicate
from siena.sim.clients import Client
from siena.sim.invariants import Invariants, Violation
from siena.sim.network import Fault
from siena.sim.random_world import (
    CLIENTS,
    exactly,
    random_advertisement,
    random_filter,
    random_notification,
    random_pattern,
    random_world,
)
from siena.sim.steps import Op, Step, perform
from siena.sim.world import World

ROUNDS = 12
STEPS_MAX = 4
# Who comes to some rounds, wants everything, and goes; and what is published then.
VISITOR = "visitor"
PUBLISHED_AFTER = 6

# So often an interest is a pattern.
PATTERNS = 0.2

# Worlds as small as these come to rest after a few hundred.
EVENTS_MAX = 20_000
# So often something is drawn that matches one step of a pattern and no other.
PROBES_MAX = 40

# What may happen, each as often as it is listed.
_CALM: list[Op] = [
    *("subscribe",) * 6,
    *("unsubscribe",) * 3,
    *("advertise",) * 3,
    "unadvertise",
    *("publish",) * 4,
    *("suspend", "resume", "map_identity"),
]
_GENTLE: list[Op] = [
    *("subscribe", "unsubscribe", "unsubscribe", "advertise"),
    *("publish",) * 4,
    *("move", "move"),
]
_STORM: list[Op] = [
    *("disconnect", "disconnect", "lose", "duplicate"),
    *("connect",) * 3,
    *("crash", "restart", "restart"),
    *("subscribe", "unsubscribe", "publish", "publish"),
]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a world."""

    seed: int
    description: str
    deliveries: int
    violation: str | None


def try_world(seed: int) -> Outcome:
    """Make the world of a seed, let things happen to it, and judge it.

    >>> try_world(1).violation is None
    True
    """
    rng = random.Random(seed)
    world = random_world(rng)
    trial = Trial(world, rng)
    violation = None
    try:
        trial.run()
    except (LimitError, Violation) as found:
        violation = str(found)
    return Outcome(seed, describe(world), trial.invariants.deliveries, violation)


def describe(world: World) -> str:
    """The architecture and the options of a world in one line."""
    options = world.options
    return (
        f"{world.architecture}, {len(world.topology.brokers)} brokers, "
        f"{options.forwarding} forwarding, covering {options.covering}, "
        f"merging {options.merging}{', batching' if options.batching else ''}"
    )


class Trial:
    """One world, what happens to it, and its invariants."""

    def __init__(self, world: World, rng: random.Random) -> None:
        self.world = world
        self.world.scheduler.events_max = EVENTS_MAX
        self.invariants = Invariants(world)
        self.rng = rng
        # Publishers whose advertisements may not be in force everywhere.
        self._unheard: set[str] = set()
        for name in (*CLIENTS, VISITOR):
            world.client(name, rng.choice(world.topology.brokers))

    def run(self) -> None:
        """All rounds; storms begin after some calm ones, and calm follows them."""
        for number in range(ROUNDS):
            if number % 3 == 2 and self.world.edges:
                self._round(_STORM)
            elif number % 3 == 1:
                self._gentle_round()
            else:
                self._round(_CALM)
        for broker in self.world.topology.brokers:
            self._restart(broker)
        for one, other in sorted(self.world.edges):
            self.world.connect(one, other)
        self._rest()

    def _round(self, ops: list[Op]) -> None:
        self.invariants.expects_order = ops is not _STORM
        for _ in range(self.rng.randint(1, STEPS_MAX)):
            self._happen(self.rng.choice(ops))
            self._wait()
        self._rest()

    def _wait(self) -> None:
        """Let some of what is on its way arrive, and some broker send its batch."""
        world = self.world
        if self.rng.random() < 0.5:
            world.scheduler.run(world.scheduler.now + self.rng.random())
        if world.options.batching:
            world.flush(self.rng.choice(world.topology.brokers))

    def _rest(self) -> None:
        self.world.run()
        self.world.network.heal()
        self.invariants.expects_order = True
        self.invariants.rest()
        for _ in range(3):
            publisher = self.rng.choice(list(self.world.clients.values()))
            self.invariants.publish(publisher, self._notification(publisher))
        self._probe()

    def _probe(self) -> None:
        """Publish what some pattern waits for, again and again, and nothing else.

        What matches one step alone is the same to every broker that looks for a part of
        the pattern, whatever part.  Each time something may be missed, or be taken for
        a sequence that began earlier; the last time, all begin anew.
        """
        world = self.world
        waiting = [
            c
            for c in world.clients.values()
            if c.patterns and not c.is_suspended and world.access(c.at) in world.routers
        ]
        if not waiting:
            return
        client = self.rng.choice(waiting)
        pattern = self.rng.choice(client.patterns)
        chosen = [self._only_match(pattern, step) for step in pattern]
        notifications = [found for found in chosen if found is not None]
        if len(notifications) < len(pattern):
            return
        within = self.invariants.within_reach(client)
        # Often one of them publishes all: then parts may be looked for elsewhere.
        one = self.rng.choice(within)
        publishers = [
            one if self.rng.random() < 0.7 else self.rng.choice(within) for _ in pattern
        ]
        sequence = list(zip(publishers, notifications, strict=True))
        offers = [
            Step(op="advertise", client=who.name, at=who.at, advertisement=exactly(n))
            for who, n in sequence
            if world.options.is_advertising and not who.offers(n)
        ]
        for offer in offers:
            perform(world, offer)
        world.run()
        for _ in range(len(pattern)):
            for publisher, notification in sequence:
                self.invariants.publish(publisher, notification)
        self.invariants.publish_sequence(client, pattern, sequence)
        for offer in offers:
            perform(world, replace(offer, op="unadvertise"))
        world.run()

    def _only_match(self, pattern: Pattern, step: Predicate) -> Notification | None:
        """Something that matches this step and no other."""
        for _ in range(PROBES_MAX):
            found = random_notification(self.rng)
            if [s for s in pattern if s.matches(found)] == [step]:
                return found
        return None

    def _gentle_round(self) -> None:
        """Nothing breaks: then nothing may be lost that clients go on wanting.

        What others cancel, move or ask for meanwhile changes nothing for them.
        """
        world = self.world
        steady = {
            c.name: list(c.filters)
            for c in world.clients.values()
            if not c.is_suspended and world.access(c.at) in world.routers
        }
        owed: dict[str, set[Stamp]] = {name: set() for name in steady}
        self._unheard.clear()
        visitor = self._invite()
        for _ in range(self.rng.randint(2, 2 * STEPS_MAX)):
            op = self.rng.choice(_GENTLE)
            if op == "publish":
                self._owe(steady, owed)
            else:
                client = self._happen(op)
                if op == "advertise":
                    self._unheard.add(client.name)
                elif op == "unsubscribe":  # it has changed its mind
                    owed.pop(client.name, None)
                    steady.pop(client.name, None)
            self._wait()
        if visitor is not None and visitor.coming_from is None:
            owed.pop(VISITOR, None)
            steady.pop(VISITOR, None)
            self._ask_for_all("unsubscribe", visitor)
            for _ in range(PUBLISHED_AFTER):
                self._owe(steady, owed)
                world.scheduler.run(world.scheduler.now + self.rng.random())
        world.run()
        self._check_owed(owed)
        self._rest()

    def _invite(self) -> Client | None:
        """Sometimes let a client want everything, which covers what all others want."""
        world = self.world
        visitor = world.clients[VISITOR]
        is_there = world.access(visitor.at) in world.routers
        if self.rng.random() < 0.5 or visitor.coming_from is not None or not is_there:
            return None
        self._ask_for_all("subscribe", visitor)
        world.run()
        return visitor

    def _ask_for_all(self, op: Op, visitor: Client) -> None:
        step = Step(op=op, client=VISITOR, at=visitor.at, interest=Filter())
        perform(self.world, step)

    def _owe(self, steady: dict[str, list], owed: dict[str, set[Stamp]]) -> None:  # type: ignore[type-arg]
        world = self.world
        publisher = self.rng.choice(list(world.clients.values()))
        notification = self._notification(publisher)
        access = world.access(publisher.at)
        if access not in world.routers:
            return
        is_offered = not world.options.is_advertising or publisher.offers(notification)
        # What a publisher advertises now, or at its new broker, has yet to be heard.
        is_steady = (
            publisher.name not in self._unheard or not world.options.is_advertising
        )
        stamp = Stamp(access, world.epochs[access], world.routers[access].published)
        within = {c.name for c in self.invariants.within_reach(publisher)}
        if is_offered and is_steady:
            for name, filters in steady.items():
                if name in within and any(f.matches(notification) for f in filters):
                    owed[name].add(stamp)
        world.publish(publisher, notification)

    def _check_owed(self, owed: dict[str, set[Stamp]]) -> None:
        for name, stamps in owed.items():
            got = {notify.stamp for notify in self.world.clients[name].received}
            if not stamps <= got:
                missing = sorted(stamps - got)
                raise Violation(f"{name} lost {missing}, which it wanted all the time")

    # --- What happens ---------------------------------------------------------------

    def _happen(self, op: Op) -> Client:
        """Let something happen; to which client, if it happens to one."""
        client = self.rng.choice(list(self.world.clients.values()))
        if op in {"connect", "disconnect", "lose", "duplicate", "crash", "restart"}:
            self._change_network(op)
        elif op == "move":
            self._move(client)
        elif client.coming_from is None:  # others wait until they have arrived
            self._ask(op, client)
        return client

    def _ask(self, op: Op, client: Client) -> None:
        if op in {"suspend", "resume", "map_identity"}:
            self.invariants.forgive(client.name)
        is_pattern = self.rng.random() < PATTERNS
        perform(
            self.world,
            Step(
                op=op,
                client=client.name,
                at=client.at,
                queue=self.rng.choice((0, 0, 2, 50)),
                handler=self.rng.choice(
                    (client.name, f"{client.name}1", f"{client.name}2")
                ),
                interest=(random_pattern if is_pattern else random_filter)(self.rng),
                advertisement=random_advertisement(self.rng),
                notification=self._notification(client),
            ),
        )

    def _move(self, client: Client) -> None:
        to = self.rng.choice(self.world.topology.brokers)
        is_up = {client.at, to} <= self.world.routers.keys() and to != client.at
        is_here = client.coming_from is None and not client.is_suspended
        # Only within reach: between parts of a network there is no way to lose nothing.
        if is_here and is_up and to in self.world.component(client.at):
            self.invariants.forgive(client.name)
            self._unheard.add(client.name)
            self.world.move(client, to, 1_000)

    def _change_network(self, op: Op) -> None:
        world, rng = self.world, self.rng
        if op == "crash":
            broker = rng.choice(world.topology.brokers)
            world.crash(broker)
            for client in self._clients_of(broker):
                client.is_suspended = False
                client.quenched.clear()
                self.invariants.forget(client.name)
        elif op == "restart":
            self._restart(rng.choice(world.topology.brokers))
        elif world.edges:
            one, other = rng.choice(sorted(world.edges))
            if op == "connect":
                world.connect(one, other)
            elif op == "disconnect":
                world.disconnect(one, other)
            else:
                fault: Fault = "lost" if op == "lose" else "duplicated"
                world.spoil_frame(one, other, fault)
                # Without traffic no frame is spoiled before everything rests.
                for ask in (*("subscribe",) * 2, "unsubscribe", "publish"):
                    self._happen(ask)

    def _restart(self, broker: int) -> None:
        """The clients of a broker that comes back ask for everything again."""
        world = self.world
        if broker in world.routers or world.access(broker) != broker:
            return
        world.restart(broker)
        for client in self._clients_of(broker):
            if client.handler != client.name:
                world.map_identity(client, client.handler)
            for advertisement in client.advertisements:
                world.ask(client, Advertise(advertisement))
            interests: list[Interest] = [*client.filters, *client.patterns]
            for interest in interests:
                world.ask(client, Subscribe(interest))

    def _clients_of(self, broker: int) -> list[Client]:
        world = self.world
        return [c for c in world.clients.values() if world.access(c.at) == broker]

    def _notification(self, publisher: Client) -> Notification:
        """Any; where publishers advertise, often one that they have advertised."""
        for _ in range(4):
            found = random_notification(self.rng)
            if not self.world.options.is_advertising or publisher.offers(found):
                return found
        return random_notification(self.rng)
