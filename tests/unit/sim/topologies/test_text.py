"""Topologies as text: what reads back, and what is refused with which reason."""

from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from networks import print_topology, topologies
from siena.errors import InvalidTopologyError, SienaError
from siena.routing.topology.topology import Topology
from siena.sim.topologies.examples import EXAMPLES, N12
from siena.sim.topologies.gt_itm import parse_gt_itm
from siena.sim.topologies.text import parse_shape, parse_topology


@given(topologies(weights=(1, 2)))
def test_what_is_printed_reads_back(topology: Topology) -> None:
    assert parse_topology(print_topology(topology)) == topology


def test_roles_and_exact_weights_read_back() -> None:
    topology = Topology(
        [(1, 2, 0.1), (2, 3, Fraction(1, 3)), (3, 4, 5e-324)], roles={2: "gateway"}
    )
    assert parse_topology(print_topology(topology)) == topology


def test_statements_come_in_any_order_with_comments_between() -> None:
    text = "# two\nlink 2 1 2.50 # here\n\n  broker 1 2 hub\n"
    assert parse_topology(text) == Topology(
        [(1, 2, Fraction(5, 2))], roles={1: "hub", 2: "hub"}
    )


HEAD = "broker 1 2 3\nlink 1 2\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (HEAD + "link 2 7", "line 3, column 8: there is no broker 7"),
        (HEAD + "link 2 3 -4", "line 3, column 10: the weight of link 2-3 is -4, and"),
        (HEAD + "link 2 3 0", "line 3, column 10: the weight of link 2-3 is 0, and"),
        (HEAD + "link 2 3 1/0", 'line 3, column 10: "1/0" is no weight'),
        (HEAD + "link 2 3 much", 'line 3, column 10: "much" is no weight'),
        (HEAD + "link 2 2", "line 3, column 8: broker 2 cannot be linked to itself"),
        (HEAD + "link 2 1 4", "line 3, column 10: link 2-1 is there already"),
        (HEAD + "link 2", "line 3, column 1: a link has two brokers, and a weight"),
        (HEAD + "link 2 3 4 5", "line 3, column 1: a link has two brokers"),
        (HEAD + "link 2 x", 'line 3, column 8: "x" is no number of a broker'),
        (HEAD + "bridge 2 3", 'line 3, column 1: "bridge" is no statement'),
        (HEAD + "broker 2", "line 3, column 8: broker 2 is there already"),
        (HEAD + "broker gateway", "line 3, column 8: a number of a broker is wanted"),
        (HEAD + "broker", "line 3, column 1: a number of a broker is wanted"),
        (HEAD + "broker 4 x 5", 'line 3, column 10: "x" is no number of a broker'),
        (HEAD + "broker 4 8x", "line 3, column 10: '8x' is no role"),
        (HEAD + "broker 9999999999", "line 3, column 8: 9999999999 is no number"),
        (HEAD, "the network is in pieces: nothing leads from broker 1 to broker 3"),
        ("# nothing\n", "a network has a broker or more"),
    ],
)
def test_a_bad_file_is_refused_with_line_and_reason(text: str, reason: str) -> None:
    with pytest.raises(InvalidTopologyError) as caught:
        parse_topology(text)
    assert str(caught.value).startswith(reason)


def test_where_a_tree_is_wanted_the_link_that_closes_a_cycle_is_named() -> None:
    text = "broker 1 2 3\nlink 1 2\nlink 2 3\nlink 1 3\n"
    assert len(parse_topology(text).links) == 3
    with pytest.raises(InvalidTopologyError) as caught:
        parse_topology(text, acyclic=True)
    assert str(caught.value) == (
        "line 4, column 1: link 1-3 closes a cycle (a tree is wanted)"
    )
    assert parse_topology(text.replace("link 1 3\n", ""), acyclic=True).is_tree


# Lines that nearly make a topology, in every order.
_LINES = st.sampled_from(
    [
        *("broker 1", "broker 2 hub", "broker 3", "broker 1 1", "link 1 2"),
        *("link 2 3 1.5", "link 3 1 7", "link 1 3 -1", "link 1 9", "link", "x", "#"),
    ]
)


@given(st.lists(_LINES, max_size=6) | st.text(max_size=20).map(lambda t: [t]))
def test_any_text_is_a_topology_or_refused(lines: list[str]) -> None:
    try:
        topology = parse_topology("\n".join(lines))
    except InvalidTopologyError:
        return
    assert topology.is_connected
    assert parse_topology(print_topology(topology)) == topology


@pytest.mark.parametrize(
    ("shape", "brokers", "links"),
    [
        ("chain:4", 4, 3),
        ("star:5", 5, 4),
        ("ring:4", 4, 4),
        ("tree:3x2", 13, 12),
        ("tree:3x0", 1, 0),
        ("barabasi-albert:20", 20, 37),
        ("waxman:20", 20, 37),
        ("random-tree:20", 20, 19),
        ("N12", 12, 18),
    ],
)
def test_shapes(shape: str, brokers: int, links: int) -> None:
    network = parse_shape(shape, seed=7)
    assert (len(network), len(network.links)) == (brokers, links)


@pytest.mark.parametrize(
    "shape",
    ["", "chain", "chain:", "chain:x", "chain:-1", "tree:3", "tree:3x", "ring:2"],
)
def test_other_words_are_no_shapes(shape: str) -> None:
    with pytest.raises(SienaError):
        parse_shape(shape)


def test_examples_are_as_large_as_the_specification_has_them() -> None:
    sizes = {name: (len(t), len(t.links)) for name, t in EXAMPLES.items()}
    assert sizes == {
        "N12": (12, 18),
        "N12t": (12, 18),
        "N4": (4, 4),
        "tie": (5, 5),
        "pruned": (4, 4),
        "manual": (5, 7),
        "ring7": (7, 7),
    }
    assert N12.weight(1, 6) == 3
    assert EXAMPLES["N12t"].weight(1, 6) == 2


SAMPLE = "ts 2 47\n3 0 0\n1 20 3 1.0\n4 20 3 0.6\n8 10 3 0.42\n"


def test_a_specification_of_gt_itm_draws_its_networks() -> None:
    one, other = parse_gt_itm(SAMPLE).draw()
    assert len(one) == len(other) == 100
    assert one != other
    assert one == parse_shape("transit-stub", seed=47)


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("ts 2 47", "geo 2 47", "line 1, column 1: a transit-stub network is wanted"),
        ("ts 2 47", "ts 2", "line 1, column 1: 3 words are wanted on this line"),
        ("4 20 3 0.6", "4 20 1 0.6", "line 4, column 6: method 1 is not understood"),
        ("4 20 3 0.6", "4 20 3 1.6", "line 4, column 8: 1.6 is no probability"),
        ("4 20 3 0.6", "4 x 3 0.6", 'line 4, column 3: "x" is no number'),
        ("4 20 3 0.6", "-4 20 3 0.6", 'line 4, column 1: "-4" is no whole number'),
        ("4 20 3 0.6", "0 20 3 0.6", "line 2, column 1: 0 brokers are too few here"),
        ("8 10 3 0.42\n", "", "5 lines are wanted"),
    ],
)
def test_a_bad_specification_is_refused(before: str, after: str, reason: str) -> None:
    with pytest.raises(SienaError) as caught:
        parse_gt_itm(SAMPLE.replace(before, after))
    assert str(caught.value).startswith(reason)
