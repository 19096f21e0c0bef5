"""A reader of events sees through the chunks of HTTP, and does not let errors pass."""

import itertools
from typing import NamedTuple

import pytest
from hypothesis import given, strategies as st

from siena.bench.front.quotes import quotes
from siena.bench.front.readers import EventReader, FrameReader, Reader
from siena.errors import SienaError

SOME = list(quotes(20))


class Came(NamedTuple):
    """A connection on which this has come."""

    data: bytes

    def recv(self, _: int) -> bytes:
        return self.data


def reader(kind: type[Reader], bound: float | None = None) -> Reader:
    made = kind.__new__(kind)
    made.bound, made.expected, made.at = bound, b"", 0
    return made


def hear(made: Reader, data: bytes) -> None:
    made.socket = Came(data)  # type: ignore[assignment]
    made.read()


def chunked(data: bytes, sizes: list[int]) -> bytes:
    parts, at = [], 0
    for size in [*sizes, len(data)]:
        part = data[at : at + size]
        if part:
            parts.append(b"%x\r\n%b\r\n" % (len(part), part))
        at += size
    return b"".join(parts)


@given(
    st.lists(st.integers(1, 90), max_size=10),
    st.lists(st.integers(0, 2_000), max_size=10),
)
def test_chunks_are_taken_apart_however_they_come(
    sizes: list[int], cuts: list[int]
) -> None:
    events = reader(EventReader)
    assert events.await_all(SOME) == len(SOME)
    stream = chunked(events.expected, sizes)
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    for start, end in itertools.pairwise(places):
        hear(events, stream[start:end])
    assert events.share == 1


def test_a_reader_wants_what_is_below_its_bound() -> None:
    frames = reader(FrameReader, SOME[7].price)
    assert frames.await_all(SOME) == 7
    hear(frames, frames.expected)
    assert frames.share == 1


@pytest.mark.parametrize("kind", [EventReader, FrameReader])
def test_what_is_not_expected_is_an_error(kind: type[Reader]) -> None:
    made = reader(kind)
    made.await_all(SOME)
    wrong = made.text(SOME[1])
    with pytest.raises(SienaError, match="what it must not"):
        hear(made, chunked(wrong, []) if kind is EventReader else wrong)
