"""The pulse of a neighbour: how long a silence may be."""

import pytest

from siena.broker.peers.pulse import (
    PULSE_SECONDS,
    SILENT_BEATS_MAX,
    Pulse,
    pulse_feature,
    pulse_of,
)


def deaths(beats: str, ours: float = 1.0, theirs: float = 1.0) -> list[int]:
    """At which beats a neighbour is dead.

    At ``x`` something has come, at ``.`` nothing has, at ``h`` nothing could.
    """
    pulse = Pulse(ours, theirs)
    return [
        number
        for number, beat in enumerate(beats)
        if pulse.is_dead_at_beat(has_come=beat == "x", is_reading=beat != "h")
    ]


@pytest.mark.parametrize(
    ("beats", "dead"),
    [
        (".....", [4]),
        ("x.....", [5]),
        ("....x....x....", []),
        ("hhhhhhhhhh", []),  # we have not listened
        ("....h....h....", []),
        ("....hx.....", [10]),
    ],
)
def test_only_a_silence_in_which_we_listened_is_one(
    beats: str, dead: list[int]
) -> None:
    assert deaths(beats) == dead


def test_a_neighbour_with_a_slower_pulse_has_more_of_our_beats() -> None:
    assert deaths("." * 20, ours=1.0, theirs=3.0) == [14, 15, 16, 17, 18, 19]
    assert deaths("." * 6, ours=3.0, theirs=1.0) == [4, 5]


def test_a_dead_neighbour_is_noticed_within_ten_seconds() -> None:
    assert (SILENT_BEATS_MAX + 1) * PULSE_SECONDS <= 10


@pytest.mark.parametrize("seconds", [0.05, 1.5, 7.0, 3600.0])
def test_what_is_said_of_a_pulse_is_understood(seconds: float) -> None:
    assert pulse_of(("run", pulse_feature(seconds), "exact")) == seconds


@pytest.mark.parametrize("text", ["pulse=", "pulse=x", "pulse=nan", "pulse=inf", "p"])
def test_what_is_no_pulse_promises_nothing(text: str) -> None:
    assert pulse_of((text,)) is None
