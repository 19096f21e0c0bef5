"""A world: simulated brokers, their links and their clients, in virtual time.

The brokers are real routers; what is simulated is what lies between them.  Clients are
next to their brokers: what they ask for is handled at once, and what they are sent
arrives at once.  In a centralised world there is one broker, and what clients ask for
and get goes over all links between it and the site where they are.
"""

import random
from collections.abc import Callable, Iterable
from itertools import pairwise
from types import MappingProxyType

from siena.errors import SienaError
from siena.messages import (
    Elsewhere,
    Flush,
    Found,
    Interface,
    Leave,
    LinkState,
    Listing,
    Lost,
    MapIdentity,
    Message,
    Move,
    Moved,
    Notify,
    Outbox,
    Parcel,
    PeerDisconnect,
    PeerRefuse,
    Publish,
    Quenched,
    Side,
    Unquenched,
    verb,
)
from siena.model import Notification
from siena.routing.options import Options
from siena.routing.router import Router
from siena.routing.topology.link_state import LinkStates
from siena.routing.topology.topology import Topology
from siena.routing.topology.trees import Tree, shortest_path_tree
from siena.sim.architecture import Architecture, Edge, Sides, edges_of, plain
from siena.sim.clients import Client
from siena.sim.network import Ends, Fault, Network, ends
from siena.sim.scheduler import Scheduler

Heard = Callable[[Client, Message], None]


