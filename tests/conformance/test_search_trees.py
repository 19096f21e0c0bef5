"""Search trees and link matching: what is found, on which links, in how many visits."""

from itertools import product

from conformance.kit import (
    Case,
    LinkMatcher,
    Notification,
    Predicate,
    TreeMatcher,
    each,
    parse_filter,
)
from siena.research.schemes.delivery import deliver
from siena.research.schemes.link_matching import LinkMatching
from siena.research.schemes.network import Network
from siena.routing.topology.topology import Topology

# Factoring, trivial test elimination, delayed branching.
SWITCHES = list(product((0, 1, 2), (False, True), (False, True)))
OF_OPTIMISATION = {
    "factoring": (1, False, False),
    "trivial test elimination": (0, True, False),
    "delayed branching": (0, False, True),
}


def event(case: Case, values: list[int]) -> Notification:
    return Notification(zip(case["attributes"], values, strict=True))


def tree_of(
    attributes: list[str], texts: list[str], switches: tuple[int, bool, bool]
) -> TreeMatcher:
    factoring, eliminates, delays = switches
    matcher = TreeMatcher(
        attributes,
        factoring=factoring,
        trivial_test_elimination=eliminates,
        delayed_branching=delays,
    )
    for interface, text in enumerate(texts):
        matcher.add(interface, parse_filter(text))
    return matcher


@each("search-tree", "searches")
def test_a_search_finds_these_subscriptions(case: Case) -> None:
    names = list(case["subscriptions"])
    texts = list(case["subscriptions"].values())
    for switches in SWITCHES:
        matcher = tree_of(case["attributes"], texts, switches)
        for row in case["events"]:
            found = matcher.match_filters(event(case, row["values"]))
            assert [names[number] for number in found] == row["matched"], switches


@each("search-tree", "saves")
def test_an_optimisation_saves_so_many_nodes(case: Case) -> None:
    cost = []
    for switches in ((0, False, False), OF_OPTIMISATION[case["optimisation"]]):
        matcher = tree_of(case["attributes"], case["subscriptions"], switches)
        matcher.match_filters(event(case, case["event"]))
        cost.append(matcher.visits)
    plain, optimised = cost
    assert plain - optimised == case["saved"]


# --- Link matching ----------------------------------------------------------------


def links_of(case: Case, **domains: list[int]) -> LinkMatcher:
    matcher = LinkMatcher(case["attributes"], domains=domains)
    for link, text in case["subscriptions"]:
        matcher.add(link, parse_filter(text))
    return matcher


def trits(matcher: LinkMatcher, branch: str = "") -> str:
    node = matcher.annotations()[(branch,) if branch else ()]
    return "".join(trit.value for trit in node.values())


@each("link-matching", "annotates")
def test_nodes_have_these_trits(case: Case) -> None:
    matcher = links_of(case)
    for row in case["annotations"]:
        assert trits(matcher, row["branch"]) == row["trits"]
    for row in case["domains"]:
        assert trits(links_of(case, **{row["name"]: row["values"]})) == row["root"]


@each("link-matching", "annotates")
def test_events_take_these_links_with_so_many_visits(case: Case) -> None:
    for row in case["events"]:
        matcher = links_of(case)
        assert matcher.match(event(case, row["values"])) == set(row["links"])
        assert matcher.visits == row["nodes"]


@each("link-matching", "chooses-links")
def test_in_a_network_an_event_takes_these_links(case: Case) -> None:
    topology = Topology([tuple(link) for link in case["links"]])
    wanted = {
        int(broker): Predicate(map(parse_filter, texts))
        for broker, texts in case["subscriptions"].items()
    }
    scheme = LinkMatching(Network(topology, wanted), order=case["attributes"])
    for row in case["events"]:
        message = event(case, row["values"])
        tree = deliver(scheme, topology, row["at"], message)
        links = sorted([*path[-2:]] for path in tree.paths() if len(path) > 1)
        assert links == row["links"]
