"""Windows of bits remember what a set of stamps would."""

from hypothesis import given, strategies as st

from siena.messages import Stamp, Window
from siena.routing.stamps.seen import WINDOW, Seen

numbers = st.integers(0, 30) | st.integers(0, 3 * WINDOW)
runs = st.lists(st.lists(numbers, min_size=1, max_size=9), max_size=12)


class SetOfNumbers:
    """What one broker has published: all that came, and all that is too old."""

    def __init__(self) -> None:
        self._came: set[int] = set()

    def learn(self, several: list[int]) -> list[int]:
        oldest = max(self._came, default=-1) - WINDOW + 1
        new = [n for n in several if n >= oldest and n not in self._came]
        self._came.update(new)
        return new


def window_of(several: list[int]) -> Window:
    mark = max(several)
    return Window(1, 0, mark, sum(1 << mark - n for n in set(several)))


@given(runs)
def test_of_a_run_those_are_new_that_a_set_has_not(sent: list[list[int]]) -> None:
    seen, twin = Seen(), SetOfNumbers()
    for several in sent:
        bits = seen.learn(window_of(several))
        new = {n for n in several if bits >> max(several) - n & 1}
        assert new == set(twin.learn(several))


@given(runs)
def test_one_by_one_is_the_same_as_one_after_the_other(sent: list[list[int]]) -> None:
    seen, twin = Seen(), SetOfNumbers()
    for number in [n for several in sent for n in several]:
        stamp = Stamp(1, 0, number)
        is_new = bool(twin.learn([number]))
        assert (stamp in seen) is not is_new
        assert seen.is_new(stamp) is is_new
        assert stamp in seen


def test_a_stamp_from_far_ahead_takes_no_memory() -> None:
    seen = Seen()
    seen.is_new(Stamp(1, 0, 0))
    assert seen.is_new(Stamp(1, 0, 2**64 - 1))
    (window,) = seen
    assert window.bits == 1


def test_each_life_of_a_broker_counts_anew() -> None:
    seen = Seen()
    assert seen.is_new(Stamp(1, 0, 5))
    assert seen.is_new(Stamp(1, 1, 5))
    assert seen.is_new(Stamp(2, 0, 5))
    assert not seen.is_new(Stamp(1, 0, 5))
