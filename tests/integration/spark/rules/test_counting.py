"""Windows count what a look at all events would count."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from siena.errors import FilterError, LimitError
from siena.rules.correlation import Correlation, CorrelationKind
from siena.rules.entry import RuleEntry
from siena.spark.rules import counting
from siena.spark.rules.counting import Condition, Window, condition_of
from siena.spark.rules.remembering import Memory

SPAN = 5
Offered = tuple[int, int, str | None]


def condition(kind: str, wanted: int) -> Condition:
    return Condition("c", "1", "high", "m", kind, ("a", "b"), (), SPAN, wanted, ("v",))


def twin(kind: str, wanted: int, offered: list[Offered]) -> list[bool]:
    """All events since the last alert, looked at again for each that comes."""
    found: list[bool] = []
    kept: list[Offered] = []
    newest = -(10**9)
    for event in offered:
        newest = max(newest, event[1])
        kept.append(event)
        inside = [e for e in kept if e[1] >= newest - SPAN]
        ways: dict[str, set[Any]] = {
            "event_count": set(range(len(inside))),
            "value_count": {e[2] for e in inside if e[2] is not None},
            "temporal": {i for e in inside for i in range(2) if e[0] >> i & 1},
        }
        counted = ways[kind]
        is_new = event[1] >= newest - SPAN and (
            kind != "value_count" or event[2] is not None
        )
        found.append(is_new and len(counted) >= wanted)
        if found[-1]:
            kept = []
    return found


@pytest.mark.parametrize("kind", ["event_count", "value_count", "temporal"])
@given(
    st.lists(
        st.tuples(
            st.integers(1, 3), st.integers(0, 15), st.sampled_from("abc") | st.none()
        ),
        max_size=25,
    ),
    st.integers(1, 3),
)
def test_a_window_counts_what_a_look_at_all_events_counts(
    kind: str, offered: list[Offered], wanted: int
) -> None:
    wanted = 2 if kind == "temporal" else wanted
    window = Window(condition(kind, wanted))
    found = []
    for event in offered:
        found.append(window.offer(*event))
        # What is remembered is enough to go on with.
        window = Window(condition(kind, wanted), window.state)
        assert len(window.state[1]) + len(window.state[2]) <= wanted
    assert found == twin(kind, wanted, offered)


def test_a_sequence_is_one_of_rules_in_their_order() -> None:
    window = Window(condition("temporal_ordered", 2))
    offered = [(2, 1), (1, 2), (1, 3), (2, 2), (2, 4), (1, 5), (2, 11)]
    assert [window.offer(rules, at, None) for rules, at in offered] == [
        *(False, False, False, False, True, False, False)
    ]


def correlation(comparison: str, count: int, **more: Any) -> Correlation:  # noqa: ANN401
    kind = more.pop("kind", CorrelationKind.EVENT_COUNT)
    entry = RuleEntry("c", "…", "sigma")
    return Correlation(entry, kind, ("a",), (), 60, comparison, count, **more)


def test_what_is_about_events_that_did_not_come_is_refused() -> None:
    assert condition_of(correlation(">", 3), "m").wanted == 4
    assert condition_of(correlation("=", 3), "m").wanted == 3
    for comparison in ("<", "<=", "!="):
        with pytest.raises(FilterError, match="events that did not come"):
            condition_of(correlation(comparison, 3), "m")
    with pytest.raises(FilterError, match="names the field"):
        condition_of(correlation(">=", 3, kind=CorrelationKind.VALUE_COUNT), "m")
    with pytest.raises(LimitError, match="COUNT_MAX"):
        condition_of(correlation(">=", counting.COUNT_MAX + 1), "m")


@given(st.lists(st.tuples(st.sampled_from("kl"), st.integers(0, 30)), max_size=20))
def test_alerts_of_one_key_wait_and_are_counted(offered: list[tuple[str, int]]) -> None:
    memory = Memory()
    last: dict[str, int] = {}
    held: dict[str, int] = {}
    for key, time in sorted(offered, key=lambda row: row[1]):
        found = memory.offer(key, '{"suppress": 5}', time, None, None)
        if key in last and time - last[key] <= 5:
            held[key] = held.get(key, 0) + 1
            assert found is None
        else:
            assert found == held.pop(key, 0)
            last[key] = time
        memory = Memory.load(memory.save())


def test_what_has_no_business_with_the_present_is_forgotten() -> None:
    spec = json.dumps({"condition": condition("event_count", 2)._asdict()})
    memory = Memory()
    memory.offer("old", spec, 1, 1, None)
    memory.offer("new", spec, 100, 1, None)
    memory.save()
    assert len(memory) == 1
