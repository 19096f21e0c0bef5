"""Windows count what a look at all events would count."""

import json
import pickle
from typing import Any

import pytest
from hypothesis import given, strategies as st

from siena.errors import FilterError, LimitError
from siena.rules.correlation import Correlation, CorrelationKind
from siena.rules.entry import RuleEntry
from siena.spark.rules import counting, remembering
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
    assert len(memory) == 2  # no single row says that it is later
    memory.offer("newer", spec, 101, 1, None)
    memory.save()
    assert len(memory) == 2


SECOND = 1_000_000


def three(kind: str = "event_count", **more: Any) -> str:  # noqa: ANN401
    rules = ("a", "b", "c") if kind.startswith("temporal") else ("a",)
    made = Condition(
        "c", "1", "high", "m", kind, rules, (), 60 * SECOND, 3, ("v",), **more
    )
    return json.dumps({"condition": made._asdict()})


def offered(spec: str, rows: list[tuple[str, float]], *, is_saved: bool) -> list[int]:
    """The rows that are alerts; perhaps saved and loaded between any two."""
    memory = Memory()
    found = []
    for number, (key, at) in enumerate(rows):
        # Of three rules the first, the second, …; of values another each time.
        bits, value = 1 << number % 3, str(number)
        if memory.offer(key, spec, round(at * SECOND), bits, value) is not None:
            found.append(number)
        if is_saved:
            memory = Memory.load(memory.save())
    return found


@pytest.mark.parametrize("is_saved", [False, True])
@pytest.mark.parametrize("kind", ["event_count", "value_count", "temporal"])
def test_one_wrong_clock_spoils_nothing(kind: str, *, is_saved: bool) -> None:
    spec = three(kind)
    if kind != "temporal":
        for place in range(4):
            others = [("k", 1.0), ("k", 2.0), ("k", 3.0)]
            others.insert(place, ("z", 1e9))
            last = 2 if place == 3 else 3
            assert offered(spec, others, is_saved=is_saved) == [last]
    same = [("k", float(t)) for t in (1, 2, 10**9, 3, 4, 5, 6)]
    assert offered(spec, same, is_saved=is_saved)[0] in {3, 4, 5}
    early = [("k", 1e9), *(("k", float(t)) for t in (1, 2, 3))]
    assert offered(spec, early, is_saved=False)[0] == 3


def test_a_wrong_clock_within_a_sequence_spoils_nothing() -> None:
    rows = [("k", float(t)) for t in (1, 2, 3)]
    spec = three("temporal_ordered")
    assert offered(spec, rows, is_saved=True) == [2]
    memory = Memory()
    for bits, at in ((1, 1), (2, 2), (1, 10**9)):
        assert memory.offer("k", spec, at * SECOND, bits, None) is None
        memory = Memory.load(memory.save())
    assert memory.offer("k", spec, 3 * SECOND, 4, None) == 0


def test_a_wrong_clock_holds_no_alerts_back() -> None:
    spec = json.dumps({"suppress": 5 * SECOND})
    rows = [("i", 0.0), ("j", 0.5), ("k", 1e9), ("k", 1.0), ("k", 2.0), ("k", 9.0)]
    assert offered(spec, rows, is_saved=True) == [0, 1, 2, 3, 5]


def test_clocks_that_differ_by_more_than_the_span_hold_alerts_back() -> None:
    """Each clock its own, in whatever order: one alert of each goes on."""
    spec = json.dumps({"suppress": 60 * SECOND})
    rows = [("k", at - lag) for at in range(50) for lag in (7_200.0, 0.0)]
    for is_saved in (False, True):
        assert offered(spec, rows, is_saved=is_saved) == [0, 1]
    memory = Memory()
    for at, held in ((0, 0), (-7_200, 0), (1, None), (-7_199, None), (2, None)):
        assert memory.offer("k", spec, at * SECOND, None, None) == held
    # The next alert of a clock says how many of its own were held back.
    assert memory.offer("k", spec, -7_000 * SECOND, None, None) == 1
    assert memory.offer("k", spec, 100 * SECOND, None, None) == 2


@pytest.mark.parametrize("what", ["windows", "alerts"])
def test_many_wrong_clocks_put_the_present_of_a_key_away_neither(what: str) -> None:
    """What is furthest from the present is left out, and counted."""
    spec = three() if what == "windows" else json.dumps({"suppress": 60 * SECOND})
    memory = Memory()
    for number in range(20):  # they say what the present is
        memory.offer(f"o{number}", three(), number * SECOND, 1, None)
    memory.offer("k", spec, 20 * SECOND, 1, None)
    memory.offer("k", spec, 21 * SECOND, 1, None)
    for number in range(1, 6):
        memory.offer("k", spec, number * 10**5 * SECOND, 1, None)
    memory = Memory.load(memory.save())
    found = memory.offer("k", spec, 22 * SECOND, 1, None)
    assert found == (0 if what == "windows" else None)


def test_rows_that_are_far_apart_put_no_present_away() -> None:
    """Half of the last rows were long before; they are not the present for that."""
    rows = [("k", at * 100.0 + more) for at in range(200) for more in (0, 1)]
    assert offered(three(), [*rows, ("k", 19_902.0)], is_saved=False) == [400]


def test_what_is_left_out_of_a_key_is_counted_unless_it_is_over() -> None:
    spec, memory = three(), Memory()
    for number in range(1_000):  # each begins another window, and the last are kept
        memory.offer("k", spec, number * 100 * SECOND, 1, None)
    memory.save()
    assert memory.forgotten == 0
    for number in range(1, 6):
        memory.offer("k", spec, number * 10**9 * SECOND, 1, None)
    memory.save()
    assert memory.forgotten > 0
    memory.save()
    assert memory.forgotten == 0


def test_what_is_really_later_is_the_present_soon() -> None:
    spec = three()
    memory = Memory()
    memory.offer("old", spec, 1, 1, None)
    for number in range(remembering.CLOCK_ROWS):
        memory.offer(f"k{number}", spec, 10**9 * SECOND + number, 1, None)
        memory = Memory.load(memory.save())
    assert len(memory) == remembering.CLOCK_ROWS
    # Of very many rows in one micro-batch, too, and few stand for them.
    for number in range(9 * remembering.CLOCK_ROWS):
        memory.offer("k", spec, 2 * 10**9 * SECOND + number, 1, None)
    memory.save()
    assert len(memory) == 0  # all that there is led to alerts
    assert len(pickle.dumps(Memory.load(memory.save()))) < 10_000


def test_beyond_the_limit_the_oldest_is_forgotten_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remembering, "REMEMBERED_MAX", 10)
    spec = three()
    memory = Memory()
    for number in range(12):
        memory.offer(f"k{number}", spec, SECOND, 1, None)
    memory.offer("k0", spec, 2 * SECOND, 1, None)  # so it is not the oldest
    again = Memory.load(memory.save())
    assert (memory.forgotten, len(again)) == (2, 10)
    assert again.offer("k0", spec, 3 * SECOND, 1, None) == 0
    assert again.offer("k1", spec, 3 * SECOND, 1, None) is None
    again.save()
    assert again.forgotten == 0
