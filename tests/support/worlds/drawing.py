"""Drawing scripts: everything in them follows from one seed."""

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import count

from siena.algebra.covering import covers_advertisement, covers_filter
from siena.model import Advertisement, Constraint, Notification, Operator
from siena.routing.options import Covering, Merging, Options
from siena.routing.topology.topology import Link, Topology
from siena.sim.architecture import Architecture
from siena.sim.clients import Client
from siena.sim.random_world import (
    exactly,
    random_advertisement,
    random_filter,
    random_notification,
)
from siena.sim.steps import Op, Step
from worlds.script import (
    ABSENT_KEPT,
    ALL_KEPT,
    FEW_KEPT,
    NONE_KEPT,
    NUMBER,
    Ends,
    Hurried,
    Kind,
    Round,
    Script,
)

BROKERS_MAX = 5
CLIENTS = ("ann", "bob", "cat", "dan", "eve")
ROUNDS = 5
STEPS_MAX = 5
# How many publish when everything rests, and how many each at most.
PUBLISHERS = 2
IN_A_ROW_MAX = 3
# So often a link is slow, and so often no link is up in the beginning.
SLOW_SHARE = 0.3
APART_SHARE = 0.2
# So often something is published where a client is about to move away; and so often it
# is drawn anew, until the client wants it.
CHASED_SHARE = 0.6
WANTED_DRAWS = 6

# What may happen, each as often as it is listed.
_OPS: dict[Kind, list[Op]] = {
    "calm": [
        *("subscribe",) * 5,
        *("unsubscribe",) * 3,
        *("advertise",) * 2,
        "unadvertise",
        *("publish",) * 4,
        *("suspend", "suspend", "resume", "resume", "move", "move"),
    ],
    "gentle": ["subscribe", *("publish",) * 5, *("move",) * 3],
    "storm": [
        *("disconnect",) * 3,
        *("connect",) * 3,
        *("subscribe", "unsubscribe", "publish", "publish", "publish"),
    ],
}


def draw_script(seed: int) -> Script:
    """The script of a seed.

    >>> draw_script(7) == draw_script(7)
    True
    """
    rng = random.Random(f"script {seed}")
    architectures: tuple[Architecture, ...] = ("hierarchical", "acyclic", "general")
    architecture = rng.choice(architectures)
    topology = _topology(rng, architecture)
    options = _options(rng)
    if architecture == "hierarchical":
        options = replace(options, forwarding="subscription")
    clients = {name: rng.choice(topology.brokers) for name in CLIENTS}
    links = [(link.one, link.other) for link in topology.links]
    slow = frozenset(link for link in links if rng.random() < SLOW_SHARE)
    is_apart = rng.random() < APART_SHARE
    writer = _Writer(rng, topology, options, clients, links if is_apart else [])
    return Script(
        seed=seed,
        architecture=architecture,
        topology=topology,
        options=options,
        latency=rng.choice(((0.0, 0.0), (0.05, 0.1), (0.0, 0.2))),
        slow=slow,
        is_apart=is_apart,
        clients=clients,
        rounds=tuple(writer.rounds()),
    )


def _topology(rng: random.Random, architecture: Architecture) -> Topology:
    brokers = range(1, rng.randint(1, BROKERS_MAX) + 1)
    links = [Link(rng.randint(1, n - 1), n, rng.randint(1, 5)) for n in brokers[1:]]
    if architecture == "general":
        linked = {(link.one, link.other) for link in links}
        pairs = [(a, b) for a in brokers for b in brokers if a < b]
        spare = [pair for pair in pairs if pair not in linked]
        rng.shuffle(spare)
        links += [Link(*p, rng.randint(1, 5)) for p in spare[: rng.randint(0, 3)]]
    return Topology(links, brokers=brokers)


def _options(rng: random.Random) -> Options:
    coverings: tuple[Covering, ...] = ("exact", "exact", "pairwise", "none")
    mergings: tuple[Merging, ...] = ("none", "none", "none", "perfect", "imperfect")
    return Options(
        forwarding=rng.choice(("subscription", "advertisement")),
        covering=rng.choice(coverings),
        merging=rng.choice(mergings),
        quench=rng.random() < 0.5,
        paths=rng.choice(("tree", "tree", "reverse")),
    )


