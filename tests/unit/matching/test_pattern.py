"""Greedy search for sequences: the papers' examples, and a slow twin.

``A3`` is a notification with ``what = A`` that was generated at time 3.
"""

import pytest
from hypothesis import event, given, strategies as st

from siena.lang.parser import parse_filter, parse_pattern
from siena.matching.pattern import PatternMatcher
from siena.model import Notification, Pattern

Stream = list[tuple[Notification, int]]


@pytest.mark.parametrize(
    ("pattern", "stream", "found"),
    [
        pytest.param(
            "AB", "B4 A3 A1 B2 A5 B6 A7 B8", [(5, "A3 B6"), (7, "A7 B8")], id="T_A60"
        ),
        pytest.param("AA", "A1 A2 A3", [(1, "A1 A2")], id="T_A61"),
        pytest.param("AA", "A1 A2 A3 A4", [(1, "A1 A2"), (3, "A3 A4")], id="T_A61_on"),
        pytest.param("AB", "A5 B5", [], id="T_A62"),
        pytest.param("AB", "A5 B5 B6", [(2, "A5 B6")], id="T_A62_later"),
        # A pattern of one step is a filter: times do not matter to it.
        pytest.param("A", "A2 A2 A1", [(0, "A2"), (1, "A2"), (2, "A1")], id="simple"),
        # A new match may begin earlier than the last one ended.
        pytest.param("AB", "A5 B6 A1 B2", [(1, "A5 B6"), (3, "A1 B2")], id="restart"),
    ],
)
def test_the_matcher_finds_these_sequences(
    pattern: str, stream: str, found: list[tuple[int, str]]
) -> None:
    assert run(pattern_of(pattern), read(stream)) == [
        (position, tuple(notification for notification, _ in read(sequence)))
        for position, sequence in found
    ]


FIGURE_4 = "symbol = MSFT and change > 0 then symbol = NSCP and change > 0"


@pytest.mark.parametrize("text", [pytest.param(FIGURE_4, id="T_A63")])
def test_a_rise_of_one_stock_and_then_of_another(text: str) -> None:
    """The pattern of the paper; the notifications are ours."""
    rise = Notification(symbol="MSFT", change=1.5)
    fall = Notification(symbol="NSCP", change=-0.5)
    other = Notification(symbol="NSCP", change=2)
    stream = [(other, 1), (rise, 2), (fall, 3), (rise, 4), (other, 5)]
    assert run(parse_pattern(text), stream) == [(4, (rise, other))]


def test_progress_shows_what_was_accepted_and_reset_forgets_it() -> None:
    matcher = PatternMatcher(pattern_of("AB"))
    (first, _), (second, _) = read("A9 B3")
    assert matcher.offer(first, 9) is None
    assert list(matcher.progress) == [first]
    matcher.reset()
    assert list(matcher.progress) == []
    assert matcher.offer(second, 3) is None
    assert list(matcher.progress) == []


def test_after_a_match_nothing_is_left_over() -> None:
    matcher = PatternMatcher(pattern_of("AB"))
    for notification, time in read("A1 B2"):
        matcher.offer(notification, time)
    assert matcher.progress == ()


tokens = st.builds("{}{}".format, st.sampled_from("ABC"), st.integers(0, 9))


@given(
    st.text("ABC", min_size=1, max_size=3), st.lists(tokens, min_size=4, max_size=20)
)
def test_the_matcher_agrees_with_its_slow_twin(
    letters: str, offered: list[str]
) -> None:
    pattern, stream = pattern_of(letters), read(" ".join(offered))
    found = run(pattern, stream)
    event(f"found {min(len(found), 3)}")
    assert found == run_slowly(pattern, stream)


def run(pattern: Pattern, stream: Stream) -> list[tuple[int, tuple[Notification, ...]]]:
    """What is found, and the position of the notification that completes it."""
    matcher = PatternMatcher(pattern)
    answers = [matcher.offer(notification, time) for notification, time in stream]
    return [(i, answer) for i, answer in enumerate(answers) if answer is not None]


def run_slowly(
    pattern: Pattern, stream: Stream
) -> list[tuple[int, tuple[Notification, ...]]]:
    """The same, looking at the whole stream: for each step the first that will do."""
    found: list[tuple[int, tuple[Notification, ...]]] = []
    chosen: list[int] = []
    start = 0
    while True:
        step = pattern.steps[len(chosen)]
        fitting = [
            i
            for i in range(start, len(stream))
            if step.matches(stream[i][0])
            and (not chosen or stream[i][1] > stream[chosen[-1]][1])
        ]
        if not fitting:
            return found
        chosen.append(fitting[0])
        start = fitting[0] + 1
        if len(chosen) == len(pattern):
            found.append((chosen[-1], tuple(stream[i][0] for i in chosen)))
            chosen = []


def pattern_of(letters: str) -> Pattern:
    return Pattern(parse_filter(f"what = {letter}") for letter in letters)


def read(stream: str) -> Stream:
    return [
        (Notification(what=token[0], generated=int(token[1:])), int(token[1:]))
        for token in stream.split()
    ]
