"""The index of interests, beside asking each filter itself."""

import random

import pytest
from hypothesis import given, settings, strategies as st

from siena.broker.questions import interest_index
from siena.broker.questions.interest_index import InterestIndex
from siena.lang.parser import parse_interest
from siena.messages import Interest
from siena.messages.requests import filters_of
from siena.model import Filter, Notification
from siena.routing.interest_table import Holder
from strategies import filters, notifications, predicates

TEXTS = ("x > 3", "x > 5 and y = 1", "y = 1 or z any", "[]", "x absent", "y >* a")


def missed(f: Filter, notification: Notification) -> int:
    """The slow twin: each constraint of a filter for itself."""
    return sum(not Filter((c,)).matches(notification) for c in f)


def check(index: InterestIndex, held: dict[str, Interest], n: Notification) -> None:
    wanted = {f for interest in held.values() for f in filters_of(interest)}
    found = {index.filters[number] for number in index.held()}
    assert found == wanted
    assert len(index) == len(wanted)
    missing = index.missing(n)
    for number in index.held():
        f = index.filters[number]
        assert missing[number] == missed(f, n)
        holders = {who for who, each in held.items() if f in filters_of(each)}
        assert set(index.holders(number)) == holders
        assert index.counts()[number] == len(holders)


@given(st.lists(st.one_of(filters(), predicates()), max_size=6), notifications())
@settings(deadline=None)
def test_what_a_filter_misses_is_what_its_constraints_say(
    wanted: list[Interest], notification: Notification
) -> None:
    index = InterestIndex()
    held = {f"1/{place}": interest for place, interest in enumerate(wanted)}
    for who, interest in held.items():
        index.enter(who, interest)
        index.enter(who, interest)  # once more changes nothing
    check(index, held, notification)


@pytest.mark.parametrize("gone_max", [0, 1_000])
def test_it_follows_what_comes_and_goes(
    gone_max: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interest_index, "GONE_MAX", gone_max)
    draw = random.Random(7)
    index, held = InterestIndex(), dict[str, Interest]()
    first = index.generation
    for step in range(200):
        who = f"{draw.randrange(6)}/1"
        if who in held:
            index.leave(who, held.pop(who))
        else:
            held[who] = parse_interest(draw.choice(TEXTS))
            index.enter(who, held[who])
        if not step % 20:
            check(index, held, Notification({"x": draw.randrange(8), "y": 1}))
    index.leave("9/9", parse_interest("x > 3"))  # which nobody wanted
    assert (index.generation is not first) == (gone_max == 0)


def test_a_neighbour_holds_a_filter_until_the_last_origin_has_gone() -> None:
    index, f = InterestIndex(), Filter(parse_interest("x > 3").constraints)  # type: ignore[union-attr]
    index.enter(Holder(5, 1), f)
    index.enter(Holder(5, 2), f)
    index.leave(Holder(5, 1), f)
    assert index.of_neighbour(5).tolist() == [0]
    index.leave(Holder(5, 2), f)
    assert index.of_neighbour(5).tolist() == []
    assert len(index) == 0


def test_names_and_words_of_constraints_are_found() -> None:
    index = InterestIndex()
    for place, text in enumerate(("x > 3", "x > 3 and y = DIS", "z any")):
        index.enter(f"1/{place}", parse_interest(text))
    assert index.sizes().tolist() == [1, 2, 1]
    assert index.distinct_names(("x", "y")).tolist() == [1, 2, 0]
    assert index.distinct_names(()).tolist() == [0, 0, 0]
    assert index.spelled() == ["x > 3", "y = dis", "z any"]
    (constraint,) = parse_interest("x > 3").constraints  # type: ignore[union-attr]
    assert index.has(constraint).tolist() == [True, True, False]


def test_names_are_counted_as_each_filter_has_them() -> None:
    draw = random.Random(11)
    index = InterestIndex()
    for place in range(60):
        chosen = draw.choices("abcdef", k=draw.randrange(1, 6))
        text = " and ".join(f"{name} > {draw.randrange(9)}" for name in chosen)
        index.enter(f"1/{place}", parse_interest(text))
    for names in ("a", "abc", "fax", "abcdef"):
        asked_about = [
            len({c.name for c in f.constraints} & set(names)) for f in index.filters
        ]
        assert index.distinct_names(names).tolist() == asked_about
