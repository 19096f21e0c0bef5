"""Invariants: what says of a world whether it did what it must.

Always: a client gets only what it asked for, where it wants to have it, and nothing
twice, and in order unless routes change or reverse paths are followed.  When nothing is
on its way any more: every neighbour holds what the declarative rule says, a publisher
that is quenched has no client that wants anything from it, and a publication made then
reaches exactly those whom the oracle names.

Of patterns: what is found matches, step by step, each later than the one before, and a
sequence is found once.  Where each broker looks for whole patterns itself, it finds
what one matcher finds that is offered the same.  Where parts are looked for elsewhere
it may find others (greedy matching is not compositional); but it finds a sequence of
which nothing matches any other step, if all monitors begin to look when it is
published.

Reference:
    The design, part 9; our specification, A.8 and A.9 for what is not promised, B.11
    for patterns.
"""

from collections.abc import Iterable, Mapping
from itertools import pairwise

from siena.algebra.overlap import overlaps
from siena.matching.pattern import PatternMatcher
from siena.messages import Found, Key, Message, Notify
from siena.model import Notification, Pattern
from siena.sim.clients import Client, expected
from siena.sim.world import World


class Violation(AssertionError):  # noqa: N818 -- it is not an error of the program
    """A world did what it must not do."""


class Invariants:
    """Watches a world from the beginning."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.deliveries = 0
        # While routes do not change, what one broker publishes arrives in order.
        self.expects_order = True
        self._last: dict[tuple[str, int, int], int] = {}
        self._seen: dict[str, set[Key]] = {}
        # Clients to whom something is delivered that was kept for them.
        self._replayed: set[str] = set()
        world.heard = self.hear

    def forgive(self, client: str) -> None:
        """What comes for a client now may have been kept since it wanted something."""
        self._replayed.add(client)

    def forget(self, client: str) -> None:
        """The client's broker has crashed: it begins anew."""
        self._seen.pop(client, None)

    def hear(self, client: Client, message: Message) -> None:
        """A client has been sent something."""
        if not isinstance(message, (Found, Notify)):
            return
        self.deliveries += 1
        if client.reached != client.handler:
            where = f"{client.reached}, not {client.handler}"
            raise Violation(f"what is for {client.name} went to {where}")
        seen = self._seen.setdefault(client.name, set())
        if message.key in seen:
            raise Violation(f"{client.name} got {_say(message)} twice")
        seen.add(message.key)
        if isinstance(message, Found):
            self._check_found(client, message)
            return
        if client.name not in self._replayed and not client.wants(message.notification):
            said = _say(message)
            raise Violation(f"{client.name} got {said}, which it does not want")
        self._check_order(client, message)

    def _check_found(self, client: Client, found: Found) -> None:
        is_wanted = client.name in self._replayed or found.pattern in client.patterns
        times = [notify.time for notify in found.sequence]
        is_match = len(found.sequence) == len(found.pattern) and all(
            step.matches(notify.notification)
            for step, notify in zip(found.pattern, found.sequence, strict=True)
        )
        is_ascending = all(a < b for a, b in pairwise(times))
        if not (is_wanted and is_match and is_ascending):
            raise Violation(f"{client.name} got {_say(found)} for {found.pattern}")

    def _check_order(self, client: Client, message: Notify) -> None:
        broker, epoch, number = message.stamp
        key = client.name, broker, epoch
        is_late = number < self._last.get(key, -1)
        self._last[key] = max(number, self._last.get(key, -1))
        is_promised = self.expects_order and self.world.options.paths == "tree"
        if is_late and is_promised and client.name not in self._replayed:
            raise Violation(f"{client.name} got {message.notification} too late")

    def rest(self) -> None:
        """Nothing is on its way: the tables must be in order."""
        for number, router in self.world.routers.items():
            try:
                router.check()
            except AssertionError as error:
                raise Violation(f"broker {number} is not in order: {error}") from error
            self._check_links(number)
        self._check_quenching()
        self._replayed.clear()
        self._last.clear()

    def publish(self, publisher: Client, notification: Notification) -> float:
        """Publish when nothing else is on its way, compare with the oracle; when?"""
        world = self.world
        world.scheduler.now += 1  # patterns ask for times that differ
        before = {name: len(c.received) for name, c in world.clients.items()}
        within = self.within_reach(publisher)
        advertising = world.options.is_advertising
        is_heard = bool(within) and (not advertising or publisher.offers(notification))
        watched = [] if advertising else self._watch()
        time = world.scheduler.now
        world.publish(publisher, notification)
        world.run()
        got = {n for n, c in world.clients.items() if len(c.received) > before[n]}
        wanted = expected(notification, publisher, within, advertising=advertising)
        if got != wanted:
            raise Violation(
                f"{notification} of {publisher.name} at {publisher.at} reached "
                f"{sorted(got)}, and was wanted by {sorted(wanted)}"
            )
        for watch in watched:
            is_offered = is_heard and any(c is watch.client for c in within)
            progress = self._progress(watch.client)
            watch.compare(notification, time, progress, is_offered=is_offered)
        return time

    def publish_sequence(
        self,
        client: Client,
        pattern: Pattern,
        sequence: Iterable[tuple[Client, Notification]],
    ) -> None:
        """Publish, one after the other, what a client must be told of as a whole."""
        before = len(client.found)
        times = [self.publish(who, notification) for who, notification in sequence]
        found = [f for f in client.found[before:] if f.pattern == pattern]
        if not any([n.time for n in f.sequence] == times for f in found):
            said = [str(notification) for _, notification in sequence]
            raise Violation(f"{client.name} missed {said} for {pattern}")

    def _watch(self) -> list["_Watch"]:
        """The patterns of all clients, with what has been seen of each so far."""
        return [
            _Watch(client, pattern, accepted)
            for client in self.world.clients.values()
            for pattern, accepted in self._progress(client).items()
        ]

    def _progress(self, client: Client) -> dict[Pattern, tuple[Notify, ...]]:
        router = self.world.routers.get(self.world.access(client.at))
        if router is None:
            return {}
        progress = router.progress(client.name)
        if progress.keys() != set(client.patterns):
            looked_for = sorted(map(str, progress))
            raise Violation(f"for {client.name} its broker looks for {looked_for}")
        return progress

    def within_reach(self, publisher: Client) -> list[Client]:
        """The clients whose brokers are up and linked to that of the publisher."""
        world = self.world
        access = world.access(publisher.at)
        if access not in world.routers:
            return []
        reached = world.component(access)
        return [c for c in world.clients.values() if world.access(c.at) in reached]

    def _check_links(self, number: int) -> None:
        routers = self.world.routers
        covers = routers[number].tables.filters.order.covers
        for other, neighbour in routers[number].tables.neighbours.items():
            theirs = routers[other].tables
            names_origins = neighbour.side.value == "mesh"
            held = theirs.filters.announced_by(number)
            told = {
                (f, o if names_origins else other) for f, o in neighbour.filters.told
            }
            # An equal of a filter may stand for it at the other end.
            if len(held) != len(told) or not all(
                any(o == p and covers(f, g) and covers(g, f) for g, p in held)
                for f, o in told
            ):
                raise Violation(
                    f"broker {number} told {other} {_list(told)}, who has {_list(held)}"
                )

    def _check_quenching(self) -> None:
        options = self.world.options
        if not options.quench:
            return
        knows_all = (
            self.world.architecture in {"centralised", "acyclic", "general"}
            and options.covering != "pairwise"
            and options.merging != "imperfect"
        )
        for client in self.world.clients.values():
            router = self.world.routers.get(self.world.access(client.at))
            if router is None:
                continue
            others = self.within_reach(client)
            for advertisement in router.tables.advertisements.held_by(client.name):
                wanted = any(
                    overlaps(advertisement, f) for c in others for f in c.all_filters()
                )
                is_quenched = advertisement in client.quenched
                if is_quenched and wanted:
                    raise Violation(
                        f"{client.name} is quenched, and {advertisement} wanted"
                    )
                if knows_all and not wanted and not is_quenched:
                    raise Violation(
                        f"{client.name} is not quenched for {advertisement}"
                    )


