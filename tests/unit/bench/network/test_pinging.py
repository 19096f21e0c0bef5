"""How long pings wait: what was due during a silence counts, too."""

from hypothesis import given, strategies as st

from siena.bench.network.pinging import Clockwork, Waits


@given(st.lists(st.integers(1, 50), min_size=1, max_size=30))
def test_every_ping_that_was_due_is_counted_once(late: list[int]) -> None:
    clockwork = Clockwork(0.0, 4.0)
    now = 0.0
    for each in late:
        now = max(now, clockwork.due) + each
        clockwork.answered(now)
    # One for each multiple of four up to the last answer, and none beyond.
    assert len(clockwork.seconds) == int(now // 4) + 1
    assert clockwork.due > now
    assert max(clockwork.seconds) <= max(late) + 4


def test_a_silence_shows_in_the_ninety_ninth_percentile() -> None:
    step = 1 / 512  # exact, so that nothing is due a rounding error later
    clockwork = Clockwork(0.0, step)
    for number in range(1024):
        clockwork.answered(number * step)
    clockwork.answered(3.0)  # a second without an answer
    waits = Waits.of(clockwork.seconds)
    assert waits == Waits(pings=1537, p50=0.0, p99=1 - 15 * step, highest=1.0)


def test_nothing_was_waited_for_without_pings() -> None:
    assert Waits.of([]) == Waits(0, 0.0, 0.0, 0.0)