class _Writer:
    """Writes steps that make sense: it knows who is where, and which links are up."""

    def __init__(
        self,
        rng: random.Random,
        topology: Topology,
        options: Options,
        clients: dict[str, int],
        down: list[Ends],
    ) -> None:
        self._rng = rng
        self._brokers = topology.brokers
        self._links = [(link.one, link.other) for link in topology.links]
        self._down = set(down)
        self._is_advertising = options.is_advertising
        self._clients = {name: Client(name, at) for name, at in clients.items()}
        # Those who moved in this round: they do nothing else in it.
        self._moving: set[str] = set()
        self._numbers = count(1)

    def rounds(self) -> Iterator[Round]:
        """All rounds; in the last everything is up again."""
        kinds: list[Kind] = ["calm", "gentle", "storm"]
        yield self._opening()
        for number in range(ROUNDS):
            kind = kinds[number % len(kinds)]
            if kind == "storm" and not self._links:
                kind = "calm"
            yield self._round(kind)
        up = [self._connect(link) for link in sorted(self._down)]
        yield Round("storm", tuple(Hurried(step, 0.0) for step in up), self._judged())

    def _opening(self) -> Round:
        """All clients ask for something, at once: else there is little to deliver."""
        ops: tuple[Op, ...] = ("subscribe", "advertise")
        asked = [
            self._ask(op, client) for client in self._clients.values() for op in ops
        ]
        hurried = [Hurried(step, 0.0) for step in asked if step is not None]
        return Round("calm", tuple(hurried), self._judged())

    def _round(self, kind: Kind) -> Round:
        self._moving.clear()
        hurried: list[Hurried] = []
        for _ in range(self._rng.randint(2, STEPS_MAX)):
            for step in self._steps(self._rng.choice(_OPS[kind])):
                pause = self._rng.choice((0.0, 0.0, self._rng.random()))
                hurried.append(Hurried(step, pause))
        return Round(kind, tuple(hurried), self._judged())

    def _judged(self) -> tuple[Step, ...]:
        return tuple(
            self._publish(self._clients[name])
            for name in self._rng.sample(CLIENTS, PUBLISHERS)
            for _ in range(self._rng.randint(1, IN_A_ROW_MAX))
        )

    # --- One step -------------------------------------------------------------------

    def _steps(self, op: Op) -> Iterator[Step]:
        """A step of this kind, if there can be one now; some have another before."""
        if op in {"connect", "disconnect"}:
            step = self._change_link(op)
        else:
            client = self._clients[self._rng.choice(CLIENTS)]
            if client.name in self._moving:
                return
            if op == "move" and self._rng.random() < CHASED_SHARE:
                yield self._chase(client)
            step = self._step(op, client)
        if step is not None:
            yield step

    def _step(self, op: Op, client: Client) -> Step | None:
        if op == "move":
            return self._move(client)
        if op == "publish":
            return self._publish(client)
        if op in {"suspend", "resume"}:
            return self._pause(op, client)
        return self._ask(op, client)

    def _chase(self, client: Client) -> Step:
        """Published next to one who is about to move: others will get it later."""
        near = [c for c in self._clients.values() if c.at == client.at]
        publisher = self._rng.choice(near)
        step = self._publish(publisher)
        for _ in range(WANTED_DRAWS):
            if step.notification is not None and client.wants(step.notification):
                break
            step = self._publish(publisher)
        return step

    def _ask(self, op: Op, client: Client) -> Step | None:
        interest, advertisement = random_filter(self._rng), None
        if op == "subscribe":
            client.subscribe(interest)
        elif op == "unsubscribe":
            if client.filters and self._rng.random() < 0.7:
                interest = self._rng.choice(client.filters)
            if not any(covers_filter(interest, f) for f in client.filters):
                return None
            client.unsubscribe(interest)
        else:
            advertisement = self._advertisement(client)
            if op == "advertise":
                client.advertise(advertisement)
            else:
                if client.advertisements:
                    advertisement = self._rng.choice(client.advertisements)
                known = client.advertisements
                if not any(covers_advertisement(advertisement, a) for a in known):
                    return None
                client.unadvertise(advertisement)
        return Step(
            op=op,
            client=client.name,
            at=client.at,
            interest=interest,
            advertisement=advertisement,
        )

    def _advertisement(self, client: Client) -> Advertisement:
        """One that admits the number of a notification; often a plain one."""
        drawn = random_advertisement(self._rng)
        if not client.advertisements or self._rng.random() < 0.3:
            drawn = exactly(random_notification(self._rng))
        return Advertisement([*drawn, Constraint(NUMBER, Operator.ANY, None)])

    def _publish(self, client: Client) -> Step:
        found = random_notification(self._rng)
        for _ in range(6):  # often something that was advertised
            if not self._is_advertising or client.offers(found):
                break
            found = random_notification(self._rng)
        numbered = Notification({**found, NUMBER: next(self._numbers)})
        return Step(
            op="publish", client=client.name, at=client.at, notification=numbered
        )

    def _pause(self, op: Op, client: Client) -> Step | None:
        if (op == "suspend") == client.is_suspended:
            return None
        client.is_suspended = op == "suspend"
        queue = self._rng.choice((NONE_KEPT, FEW_KEPT, ALL_KEPT, ABSENT_KEPT))
        return Step(op=op, client=client.name, at=client.at, queue=queue)

    def _move(self, client: Client) -> Step | None:
        old, new = client.at, self._rng.choice(self._brokers)
        # Between brokers that do not reach each other there is no way to lose nothing.
        is_cut = (min(old, new), max(old, new)) in self._down
        if new == old or is_cut or new not in self._reached(old):
            return None
        client.at = new
        client.is_suspended = False
        self._moving.add(client.name)
        queue = self._rng.choice((ALL_KEPT, ABSENT_KEPT))
        return Step(op="move", client=client.name, at=old, to=new, queue=queue)

    def _change_link(self, op: Op) -> Step | None:
        up = [link for link in self._links if link not in self._down]
        among = sorted(self._down) if op == "connect" else up
        if not among:
            return None
        link = self._rng.choice(among)
        if op == "connect":
            return self._connect(link)
        self._down.add(link)
        return Step(op="disconnect", at=link[0], to=link[1])

    def _connect(self, link: Ends) -> Step:
        self._down.discard(link)
        return Step(op="connect", at=link[0], to=link[1])

    def _reached(self, broker: int) -> set[int]:
        reached = {broker}
        for _ in self._brokers:
            for one, other in self._links:
                if (one, other) not in self._down and reached & {one, other}:
                    reached |= {one, other}
        return reached
