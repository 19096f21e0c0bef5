"""Counting finds what a plain loop finds, whatever it skips on the way."""

import threading
from itertools import pairwise, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import strategies as tiny
from kernels import plain
from siena.lang.parser import parse_filter, parse_notification, parse_predicate
from siena.matching.matcher import Matcher, UnknownFilterError
from siena.matching.reference import ReferenceMatcher
from siena.model import Constraint, Filter, Notification, Operator, Predicate
from siena.model.limits import CONSTRAINTS_MAX
from siena.research.matchers.counting import CountingMatcher
from siena.sim.workload import SSBG, TR0605


class PlainCounting(CountingMatcher):
    """The same with uncompiled kernels."""

    counting_kernel = plain("counting")
    string_kernel = plain("strings")


MATCHERS = [CountingMatcher, PlainCounting]
FLAGS = (False, True)
both = pytest.mark.parametrize("matcher_type", MATCHERS)

# --- The forwarding table of the slides (spec, C.3.5) -----------------------------

TABLE = [
    (1, "dest = Milano and integer price < 500"),
    (1, "stock = DYS and integer quantity > 1000 and integer price < 500"),
    (2, "airline = UA and orig = Denver and dest = Milano"),
    (2, 'dest = "New York" and integer price < 200'),
    (2, "orig = Denver"),
    (2, "airline = UA and upgradeable = true"),
    (3, "stock = MSFT and integer price < 200"),
]  # fmt: skip
GOLDEN = {
    "T_C3": ("dest = Milano and price = 300 and orig = Denver", None, {1, 2}),
    "T_C4": ("airline = UA and upgradeable = true", None, {2}),
    "T_C5": ('dest = "New York" and price = 150', {1, 3}, set()),
    "T_C6": ("stock = MSFT and price = 100 and quantity = 5000", None, {3}),
    "T_C7": ("price = 600", None, set()),
    "T_C8": ("stock = MSFT and price = 100.0", None, set()),
}


def table(matcher: CountingMatcher) -> CountingMatcher:
    for interface, text in TABLE:
        matcher.add(interface, parse_filter(text))
    return matcher


@pytest.mark.parametrize("_id", ["T_C1"])
def test_equal_constraints_are_indexed_once(_id: str) -> None:
    assert table(CountingMatcher()).sizes[:3] == (7, 15, 10)


@pytest.mark.parametrize("_id", ["T_C2"])
def test_names_that_all_filters_of_an_interface_ask_for(_id: str) -> None:
    expected = [("price", frozenset({1, 3})), ("stock", frozenset({3}))]
    assert table(CountingMatcher()).selectivity == expected


@both
@pytest.mark.parametrize(("text", "allowed", "expected"), GOLDEN.values(), ids=GOLDEN)
def test_the_table_of_the_slides(
    matcher_type: type[CountingMatcher],
    text: str,
    allowed: set[int] | None,
    expected: set[int],
) -> None:
    notification = parse_notification(text)
    for rounds, bloom, early_exit in product((0, 1, 2, 10), FLAGS, FLAGS):
        matcher = matcher_type(rounds=rounds, bloom=bloom, early_exit=early_exit)
        assert table(matcher).match(notification, allowed) == expected


@both
@pytest.mark.parametrize(
    ("text", "rounds", "expected"),
    [
        pytest.param(GOLDEN["T_C3"][0], 0, set(), id="T_C3 no rounds"),
        pytest.param(GOLDEN["T_C3"][0], 1, set(), id="T_C3 it has a price"),
        pytest.param(GOLDEN["T_C3"][0], 2, {3}, id="T_C3 and no stock"),
        pytest.param(GOLDEN["T_C3"][0], 10, {3}, id="T_C3 the table has two rows"),
        pytest.param(GOLDEN["T_C4"][0], 0, set(), id="T_C4 no rounds"),
        pytest.param(GOLDEN["T_C4"][0], 1, {1, 3}, id="T_C4 no price"),
    ],
)
def test_rounds_exclude_interfaces_before_counting(
    monkeypatch: pytest.MonkeyPatch,
    matcher_type: type[CountingMatcher],
    text: str,
    rounds: int,
    expected: set[int],
) -> None:
    """In the kernel: an interface that is done and not in the answer was excluded."""
    kernel, scratch = matcher_type.counting_kernel, []

    def counter(index: object, targets: object, memory: Any, **options: bool) -> Any:  # noqa: ANN401
        scratch.append(memory)
        return kernel.Counter(index, targets, memory, **options)

    spy = SimpleNamespace(Counter=counter)
    monkeypatch.setattr(matcher_type, "counting_kernel", spy)
    matcher = table(matcher_type(rounds=rounds, early_exit=False))
    answer = matcher.match(parse_notification(text))
    done = scratch[-1]["done"].tolist()
    assert {i for i, flag in zip((1, 2, 3), done, strict=True) if flag} == (
        answer | expected
    )