class _Watch:
    """A pattern of a client, and one matcher that has seen what its broker has."""

    def __init__(
        self, client: Client, pattern: Pattern, accepted: tuple[Notify, ...]
    ) -> None:
        self.client = client
        self.matcher = PatternMatcher(pattern)
        for notify in accepted:
            self.matcher.offer(notify.notification, notify.time)
        self.found = len(client.found)
        if len(self.matcher.progress) != len(accepted):
            raise Violation(f"what was accepted for {pattern} does not match")

    def compare(
        self,
        notification: Notification,
        time: float,
        progress: Mapping[Pattern, tuple[Notify, ...]],
        *,
        is_offered: bool,
    ) -> None:
        """What the broker has found, and what the matcher finds."""
        pattern = self.matcher.pattern
        wanted = self.matcher.offer(notification, time) if is_offered else None
        got = [
            tuple(notify.notification for notify in f.sequence)
            for f in self.client.found[self.found :]
            if f.pattern == pattern
        ]
        is_told = wanted is not None and not self.client.is_suspended
        if got != ([wanted] if is_told else []):
            raise Violation(f"{self.client.name} got {got} for {pattern}, not {wanted}")
        seen = tuple(notify.notification for notify in progress[pattern])
        if seen != self.matcher.progress:
            raise Violation(
                f"the broker of {self.client.name} has seen {seen} of {pattern}, "
                f"not {self.matcher.progress}"
            )


def _say(message: Notify | Found) -> str:
    if isinstance(message, Notify):
        return str(message.notification)
    return str([str(notify.notification) for notify in message.sequence])


def _list(pairs: Iterable[tuple[object, int]]) -> list[str]:
    return sorted(f"{item} of {origin}" for item, origin in pairs)
