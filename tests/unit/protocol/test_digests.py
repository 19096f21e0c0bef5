"""A digest says what was told, whatever the order, and nothing else."""

from hypothesis import given, strategies as st

from siena.protocol.digests import Tally

told = st.tuples(st.sampled_from(["x > 3", "1 x", "x"]), st.sampled_from([None, 1, 11]))


@given(st.lists(told, max_size=5), st.lists(told, max_size=5))
def test_equal_digests_are_equal_contents(
    mine: list[tuple[str, int | None]], theirs: list[tuple[str, int | None]]
) -> None:
    same = sorted(map(str, mine)) == sorted(map(str, theirs))
    assert (Tally(mine).body() == Tally(theirs).body()) == same


@given(st.lists(told, max_size=5), st.lists(told, max_size=5))
def test_what_came_and_went_leaves_no_trace(
    stays: list[tuple[str, int | None]], goes: list[tuple[str, int | None]]
) -> None:
    tally = Tally(goes + stays)
    for text, origin in goes:
        tally.remove(text, origin)
    assert tally.body() == Tally(stays).body()
