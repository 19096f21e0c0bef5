"""The ways of today are counted as they work: each beside something obvious."""

from itertools import pairwise, product
from random import Random

import pytest

from siena.block import encode
from siena.lang import parse_filter
from siena.research.schemes.ways import (
    KEY_NAMES,
    SUBJECT_NAMES,
    Links,
    Publication,
    Subscriber,
    address_of,
    costs_of,
    includes,
    subject_of,
)
from siena.research.studies.runs.ways import (
    WORKLOADS,
    draw_filter,
    draw_notification,
)
from siena.routing.topology.trees import minimum_spanning_tree, tree_below
from siena.sim.topologies.drawn import barabasi_albert
from siena.sim.topologies.regular import chain


@pytest.mark.parametrize("workload", WORKLOADS)
@pytest.mark.parametrize("names", [SUBJECT_NAMES, KEY_NAMES])
def test_a_subject_has_everything_in_it_that_its_filter_selects(
    workload: str, names: tuple[str, ...]
) -> None:
    random = Random(f"{workload}/{names}")
    quotes = [draw_notification(random) for _ in range(200)]
    for _ in range(50):
        f = draw_filter(workload, random)
        subject = subject_of(f, names)
        for quote in quotes:
            if f.matches(quote):
                assert includes(subject, address_of(quote, names))


def test_an_expression_includes_another_if_it_matches_all_that_it_matches() -> None:
    """Compared over all addresses of two letters and up to four tokens."""
    addresses = [a for length in (1, 2, 3, 4) for a in product("xy", repeat=length)]
    expressions = [
        *((a, b) for a in "x*" for b in "x*>"),
        *((a, b, c) for a in "x*" for b in "y*" for c in "x*>"),
        (">",),
        ("x",),
        ("*",),
    ]
    for wide in expressions:
        for narrow in expressions:
            selected = [a for a in addresses if includes(narrow, a)]
            assert includes(wide, narrow) == all(includes(wide, a) for a in selected), (
                wide,
                narrow,
            )


def test_links_between_brokers_are_those_on_the_ways_to_them() -> None:
    tree = minimum_spanning_tree(barabasi_albert(20, seed=3))
    links, random = Links(tree), Random(7)
    for _ in range(100):
        source = random.choice(tree.brokers)
        targets = random.sample(tree.brokers, random.randint(0, 6))
        below = tree_below(tree, source)
        ways = {
            frozenset(link)
            for target in targets
            for link in pairwise(below.path(target))
        }
        assert links.crossed(source, sum(1 << t for t in targets)) == len(ways)


def test_each_way_is_counted_on_a_chain_of_three() -> None:
    """One publisher at one end, a wide and a narrow interest at the other."""
    random = Random(1)
    quote = draw_notification(random)
    symbol = quote["symbol"]
    filters = draw_filter("band", random), draw_filter("symbol", Random(5))
    subscribers = [Subscriber(f, 3) for f in filters]
    costs = costs_of(chain(3), subscribers, [Publication(quote, 1)])
    wanted = sum(f.matches(quote) for f in filters)
    assert costs["content"].links == (2 if wanted else 0)
    assert costs["flooding"].links == 2
    assert costs["consumer"].links == 4  # from the log at one end to two consumers
    assert costs["consumer"].wasted == 2 - wanted
    assert costs["subject"].links == 2  # a band is a subject that takes everything
    assert costs["subject"].wasted == 2 - wanted - (
        f"symbol = {symbol}" != str(filters[1])
    )
    assert costs["flat"].entries == 4  # two filters over two links
    assert costs["keys"].entries == 2  # the band's expression includes the other


def test_bytes_are_those_of_the_block_and_of_what_a_way_writes_beside_it() -> None:
    tree = chain(2)
    one, other = tree.brokers
    quote = draw_notification(Random(1))
    costs = costs_of(
        tree, [Subscriber(parse_filter("price any"), other)], [Publication(quote, one)]
    )
    block = len(encode(quote))
    subject = ".".join(address_of(quote, SUBJECT_NAMES))
    key = "/".join(address_of(quote, KEY_NAMES))
    topic = str(quote["class"]).split("/", maxsplit=1)[0]
    assert costs["content"].octets == costs["flooding"].octets == block
    assert costs["subject"].octets == block + len(subject)
    assert costs["keys"].octets == block + len(key)
    # From the log, which is at the first broker, to the one consumer.
    assert costs["consumer"].octets == block + len(topic)
