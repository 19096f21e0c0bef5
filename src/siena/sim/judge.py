"""The judge: says of a world whether it did what it must.

Always: a client gets only what it asked for, and nothing twice, and in order unless
routes change or reverse paths are followed.  When nothing is on its way any more: every
neighbour holds what the declarative rule says, a publisher that is quenched has nobody
who wants anything from it, and a publication made then reaches exactly those whom the
oracle names.

Reference:
    The design, part 9; our specification, A.8 and A.9 for what is not promised.
"""

from collections.abc import Iterable

from siena.algebra.overlap import overlaps
from siena.messages import Message, Notify, Stamp
from siena.model import Notification
from siena.sim.clients import Client, expected
from siena.sim.world import World


class Violation(AssertionError):  # noqa: N818 -- it is not an error of the program
    """A world did what it must not do."""


class Judge:
    """Watches a world from the beginning."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.deliveries = 0
        # While routes do not change, what one broker publishes arrives in order.
        self.expects_order = True
        self._last: dict[tuple[str, int, int], int] = {}
        self._seen: dict[str, set[Stamp]] = {}
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
        if not isinstance(message, Notify):
            return
        self.deliveries += 1
        n = message.notification
        if client.name not in self._replayed and not client.wants(n):
            raise Violation(f"{client.name} got {n}, which it does not want")
        seen = self._seen.setdefault(client.name, set())
        if message.stamp in seen:
            raise Violation(f"{client.name} got {n} twice")
        seen.add(message.stamp)
        self._check_order(client, message)

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

    def publish(self, publisher: Client, notification: Notification) -> None:
        """Publish when nothing else is on its way, and compare with the oracle."""
        before = {name: len(c.received) for name, c in self.world.clients.items()}
        self.world.publish(publisher, notification)
        self.world.run()
        got = {
            name
            for name, c in self.world.clients.items()
            if len(c.received) > before[name]
        }
        advertising = self.world.options.is_advertising
        wanted = expected(
            notification,
            publisher,
            self.within_reach(publisher),
            advertising=advertising,
        )
        if got != wanted:
            raise Violation(
                f"{notification} of {publisher.name} at {publisher.at} reached "
                f"{sorted(got)}, and was wanted by {sorted(wanted)}"
            )

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
                    overlaps(advertisement, f) for c in others for f in c.filters
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


def _list(pairs: Iterable[tuple[object, int]]) -> list[str]:
    return sorted(f"{item} of {origin}" for item, origin in pairs)