STRINGS = {
    "abc": "= < > >* *< b* abc*",
    "xbc": "!= > *< b*",
    "ab": "!= < >* b*",
    "": "!= <",
}


@both
@pytest.mark.parametrize(
    ("value", "expected"), STRINGS.items(), ids=[f"T_C10 {v!r}" for v in STRINGS]
)
def test_one_index_serves_all_string_operators(
    matcher_type: type[CountingMatcher], value: str, expected: str
) -> None:
    constraints = {
        "=": (Operator.EQ, "abc"),
        "!=": (Operator.NE, "abc"),
        "<": (Operator.LT, "abd"),
        ">": (Operator.GT, "abb"),
        ">*": (Operator.PREFIX, "ab"),
        "*<": (Operator.SUFFIX, "bc"),
        "b*": (Operator.SUBSTRING, "b"),
        "abc*": (Operator.SUBSTRING, "abc"),
    }
    matcher = matcher_type()
    for operator, operand in constraints.values():
        matcher.add(0, Filter([Constraint("x", operator, operand)]))
    found = matcher.match_filters({"x": value})
    assert [list(constraints)[i] for i in found] == expected.split()


# --- The same as a loop -----------------------------------------------------------


@st.composite
def interests(draw: st.DrawFn) -> list[tuple[int, Filter | Predicate]]:
    kinds = draw(tiny.kinds_of_one_family())
    filters = tiny.filters(kinds, papers=True)
    one = filters | tiny.predicates(kinds, papers=True) | st.just(Predicate())
    return draw(st.lists(st.tuples(st.integers(0, 3), one), max_size=8))


messages = st.lists(tiny.notifications(), max_size=5)
options = st.fixed_dictionaries(
    {
        "rounds": st.integers(0, 3),
        "bloom": st.booleans(),
        "early_exit": st.booleans(),
    }
)


@both
@given(held=interests(), notifications=messages, options=options, data=st.data())
def test_the_same_as_a_loop(
    matcher_type: type[CountingMatcher],
    held: list[tuple[int, Filter | Predicate]],
    notifications: list[Notification],
    options: dict[str, Any],
    data: st.DataObject,
) -> None:
    matcher, loop = matcher_type(**options), ReferenceMatcher()
    for interface, interest in held:
        assert matcher.add(interface, interest) == loop.add(interface, interest)
    agree(matcher, loop, notifications)
    for number in data.draw(st.sets(st.sampled_from(range(len(held))))) if held else ():
        matcher.remove(number)
        loop.remove(number)
    agree(matcher, loop, notifications)
    matcher.add(9, Filter())
    loop.add(9, Filter())
    agree(matcher, loop, notifications)


def agree(
    matcher: CountingMatcher, loop: ReferenceMatcher, messages: list[Notification]
) -> None:
    assert len(matcher) == len(loop)
    expected = [loop.match_filters(m) for m in messages]
    assert [matcher.match_filters(m) for m in messages] == expected
    batch = matcher.encode(messages)
    assert rows(*matcher.match_encoded(batch)) == expected
    wanted = [sorted(loop.match(m)) for m in messages]
    assert [sorted(matcher.match(m)) for m in messages] == wanted
    assert rows(*matcher.match_interfaces(batch)) == wanted
    some = {0, 2}
    assert [matcher.match(m, some) for m in messages] == [some & {*w} for w in wanted]


def rows(offsets: NDArray[Any], values: NDArray[Any]) -> list[list[int]]:
    """What belongs to each message; equal to a sorted list only without repetition."""
    ends = offsets.tolist()
    return [sorted(values[a:b].tolist()) for a, b in pairwise(ends)]


