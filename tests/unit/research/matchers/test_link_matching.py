"""Link matching: the trits of the specification's example, and what a search saves."""

from collections.abc import Collection, Mapping

import pytest
from hypothesis import given, strategies as st

from conformance.kit import Case, case_of
from siena.lang import parse_filter
from siena.model import Filter, Notification, Value
from siena.research.matchers.link_matching import LinkMatcher
from siena.research.matchers.tree import TreeMatcher
from strategies import filters, kinds_of_one_family, notifications, values_of

EXAMPLE = case_of("link-matching", "T-D10")


def example_matcher(
    domains: Mapping[str, Collection[Value]] | None = None,
) -> LinkMatcher:
    matcher = LinkMatcher(EXAMPLE["attributes"], domains=domains)
    for link, text in EXAMPLE["subscriptions"]:
        matcher.add(link, parse_filter(text))
    return matcher


def trits(matcher: LinkMatcher, *path: str) -> str:
    return "".join(trit.value for trit in matcher.annotations()[path].values())


@pytest.mark.parametrize(
    "node",
    EXAMPLE["annotations"],
    ids=["T_D10_1", "T_D10_2", "T_D10_star", "T_D10_root"],
)
def test_annotations(node: Case) -> None:
    path = [node["branch"]] if node["branch"] else []
    assert trits(example_matcher(), *path) == node["trits"]


@pytest.mark.parametrize(
    ("domain", "wanted"),
    [
        *(
            pytest.param(domain["values"], domain["root"], id=f"T_D10_{which}_domain")
            for which, domain in zip(
                ("whole", "wider"), EXAMPLE["domains"], strict=True
            )
        ),
        # Filters ask for the number, whatever its kind.
        pytest.param([1, 2.0], "YMM", id="T_D10_domain_of_two_kinds"),
    ],
)
def test_a_domain_that_is_known_decides_more(domain: list[Value], wanted: str) -> None:
    assert trits(example_matcher({"a1": domain})) == wanted


@pytest.mark.parametrize(
    "event",
    # Visited by the first: the root; a1 = 1 and its a2 = 2; then the star and its
    # a2 = 2, for L3.  By the second: the root; a1 = 2, decided without a test of a2;
    # the star.
    EXAMPLE["events"],
    ids=["T_D10_event_12", "T_D10_event_21", "T_D10_event_32"],
)
def test_events(event: Case) -> None:
    matcher = example_matcher()
    a1, a2 = event["values"]
    assert matcher.match(Notification(a1=a1, a2=a2)) == set(event["links"])
    assert matcher.visits == event["nodes"]


def test_only_links_that_lead_away_from_the_source_are_asked_for() -> None:
    matcher = example_matcher()
    matcher.lead(source=8, links=[1])
    matcher.lead(source=9, links=[3, 4])
    notification = Notification(a1=1, a2=2)
    assert matcher.match(notification, source=8) == {1}
    assert matcher.visits == 2  # a1 = 1 says Yes, and nothing else is open
    assert matcher.match(notification, source=9) == {3}


def test_a_change_renews_the_annotations() -> None:
    matcher = example_matcher()
    assert trits(matcher, "a1 = 1") == "YMN"
    number = matcher.add(3, parse_filter("a1 = 1"))
    assert trits(matcher, "a1 = 1") == "YMY"
    matcher.remove(number)
    matcher.remove(0)
    assert trits(matcher, "a1 = 1") == "NMN"


def test_without_filters_there_are_no_links() -> None:
    matcher = LinkMatcher()
    assert matcher.annotations() == {}
    assert matcher.match({"x": 1}) == frozenset()


@st.composite
def subscriptions(draw: st.DrawFn) -> tuple[list[Filter], list[Notification]]:
    kinds = draw(kinds_of_one_family())
    some = draw(st.lists(filters(kinds, max_size=3, papers=True), max_size=8))
    asked = st.lists(notifications(of=values_of(kinds)), min_size=1, max_size=4)
    return some, draw(asked)


@given(subscriptions(), st.sets(st.integers(0, 2)))
def test_links_are_those_of_the_filters_that_match(
    case: tuple[list[Filter], list[Notification]], leading: set[int]
) -> None:
    """And no more nodes are visited than by a search for all filters."""
    some, asked = case
    links, tree = LinkMatcher("xyz"), TreeMatcher("xyz")
    links.lead(source=5, links=leading)
    for number, f in enumerate(some):
        links.add(number % 3, f)
        tree.add(number % 3, f)
    for notification in asked:
        wanted = tree.match(notification)
        assert links.match(notification) == wanted
        assert links.visits <= tree.visits
        links.visits = tree.visits = 0
        assert links.match(notification, source=5) == wanted & leading
        links.visits = 0


@given(subscriptions())
def test_a_domain_changes_no_answer(
    case: tuple[list[Filter], list[Notification]],
) -> None:
    """As long as it holds for the notifications."""
    some, asked = case
    domain = [n["x"] for n in asked if "x" in n]
    plain, told = LinkMatcher("xyz"), LinkMatcher("xyz", domains={"x": domain})
    for number, f in enumerate(some):
        plain.add(number % 3, f)
        told.add(number % 3, f)
    for notification in asked:
        if "x" in notification:
            assert told.match(notification) == plain.match(notification)
            assert told.visits <= plain.visits
