"""Networks of brokers for tests: shapes and architectures as in the simulator."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from time import perf_counter, sleep
from types import MappingProxyType, TracebackType
from typing import Self

from siena.broker.settings import Settings, as_settings
from siena.errors import SienaError
from siena.messages import Side
from siena.routing.topology.topology import Topology
from siena.sim.architecture import Architecture, Edge, Sides, edges_of
from siena.sim.topologies.text import parse_shape
from siena.testing.in_thread import ThreadBroker
from siena.testing.running import START_SECONDS

# Each has a thread; what a test of so many would show, the simulator shows better.
BROKERS_MAX = 64
_SECONDS_BETWEEN_LOOKS = 0.002


class RunningNetwork:
    """Brokers that know each other, from entering to leaving a ``with`` block.

    Brokers have the numbers of the topology, from 1: ``network[2].url``.
    """

    def __init__(
        self, topology: Topology, edges: Sequence[Edge], settings: dict[str, object]
    ) -> None:
        if len(topology.brokers) > BROKERS_MAX:
            raise SienaError(f"more than {BROKERS_MAX} brokers in one test")
        self._edges = edges
        self._settings = settings
        self._brokers: dict[int, ThreadBroker] = {}
        self._order = list(_masters_first(topology, edges))
        self._running = ExitStack()

    @property
    def urls(self) -> list[str]:
        """Where all of them listen."""
        return [broker.url for _, broker in sorted(self._brokers.items())]

    def __getitem__(self, number: int) -> ThreadBroker:
        return self._brokers[number]

    def __iter__(self) -> Iterator[ThreadBroker]:
        return iter(broker for _, broker in sorted(self._brokers.items()))

    def __len__(self) -> int:
        return len(self._brokers)

    def __enter__(self) -> Self:
        with ExitStack() as starting:
            for number in self._order:
                broker = ThreadBroker(self._settings_of(number))
                self._brokers[number] = starting.enter_context(broker)
            self.wait_for_links()
            self._running = starting.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._running.close()

    def _settings_of(self, number: int) -> Settings:
        """Of one broker; it calls those of its neighbours that run already."""
        links = []
        for edge in self._edges:
            if edge.one == number and edge.other in self._brokers:
                links.append(self._link(edge, edge.other, edge.side))
            elif edge.other == number and edge.one in self._brokers:
                links.append(self._link(edge, edge.one, edge.side.opposite))
        form = {
            "name": str(number),
            "accept_peers": True,
            **self._settings,
            "links": links,
        }
        return as_settings(form)

    def _link(self, edge: Edge, to: int, side: Side) -> dict[str, object]:
        url = self._brokers[to].url
        return {"url": url, "side": side.value, "weight": float(edge.weight)}

    def wait_for_links(self) -> None:
        """Wait until every link stands; also after a broker was started again."""
        end = perf_counter() + START_SECONDS
        while sum(broker.links for broker in self) < 2 * len(self._edges):
            if perf_counter() > end:
                raise SienaError("the brokers do not find each other")
            sleep(_SECONDS_BETWEEN_LOOKS)


def network(
    topology: str | Topology,
    architecture: Architecture = "acyclic",
    *,
    sides: Sides = MappingProxyType({}),
    **settings: object,
) -> RunningNetwork:
    """A network of brokers for the length of a ``with`` block.

    >>> import siena
    >>> with network("chain:3") as brokers:
    ...     with siena.connect(brokers[1].url) as a, siena.connect(brokers[3].url) as b:
    ...         wanted = a.subscribe("level > 3").settled()
    ...         b.publish(level=5)
    ...         print(wanted.get(timeout_s=5))
    level = 5

    Args:
        topology: a shape such as ``chain:N``, ``star:N``, ``ring:N`` or ``tree:BxD``,
            or a value.
        architecture: ``acyclic``, ``hierarchical`` (the first is the root), ``general``
            or ``hybrid``.
        sides: in a hybrid network, what the first of two takes the second for.
        settings: of :class:`siena.broker.settings.Settings`, for all of them.
    """
    if isinstance(topology, str):
        topology = parse_shape(topology)
    options = as_settings(settings).routing.options()
    edges = edges_of(topology, architecture, options, sides)
    return RunningNetwork(topology, edges, settings)


def _masters_first(topology: Topology, edges: Sequence[Edge]) -> Iterator[int]:
    """In an order in which the called one runs already: children call masters."""
    masters = {edge.one: edge.other for edge in edges if edge.side is Side.MASTER}
    masters |= {edge.other: edge.one for edge in edges if edge.side is Side.CHILD}
    started: set[int] = set()

    def start(broker: int) -> Iterator[int]:
        if broker not in started:
            started.add(broker)
            if broker in masters:
                yield from start(masters[broker])
            yield broker

    for broker in topology.brokers:
        yield from start(broker)
