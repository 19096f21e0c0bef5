"""Why not: who wants a notification, and what the others have against it."""

from time import process_time
from typing import Any

import pytest

from questioning import indexed, viewer
from siena.broker.questions import viewing
from siena.broker.questions.interest_index import InterestIndex
from siena.broker.questions.why_not import WhyNot
from siena.lang.parser import parse_filter, parse_notification
from siena.messages import Party
from siena.routing.interest_table import Holder
from siena.sim.workload import TR0605


def why(text: str, *wanted: str, **roles: Any) -> WhyNot:  # noqa: ANN401 -- as roles are read
    return WhyNot(indexed(*wanted), parse_notification(text), viewer(**roles))


def test_constraints_that_keep_it_from_most_come_first() -> None:
    found = why("x = 4", "x > 3", "x > 5", "x > 5 and y any")
    assert (found.wanting, found.others) == (1, 2)
    assert found.against() == [
        {"constraint": "x > 5", "because": "x = 4", "filters": 2, "alone": 1},
        {
            "constraint": "y any",
            "because": "there is no such attribute",
            "filters": 1,
            "alone": 0,
        },
    ]


def test_the_nearest_come_first_page_by_page() -> None:
    found = why("x = 4, y = 2", "x > 5 and y = 1", "x > 5", "x any", "x > 7")
    texts = [each["text"] for each in found.near(9, 0, None)]
    assert texts == ["x > 5", "x > 7", "x > 5 and y = 1"]
    assert [each["text"] for each in found.near(1, 1, None)] == ["x > 7"]
    (constraint,) = parse_filter("x > 5").constraints
    texts = [each["text"] for each in found.near(9, 0, constraint)]
    assert texts == ["x > 5", "x > 5 and y = 1"]
    (missing,) = found.near(1, 0, None)[0]["missing"]
    assert missing == {"constraint": "x > 5", "because": "x = 4"}


@pytest.mark.slow
def test_a_hundred_thousand_filters_are_answered_for_at_once() -> None:
    """Within 100 ms of the processor, once the index stands, as a page has it made."""
    workload = TR0605(seed=1)
    index = InterestIndex()
    for place, f in enumerate(workload.filters(100_000)):
        index.enter(Party("1", place), f)
    index.prepare()
    spent = []
    for notification in workload.notifications(5):
        began = process_time()
        said = WhyNot(index, notification, viewer()).answer(20, 0, None)
        spent.append(process_time() - began)
        assert said["filters"] == len(index)
        assert said["wanting"] == sum(f.matches(notification) for f in index.filters)
    assert min(spent) < 0.1, spent


def test_a_residual_that_does_not_hold_is_what_is_missing() -> None:
    found = why("bid = 3, ask = 2", "bid any and ask any, if bid < ask")
    assert (found.wanting, found.others) == (0, 1)
    (missing,) = found.near(9, 0, None)[0]["missing"]
    assert missing == {"constraint": "if bid < ask", "because": "it does not hold"}
    assert why("bid = 1, ask = 2", "bid any and ask any, if bid < ask").wanting == 1


def test_a_neighbour_gets_it_for_a_filter_or_misses_one() -> None:
    index = indexed("x > 3")
    index.enter(Holder(5, 1), parse_filter("x > 1 and y = 2"))
    index.enter(Holder(6, 1), parse_filter("x > 2"))
    found = WhyNot(index, parse_notification("x = 3"), viewer())
    assert found.route(6) == {
        "filters": 1, "goes": True, "nearest": None, "by": "x > 2",
    }  # fmt: skip
    route = found.route(5)
    assert not route["goes"]
    assert route["nearest"]["missing"][0]["constraint"] == "y = 2"
    assert found.route(7)["filters"] == 0


def test_all_of_it_is_one_answer() -> None:
    said = why("x = 4", "x > 3", "x > 5").answer(10, 0, None)
    assert (said["filters"], said["wanting"], said["held"]) == (2, 1, 1)
    assert said["wanted_by"][0]["holders"] == ["desk (1/0)"]
    assert said["complete"]


def test_what_may_not_be_subscribed_to_is_neither_shown_nor_counted() -> None:
    found = why("x = 4", "x = 4", "x > 3", "y any", subscribe="x = 4")
    assert (found.wanting, found.others) == (1, 0)
    assert found.against() == []
    said = found.answer(10, 0, None)
    assert said["wanted_by"][0]["holders"] == ["another client"]


def test_what_could_not_be_decided_in_time_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(viewing, "SECONDS_MAX", -1.0)
    found = why("x = 4", "x = 4", "x > 3", "y any", subscribe="x any")
    assert not found.answer(10, 0, None)["complete"]
