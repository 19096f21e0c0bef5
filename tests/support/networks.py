"""How to draw networks: small ones, on purpose with many ties."""

from collections.abc import Mapping

import networkx as nx
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from siena.lang.parser import parse_predicate
from siena.model import Notification
from siena.research.schemes.network import Network
from siena.routing.topology.topology import Link, Topology
from siena.routing.topology.trees import Tree


def print_topology(topology: Topology) -> str:
    """The topology as text, which reads back as an equal one."""
    lines: list[str] = []
    for broker in topology.brokers:
        role = topology.roles.get(broker)
        lines.append(f"broker {broker} {role}" if role else f"broker {broker}")
    lines += [f"link {one} {other} {weight}" for one, other, weight in topology.links]
    return "".join(f"{line}\n" for line in lines)


@st.composite
def topologies(
    draw: st.DrawFn,
    *,
    brokers: tuple[int, int] = (2, 7),
    weights: tuple[int, ...] = (1, 1, 2, 3),
    extra: tuple[int, int] = (0, 5),
) -> Topology:
    """A connected network, a tree with some pairs linked; weights meet often."""
    count = draw(st.integers(*brokers))
    weight = st.sampled_from(weights)
    links = {
        (draw(st.integers(1, broker - 1)), broker): draw(weight)
        for broker in range(2, count + 1)
    }
    pairs = st.tuples(st.integers(1, count), st.integers(1, count))
    low, high = extra
    for pair in draw(st.lists(pairs, min_size=low, max_size=high)):
        one, other = sorted(pair)
        if one < other and (one, other) not in links:
            links[one, other] = draw(weight)
    return Topology([Link(*ends, w) for ends, w in links.items()])


def webs() -> SearchStrategy[Topology]:
    """Networks with several ways between most brokers."""
    return topologies(brokers=(4, 7), extra=(3, 8))


def graph(topology: Topology) -> "nx.Graph[int]":
    """The same network as another library's graph, for a second opinion."""
    found: nx.Graph[int] = nx.Graph()
    found.add_nodes_from(topology.brokers)
    for one, other, weight in topology.links:
        found.add_edge(one, other, weight=weight)
    return found


# --- Messages to whom one likes ---------------------------------------------------


def addressed(
    topology: Topology, *, trees: Mapping[int, Tree] | None = None
) -> Network:
    """The network in which each broker wants what has its number as an attribute."""
    wanted = {b: parse_predicate(f"to{b} any") for b in topology.brokers}
    return Network(topology, wanted, trees=trees)


def message_to(*brokers: int) -> Notification:
    """A notification that exactly these brokers want."""
    return Notification({f"to{broker}": 1 for broker in brokers})