class World:
    """Brokers and clients, and what happens to them.

    >>> from siena import parse_filter
    >>> from siena.messages import Subscribe
    >>> from siena.sim.topologies.regular import chain
    >>> world = World(chain(3), "acyclic")
    >>> world.ask(world.client("a", 3), Subscribe(parse_filter("x > 3")))
    True
    >>> world.run()
    >>> world.publish(world.client("p", 1), Notification(x=5))
    >>> world.run()
    >>> [notify.notification["x"] for notify in world.clients["a"].received]
    [5]
    >>> world.network.sent
    [(3, 2, 'subscribe'), (2, 1, 'subscribe'), (1, 2, 'notify'), (2, 3, 'notify')]

    Every message takes between ``latency[0]`` and ``latency[1]``, drawn from a
    generator made from ``seed``; so the same arguments give the same world.  In a
    ``flat`` one brokers compare no interests until they have a neighbour.
    """

    def __init__(
        self,
        topology: Topology,
        architecture: Architecture,
        options: Options = Options(),  # noqa: B008 -- frozen
        *,
        sides: Sides = MappingProxyType({}),
        seed: int = 0,
        latency: tuple[float, float] = (0, 0),
        flat: bool = False,
    ) -> None:
        self.topology = topology
        self.architecture = architecture
        self.options = options
        self.edges: dict[Ends, Edge] = {
            edge.ends: edge for edge in edges_of(topology, architecture, options, sides)
        }
        self.rng = random.Random(seed)
        self.scheduler = Scheduler()
        self.network = Network(self.scheduler, self._arrive, self._delay)
        self.clients: dict[str, Client] = {}
        # Whose deliveries each handler gets.
        self.handlers: dict[str, str] = {}
        self.heard: Heard | None = None
        self.epochs = dict.fromkeys(self._brokers(), 0)
        self.routers: dict[int, Router] = {}
        self._latency = latency
        self._is_flat = flat
        self._ways: dict[Ends, list[tuple[int, int, float]]] = {}
        self._centre: Tree | None = None
        self._preload()

    # --- Clients --------------------------------------------------------------------

    def client(self, name: str, at: int) -> Client:
        """The client of that name; a new one is at this broker."""
        if at not in self.topology:
            raise SienaError(f"there is no broker {at}")
        if name in self.handlers and name not in self.clients:
            raise SienaError(f"{name!r} is a handler of {self.handlers[name]!r}")
        client = self.clients.setdefault(name, Client(name, at))
        if client.at != at:
            raise SienaError(f"client {name!r} is at broker {client.at}, not {at}")
        return client

    def ask(self, client: Client, message: Message) -> bool:
        """Let a client ask its broker for something; is it there?"""
        return self.ask_at(self.access(client.at), client, message)

    def ask_at(self, broker: int, client: Client, message: Message) -> bool:
        """Let a client ask a broker that need not be its own; is it there?"""
        if broker not in self.routers:
            return False
        self._cross(client.at, broker, verb(message))
        self._send(broker, self.routers[broker].handle(message, client.name))
        return True

    def move(self, client: Client, to: int, queue_max: int) -> None:
        """Let a client go to another broker, with what was kept for it meanwhile."""
        old, client.at = client.at, to
        if self.access(old) == self.access(to):
            return
        client.is_suspended = True
        client.coming_from = old
        client.quenched.clear()  # the new broker will say
        self.ask_at(old, client, Leave(queue_max))
        if client.handler != client.name:
            self.ask_at(to, client, MapIdentity(client.handler))
        self.ask_at(to, client, Move(queue_max))

    def map_identity(self, client: Client, handler: str) -> None:
        """Let what is for a client be delivered elsewhere, and resume."""
        if handler != client.name:
            if handler in self.clients:
                raise SienaError(f"{handler!r} is a client, and no handler")
            owner = self.handlers.setdefault(handler, client.name)
            if owner != client.name:
                raise SienaError(f"{handler!r} is a handler of {owner!r}")
        client.handler = handler
        client.is_suspended = False
        self.ask(client, MapIdentity(handler))

    def publish(self, client: Client, notification: Notification) -> None:
        """Let a client publish."""
        self.ask(client, Publish(notification, self.scheduler.now))

    def access(self, site: int) -> int:
        """The broker of a site: the one there, or the only one."""
        return self._brokers()[0] if self.architecture == "centralised" else site

    # --- Time -----------------------------------------------------------------------

    def run(self) -> None:
        """Go on until nothing is on its way."""
        self.scheduler.run()
        while self.options.batching and self._flush():
            self.scheduler.run()

    def flush(self, broker: int) -> None:
        """Let a broker send what it holds back."""
        if broker in self.routers:
            self._send(broker, self.routers[broker].handle(Flush(), "the clock"))

    def _flush(self) -> bool:
        before = self.network.account.counts.total()
        for broker in sorted(self.routers):
            self.flush(broker)
        return self.network.account.counts.total() > before

    # --- Links and brokers ----------------------------------------------------------

    def connect(self, one: int, other: int) -> None:
        """Let a link of the network come up, if both of its ends are."""
        edge = self.edges[ends(one, other)]
        if edge.ends in self.network or not {one, other} <= self.routers.keys():
            return
        self.network.open(one, other, edge.weight)
        out = self.routers[edge.one].connect(edge.other, edge.side, edge.weight)
        self._send(edge.one, out)

    def disconnect(self, one: int, other: int) -> None:
        """Let a link break; both ends notice."""
        if ends(one, other) not in self.network:
            return
        self.network.close(one, other)
        for here, there in ((one, other), (other, one)):
            if here in self.routers:
                self._send(here, self.routers[here].handle(PeerDisconnect(), there))

    def spoil_frame(self, one: int, other: int, fault: Fault) -> None:
        """Lose or duplicate the next frame of a link; when that is noticed, it breaks.

        Both ends forget, connect again, and tell each other everything.
        """

        def broken() -> None:
            self.disconnect(one, other)
            self.connect(one, other)

        if ends(one, other) in self.network:
            self.network.fail_next(one, other, fault, broken)

    def crash(self, broker: int) -> None:
        """Let a broker forget everything and be gone, and its links with it."""
        if self.routers.pop(broker, None) is not None:
            for one, other in self.network.links():
                if broker in {one, other}:
                    self.disconnect(one, other)

    def restart(self, broker: int) -> None:
        """Let it come back with nothing but its number and its links."""
        if broker in self.routers:
            return
        self.epochs[broker] += 1
        self.routers[broker] = self._router(broker)
        for one, other in sorted(self.edges):
            if broker in {one, other}:
                self.connect(one, other)

    def component(self, broker: int) -> set[int]:
        """The brokers that can be reached from one over links that are up."""
        beside: dict[int, list[int]] = {}
        for one, other in self.network.links():
            beside.setdefault(one, []).append(other)
            beside.setdefault(other, []).append(one)
        reached = {broker}
        waiting = [broker]
        while waiting:
            fresh = set(beside.get(waiting.pop(), ())) - reached
            reached |= fresh
            waiting += fresh
        return reached

    # --- Inside ---------------------------------------------------------------------

    def _brokers(self) -> tuple[int, ...]:
        brokers = self.topology.brokers
        return brokers[:1] if self.architecture == "centralised" else brokers

    def _router(self, broker: int) -> Router:
        return Router(
            broker, self.options, epoch=self.epochs[broker], flat=self._is_flat
        )

    def _preload(self) -> None:
        """All brokers begin with their links, as if they had been configured."""
        beside: dict[int, list[tuple[int, Side, float]]] = {
            b: [] for b in self._brokers()
        }
        for edge in self.edges.values():
            beside[edge.one].append((edge.other, edge.side, edge.weight))
            beside[edge.other].append((edge.one, edge.side.opposite, edge.weight))
            self.network.open(edge.one, edge.other, edge.weight)
        states = LinkStates(
            LinkState(
                b, (0, 1), tuple(sorted((n, w) for n, s, w in links if s is Side.MESH))
            )
            for b, links in beside.items()
        )
        states.trees()  # once for all of them
        for broker, links in beside.items():
            self.routers[broker] = self._router(broker)
            self.routers[broker].preload(
                sorted(links, key=lambda link: link[0]), states
            )

    def _delay(self) -> float:
        low, high = self._latency
        return low if low == high else self.rng.uniform(low, high)

    def _arrive(self, source: int, target: int, message: Message) -> None:
        self._send(target, self.routers[target].handle(message, source))

    def _send(
        self, broker: int, out: Outbox | Iterable[tuple[Interface, Message]]
    ) -> None:
        for interface, message in out:
            if isinstance(interface, int):
                self.network.send(broker, interface, message)
            elif isinstance(interface, Elsewhere):
                self._ask_elsewhere(broker, self.clients[str(interface)], message)
            elif isinstance(message, (Listing, Parcel)):
                self._answer_elsewhere(self.clients[interface], message)
            else:
                client = self.clients[self.handlers.get(interface, interface)]
                if isinstance(message, (Notify, Found)):
                    client.reached = interface
                self._cross(broker, client.at, verb(message))
                is_stale = isinstance(message, (Quenched, Unquenched)) and (
                    broker != self.access(client.at)  # it has moved on
                )
                if not is_stale:
                    self._hear(client, message)

    def _ask_elsewhere(self, broker: int, client: Client, message: Message) -> None:
        """Let a broker ask the one that a client comes from, as that client."""
        old = client.coming_from
        if isinstance(message, PeerDisconnect) or old is None:
            return

        def asked() -> None:
            if old in self.routers:
                self._send(old, self.routers[old].handle(message, client.name))
            else:
                self._answer_elsewhere(client, PeerRefuse(f"broker {old} is down"))

        self._cross(broker, old, verb(message))
        self.scheduler.after(self._delay(), asked)

    def _answer_elsewhere(self, client: Client, message: Message) -> None:
        """Let the broker that a client comes from answer the one where it is now."""

        def answered() -> None:
            broker = self.access(client.at)
            if broker in self.routers:
                out = self.routers[broker].handle(message, Elsewhere(client.name))
                self._send(broker, out)

        self.scheduler.after(self._delay(), answered)

    def _hear(self, client: Client, message: Message) -> None:
        if isinstance(message, Notify):
            client.received.append(message)
        elif isinstance(message, Found):
            client.found.append(message)
        elif isinstance(message, Quenched):
            client.quenched.add(message.advertisement)
        elif isinstance(message, Unquenched):
            client.quenched.discard(message.advertisement)
        elif isinstance(message, Lost):
            client.lost += message.count
        elif isinstance(message, Moved):
            client.coming_from = None
            client.is_suspended = False
        if self.heard is not None:
            self.heard(client, message)

    def _cross(self, source: int, target: int, kind: str) -> None:
        """Account for what goes between a client and a broker at another site."""
        if source == target or self.architecture != "centralised":
            return
        way = self._ways.get((source, target))
        if way is None:
            way = self._ways[source, target] = self._way(source, target)
        for here, there, weight in way:
            self.network.record(here, there, kind, weight)

    def _way(self, source: int, target: int) -> list[tuple[int, int, float]]:
        """The links of the shortest way between two sites, with their weights."""
        centre = self.access(source)
        if self._centre is None:
            self._centre = shortest_path_tree(self.topology, centre)
        site = target if source == centre else source
        if site not in self._centre:
            raise SienaError(f"there is no way from {source} to {target}")
        path = self._centre.path(site)
        steps = pairwise(path if source == centre else reversed(path))
        return [(a, b, plain(self.topology.weight(a, b))) for a, b in steps]
