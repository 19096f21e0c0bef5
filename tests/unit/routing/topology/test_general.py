"""Networks with cycles: trees, duplicates, and pruning that loses nothing.

The scripts stand in ``conformance/general.json``.
"""

import random
from itertools import pairwise, product

import pytest
from hypothesis import given, strategies as st

from conformance.kit import Case
from conformance.scripts import play, variants
from routing.wires import Wires
from siena.messages import Notify, Side
from siena.routing.options import Options, Paths
from siena.routing.topology.spreading import Trees, trees_of

AREA = "general"


def mesh(weights: dict[tuple[int, int], float], paths: Paths = "tree") -> Wires:
    return Wires(list(weights), Options(paths=paths), side=Side.MESH, weights=weights)


def random_mesh(seed: int, brokers: int) -> dict[tuple[int, int], float]:
    """A random tree and some more links, so that there are cycles."""
    rng = random.Random(seed)
    links = {(rng.randrange(1, n), n): 1.0 for n in range(2, brokers + 1)}
    for _ in range(brokers // 2):
        one, other = sorted(rng.sample(range(1, brokers + 1), 2))
        links[one, other] = rng.choice((1.0, 1.0, 2.0, 3.5))
    return links


@pytest.mark.parametrize("case", variants(AREA, "T-B24"), ids=["tree", "reverse"])
def test_T_B24_a_ring_delivers_once_and_never_loops(case: Case) -> None:
    play(case)


@pytest.mark.parametrize("paths", ["tree", "reverse"])
@pytest.mark.parametrize("seed", range(6))
def test_T_B24_random_networks_deliver_what_flooding_would(
    seed: int, paths: Paths
) -> None:
    rng = random.Random(seed)
    brokers = rng.randrange(10, 31)
    wires = mesh(random_mesh(seed, brokers), paths)
    wanted = {}
    for client in "abcdefgh":
        bound = wanted[client] = rng.randrange(5)
        wires.subscribe(client, rng.randrange(1, brokers + 1), f"x > {bound}")
    wires.check()
    for value in range(6):
        receivers, links = wires.publish(
            "p", rng.randrange(1, brokers + 1), f"x = {value}"
        )
        assert receivers == sorted(c for c, bound in wanted.items() if value > bound)
        assert len(links) == len(set(links))


@pytest.mark.parametrize("case", variants(AREA, "T-B24b"), ids=["tree", "reverse"])
def test_T_B24b_covering_alone_must_not_prune_across_trees(case: Case) -> None:
    play(case)


def test_inside_a_tree_no_second_copy_is_sent() -> None:
    """One copy for each broker that the tree leads through, and none dropped."""
    for seed in range(4):
        wires = mesh(random_mesh(seed, 12))
        for client, broker in zip("abcd", (3, 6, 9, 12), strict=True):
            wires.subscribe(client, broker, "x any")
        before = len(wires.sent)
        wires.publish("p", 1, "x = 1")
        copies = [s[1] for s in wires.sent[before:] if isinstance(s[2], Notify)]
        assert len(copies) == len(set(copies))


def test_when_a_link_goes_others_take_over_and_hand_back() -> None:
    wires = mesh({(1, 2): 1, (2, 3): 1, (3, 4): 1, (1, 4): 5})
    wires.subscribe("s", 1, "x > 0")
    assert wires.publish("p", 4, "x = 1")[1] == [
        "4→3 notify",
        "3→2 notify",
        "2→1 notify",
    ]
    wires.cut(2, 3)
    wires.check()
    assert wires.publish("p", 4, "x = 1") == (["s"], ["4→1 notify"])
    wires.connect(2, 3, Side.MESH, 1)
    wires.check()
    assert len(wires.publish("p", 4, "x = 1")[1]) == 3


def test_what_a_lost_part_wanted_is_forgotten() -> None:
    wires = mesh({(1, 2): 1, (2, 3): 1})
    wires.subscribe("s", 3, "x > 0")
    wires.cut(2, 3)
    assert wires.interests(1) == wires.interests(2) == {}


def test_T_B24_advertisements_work_in_networks_with_cycles_too() -> None:
    for seed in range(6):
        rng = random.Random(seed)
        links = random_mesh(seed, 9)
        options = Options(forwarding="advertisement")
        wires = Wires(list(links), options, side=Side.MESH, weights=links)
        wires.advertise("p", 1, "integer x any")
        wires.advertise("q", 9, "integer y any")
        wires.subscribe("a", rng.randrange(1, 10), "x > 0")
        wires.subscribe("b", rng.randrange(1, 10), "x > 3")
        wires.subscribe("c", rng.randrange(1, 10), "y > 0")
        assert wires.publish("p", 1, "x = 5")[0] == ["a", "b"]
        assert wires.publish("p", 1, "y = 5")[0] == []
        assert wires.publish("q", 9, "y = 5")[0] == ["c"]
        wires.check()


@given(st.integers(0, 10_000))
def test_trees_are_symmetric(seed: int) -> None:
    """Both ways between two brokers are the same way."""
    links = random_mesh(seed, 8)
    trees = trees_of(frozenset((a, b, w) for (a, b), w in links.items()))
    for one in range(1, 9):
        for other in range(one + 1, 9):
            way = [other]
            while way[-1] != one:
                parent = trees.parent(one, way[-1])
                assert parent is not None
                way.append(parent)
            assert all(trees.is_child(other, b, of=a) for a, b in pairwise(way))
            assert trees.distance(one, other) == trees.distance(other, one)


@given(st.integers(0, 10_000))
def test_trees_are_shortest(seed: int) -> None:
    """Against Bellman and Ford, who look at all links again and again."""
    links = random_mesh(seed, 8)
    trees = trees_of(frozenset((a, b, w) for (a, b), w in links.items()))
    both = [*links.items(), *(((b, a), w) for (a, b), w in links.items())]
    distances = {1: 0.0}
    for _ in range(8):
        for (a, b), weight in both:
            if a in distances:
                distances[b] = min(distances.get(b, 1e9), distances[a] + weight)
    assert distances == {n: trees.distance(1, n) for n in range(1, 9)}
    for broker in range(2, 9):
        behind = {n for n in range(1, 9) if broker in _way(trees, 1, n)}
        assert trees.behind(1, broker) == behind


@given(st.integers(0, 10_000))
def test_reach_is_the_inclusion_of_what_lies_behind(seed: int) -> None:
    links = random_mesh(seed, 8)
    trees = trees_of(frozenset((a, b, w) for (a, b), w in links.items()))
    brokers = range(1, 9)
    for neighbour in brokers:
        behind = {o: trees.behind(o, neighbour) for o in brokers}
        for one, other in product(brokers, repeat=2):
            reaches = trees.reaches(neighbour, one, other)
            assert reaches == (behind[one] <= behind[other])
    for origin, broker in product(brokers, repeat=2):
        children = {n for n in brokers if trees.is_child(origin, n, of=broker)}
        assert set(trees.children(origin, broker)) == children


def _way(trees: Trees, origin: int, broker: int) -> set[int]:
    found = {broker}
    while (parent := trees.parent(origin, broker)) is not None:
        found.add(parent)
        broker = parent
    return found
