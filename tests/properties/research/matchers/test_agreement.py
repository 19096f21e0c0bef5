"""Every matcher gives the answers of the reference, whatever came and went before.

To put another matcher to the test, add it to ``MATCHERS``: a name, and something that
makes an empty one.
"""

from collections.abc import Callable, Iterable
from functools import cache

import pytest
from hypothesis import event, given, strategies as st

from siena.lang import parse_filter, parse_predicate
from siena.matching.matcher import Matcher, UnknownFilterError
from siena.matching.reference import ReferenceMatcher
from siena.matching.table import ForwardingTable
from siena.model import Constraint, Filter, Kind, Notification, Operator, Predicate
from siena.research.matchers.counting import CountingMatcher
from siena.research.matchers.link_matching import LinkMatcher
from siena.research.matchers.poset_matcher import PosetMatcher
from siena.research.matchers.tree import TreeMatcher
from strategies import (
    NAMES,
    filters,
    kinds_of_one_family,
    notifications,
    predicates,
    values_of,
)

MATCHERS: dict[str, Callable[[], Matcher]] = {
    "reference": ReferenceMatcher,
    "engine": ForwardingTable,
    "counting": CountingMatcher,
    "poset": PosetMatcher,
    "tree": TreeMatcher,
    "plain tree": lambda: TreeMatcher(
        trivial_test_elimination=False, delayed_branching=False
    ),
    "tree without delays": lambda: TreeMatcher(delayed_branching=False),
    "tree with trivial tests": lambda: TreeMatcher(trivial_test_elimination=False),
    "tree in the order of names": lambda: TreeMatcher(["x", "y", "z"]),
    "tree in an order that grows": lambda: TreeMatcher([]),
    "tree factored once": lambda: TreeMatcher(factoring=1),
    "tree factored twice": lambda: TreeMatcher(["x", "y"], factoring=2),
    "links": LinkMatcher,
}

Step = Filter | Predicate | Notification | int
"""An interest comes, something is published, or an interest goes, by its number."""

INTERFACES = 3


@cache
def equalities() -> st.SearchStrategy[Filter]:
    """Filters of equalities that often meet: trees and tables treat them apart."""
    every = [
        *(Constraint(name, Operator.EQ, v) for name in NAMES for v in (0, 1, True)),
        *(Constraint(name, Operator.EQ, 1, Kind.FLOAT) for name in NAMES),
    ]
    one = st.sampled_from(every)
    return st.lists(one, max_size=3, unique_by=lambda c: c.name).map(Filter)


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    """What happens to a matcher, from its first interest on.

    Kinds are drawn once for all, so that interests and notifications meet.
    """
    kinds = draw(kinds_of_one_family())
    some = st.sampled_from((0, 1, 1.0, True)) | values_of(kinds)
    filters_ = filters(kinds, max_size=3, papers=True)
    interest = equalities() | filters_ | predicates(kinds, papers=True)
    published = notifications(of=some)
    step = st.one_of(interest, interest, published, st.integers(0, 9))
    begin = draw(st.lists(interest, max_size=6))
    asked = draw(st.lists(published, min_size=1, max_size=3))
    return [*begin, *asked, *draw(st.lists(step, max_size=12)), *asked]


@given(histories())
def test_every_matcher_agrees_with_the_reference(history: list[Step]) -> None:
    """All at once: drawing a history takes longer than living through it."""
    reference = ReferenceMatcher()
    matchers = {name: make() for name, make in MATCHERS.items()}
    for step in history:
        wanted = answer(reference, step)
        for name, matcher in matchers.items():
            assert answer(matcher, step) == wanted, name
    check_inside(matchers.values())


def answer(matcher: Matcher, step: Step) -> object:
    """What the matcher says to a step."""
    if isinstance(step, Notification):
        found = matcher.match_filters(step)
        event(f"matching interests: {min(len(found), 2)} or more")
        return found, matcher.match(step)
    if isinstance(step, int):
        return refusal(matcher, step), len(matcher)
    return matcher.add(len(matcher) % INTERFACES, step), len(matcher)


def refusal(matcher: Matcher, number: int) -> str:
    """What the matcher says against a removal, if anything."""
    try:
        matcher.remove(number)
    except UnknownFilterError as error:
        return str(error)
    return ""


def check_inside(matchers: Iterable[Matcher]) -> None:
    for matcher in matchers:
        if isinstance(matcher, PosetMatcher):
            matcher.check()
        if isinstance(matcher, TreeMatcher):
            matcher.tree.check()


@pytest.mark.parametrize("make", MATCHERS.values(), ids=MATCHERS)
class TestEveryMatcher:
    """What a property might find only now and then."""

    def test_kinds_never_blur(self, make: Callable[[], Matcher]) -> None:
        matcher = make()
        for text in ("integer x = 1", "float x = 1.0", "x = true", "x = 1", "x = 1.0"):
            matcher.add(0, parse_filter(text))
        assert matcher.match_filters({"x": 1}) == [0, 3, 4]
        assert matcher.match_filters({"x": 1.0}) == [1, 3, 4]
        assert matcher.match_filters({"x": True}) == [2]

    def test_numbers_are_compared_exactly(self, make: Callable[[], Matcher]) -> None:
        matcher = make()
        matcher.add(0, parse_filter(f"x = {2**53 + 1}"))
        matcher.add(0, parse_filter(f"x = {2.0**53!r}"))
        assert matcher.match_filters({"x": 2**53 + 1}) == [0]
        assert matcher.match_filters({"x": 2**53}) == [1]
        assert matcher.match_filters({"x": 2.0**53}) == [1]

    def test_an_absent_attribute_satisfies_nothing(
        self, make: Callable[[], Matcher]
    ) -> None:
        matcher = make()
        for text in ("x != 1", "x any", "x < 1, y any"):
            matcher.add(0, parse_filter(text))
        assert matcher.match_filters({"y": 1}) == []

    def test_the_empty_filter_matches_everything_and_no_filter_nothing(
        self, make: Callable[[], Matcher]
    ) -> None:
        matcher = make()
        matcher.add(4, Filter())
        matcher.add(5, Predicate())
        assert matcher.match_filters({}) == [0]
        assert matcher.match({"x": 1}) == {4}

    def test_a_predicate_is_found_once_and_goes_as_a_whole(
        self, make: Callable[[], Matcher]
    ) -> None:
        matcher = make()
        both = parse_predicate("integer x = 4 or integer x > 3 and integer x < 5")
        matcher.add(1, both)
        matcher.add(2, parse_filter("integer x = 4"))
        assert matcher.match_filters({"x": 4}) == [0, 1]
        matcher.remove(0)
        assert matcher.match_filters({"x": 4}) == [1]
        assert matcher.match({"x": 4}) == {2}

    def test_an_impossible_filter_comes_and_goes_unnoticed(
        self, make: Callable[[], Matcher]
    ) -> None:
        matcher = make()
        never = parse_filter("x > 5, x < 3")
        assert [matcher.add(0, never), matcher.add(0, never)] == [0, 1]
        assert matcher.match_filters({"x": 4}) == []
        matcher.remove(0)
        matcher.remove(1)
        assert len(matcher) == 0

    def test_numbers_are_never_given_again(self, make: Callable[[], Matcher]) -> None:
        matcher = make()
        assert matcher.add(0, Filter()) == 0
        matcher.remove(0)
        assert matcher.add(0, Filter()) == 1
        with pytest.raises(UnknownFilterError, match="nothing is held under number 0"):
            matcher.remove(0)
