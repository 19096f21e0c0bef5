"""How to draw networks: small ones, on purpose with many ties."""

import networkx as nx
from hypothesis import strategies as st

from siena.routing.topology import Link, Topology


@st.composite
def topologies(
    draw: st.DrawFn,
    *,
    brokers_max: int = 7,
    weights: tuple[int, ...] = (1, 1, 2, 3),
    extra_max: int = 5,
) -> Topology:
    """A connected network of two brokers or more; weights meet often."""
    count = draw(st.integers(2, brokers_max))
    weight = st.sampled_from(weights)
    links = {
        (draw(st.integers(1, broker - 1)), broker): draw(weight)
        for broker in range(2, count + 1)
    }
    pairs = st.tuples(st.integers(1, count), st.integers(1, count))
    for one, other in draw(st.lists(pairs, max_size=extra_max)):
        if one < other and (one, other) not in links:
            links[one, other] = draw(weight)
    return Topology([Link(*ends, w) for ends, w in links.items()])


def graph(topology: Topology) -> "nx.Graph[int]":
    """The same network as another library's graph, for a second opinion."""
    found: nx.Graph[int] = nx.Graph()
    found.add_nodes_from(topology.brokers)
    for one, other, weight in topology.links:
        found.add_edge(one, other, weight=weight)
    return found
