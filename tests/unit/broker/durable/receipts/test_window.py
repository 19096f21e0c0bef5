"""What is remembered of a publisher's numbers, against a plain dictionary."""

from hypothesis import given, strategies as st

from siena.broker.durable.limits import STRETCHES_MAX
from siena.broker.durable.receipts.window import Window

STEPS = st.lists(
    st.tuples(
        st.integers(0, 30),
        st.integers(1, 8),
        st.sampled_from(["store", "fail", "hold"]),
    ),
    max_size=20,
)


def said(window: Window) -> dict[int, int | None]:
    """Each number that it knows, and where that is."""
    found: dict[int, int | None] = {}
    parts = window.split(0, 50)
    assert [p.first for p in parts[1:]] == [p.end for p in parts[:-1]]
    for part in parts:
        if part.is_known:
            assert part.is_stored == (part.offset is not None)
            for number in range(part.first, part.end):
                at = part.offset
                found[number] = None if at is None else at + number - part.first
    return found


@given(STEPS)
def test_it_knows_each_number_as_a_dictionary_does(
    steps: list[tuple[int, int, str]],
) -> None:
    window, plain, offset = Window(), dict[int, int | None](), 100
    for first, count, what in steps:
        for stretch in window.split(first, first + count):
            if stretch.is_known:
                continue
            window.accept(stretch.first, stretch.end)
            plain |= dict.fromkeys(range(stretch.first, stretch.end))
            if what == "store":
                window.store(stretch.first, stretch.end, offset)
                for number in range(stretch.first, stretch.end):
                    plain[number] = offset
                    offset += 1
                offset += len(steps) % 2  # others publish in between
            elif what == "fail":
                window.withdraw(stretch.first, stretch.end)
                for number in range(stretch.first, stretch.end):
                    del plain[number]
        assert said(window) == plain


def test_what_was_accepted_together_may_be_stored_in_parts() -> None:
    window = Window()
    window.accept(0, 5)
    window.store(0, 2, 10)
    window.withdraw(2, 3)  # it was refused
    window.store(3, 5, 12)
    assert [(s.first, s.end, s.is_known, s.offset) for s in window.split(0, 6)] == [
        (0, 2, True, 10),
        (2, 3, False, None),
        (3, 5, True, 12),
        (5, 6, False, None),
    ]


def test_what_is_forgotten_is_taken_for_stored() -> None:
    window = Window()
    for number in range(STRETCHES_MAX + 5):
        window.accept(number, number + 1)
        window.store(number, number + 1, 3 * number)  # others publish in between
    floor = window.floor  # some are forgotten at once
    assert 5 <= floor <= STRETCHES_MAX // 32
    [below, *rest] = window.split(0, floor + 3)
    assert (below.end, below.is_stored, below.offset) == (floor, True, None)
    assert [s.offset for s in rest] == [3 * floor, 3 * floor + 3, 3 * floor + 6]


def test_what_is_forgotten_may_come_for_the_first_time_if_there_are_several_ways() -> (
    None
):
    """One number waits for a link, while more than is remembered come another way."""
    window = Window()
    window.has_several_ways = True
    for number in range(0, 2 * STRETCHES_MAX + 10, 2):
        window.accept(number, number + 1)
        window.store(number, number + 1, number)
    assert window.floor > 1
    [late] = window.split(1, 2)
    assert not late.is_known
    window.accept(1, 2)
    window.store(1, 2, 10**6)
    [late] = window.split(1, 2)
    assert late.offset == 10**6