@given(held=interests(), notification=tiny.notifications())
def test_the_order_of_attributes_does_not_matter(
    held: list[tuple[int, Filter | Predicate]], notification: Notification
) -> None:
    matcher = CountingMatcher()
    for interface, interest in held:
        matcher.add(interface, interest)
    backwards = dict(reversed(list(notification.items())))
    assert matcher.match(backwards) == matcher.match(notification)
    assert matcher.match_filters(backwards) == matcher.match_filters(notification)


@pytest.mark.parametrize("bloom", [False, True])
@pytest.mark.parametrize("rounds", [0, 10])
def test_the_papers_workloads(*, bloom: bool, rounds: int) -> None:
    matcher, loop = CountingMatcher(bloom=bloom, rounds=rounds), ReferenceMatcher()
    for interface, f in enumerate(TR0605(names=50).filters(1000)):
        matcher.add(interface % 20, f)
        loop.add(interface % 20, f)
    agree(matcher, loop, list(TR0605(names=50).notifications(20)))
    matcher, loop = CountingMatcher(bloom=bloom, rounds=rounds), ReferenceMatcher()
    for interface, predicate in enumerate(SSBG().predicates(100)):
        matcher.add(interface, predicate)
        loop.add(interface, predicate)
    agree(matcher, loop, list(SSBG().notifications(50)))


# --- Corners ----------------------------------------------------------------------


def test_it_is_a_matcher() -> None:
    matcher: Matcher = CountingMatcher()
    assert matcher.match({"x": 1}) == frozenset()
    assert matcher.match_filters({}) == []
    with pytest.raises(UnknownFilterError):
        matcher.remove(0)


@both
def test_the_largest_filter_counts_to_the_end(
    matcher_type: type[CountingMatcher],
) -> None:
    """256 constraints, one more than a byte can say."""
    full = Filter(Constraint("x", Operator.NE, n) for n in range(CONSTRAINTS_MAX))
    matcher = matcher_type()
    matcher.add(0, full)
    assert matcher.match_filters({"x": -1}) == [0]
    assert matcher.match_filters({"x": 7}) == []
    assert matcher.match_filters({"x": -1}) == [0]


@both
def test_a_message_may_match_more_than_was_expected(
    matcher_type: type[CountingMatcher],
) -> None:
    """The room for results grows in the middle of a batch."""
    matcher = matcher_type()
    for _ in range(900):
        matcher.add(1, parse_filter("x any"))
    offsets, numbers = matcher.match_batch([{"x": 1}, {"y": 1}, {"x": True}])
    assert offsets.tolist() == [0, 900, 900, 1800]
    assert sorted(numbers[900:].tolist()) == list(range(900))


@both
def test_a_predicate_is_reported_once(matcher_type: type[CountingMatcher]) -> None:
    matcher = matcher_type()
    matcher.add(4, parse_predicate("x > 0 or x > 1 or y any"))
    matcher.add(4, parse_filter("x > 0"))
    _, numbers = matcher.match_batch([{"x": 2, "y": 0}])
    assert sorted(numbers.tolist()) == [0, 1]


def test_a_batch_is_for_the_table_that_encoded_it() -> None:
    matcher = CountingMatcher()
    matcher.add(0, parse_filter("x any"))
    batch = matcher.encode([{"x": 1}])
    matcher.add(0, parse_filter("y any"))
    with pytest.raises(ValueError, match="has changed"):
        matcher.match_encoded(batch)


def test_threads_do_not_share_counters() -> None:
    matcher = CountingMatcher()
    for f in TR0605(names=50).filters(2000):
        matcher.add(0, f)
    batch = matcher.encode(TR0605(names=50).notifications(500))
    expected = rows(*matcher.match_encoded(batch))
    found: list[bool] = []

    def work() -> None:
        found.extend(rows(*matcher.match_encoded(batch)) == expected for _ in range(5))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 20


@pytest.mark.parametrize("size", [1, 10_000])
def test_matches_are_written_where_there_is_room(size: int) -> None:
    workload = TR0605(seed=3)
    matcher = CountingMatcher()
    for number, f in enumerate(workload.filters(500)):
        matcher.add(number, f)
    batch = matcher.encode(workload.notifications(50))
    out = np.empty(size, np.int32)
    offsets, numbers = matcher.match_encoded(batch, out)
    assert np.shares_memory(numbers, out) == (size == 10_000)
    expected = matcher.match_encoded(batch)
    assert offsets.tolist() == expected[0].tolist()
    assert numbers.tolist() == expected[1].tolist()
