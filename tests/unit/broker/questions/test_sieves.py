"""Sequences in a log, beside the matcher that is offered one notification at a time."""

import asyncio

import numpy as np
import pytest
from hypothesis import given, strategies as st

from siena.block import encode
from siena.broker.log.records import Record
from siena.broker.questions.sieves import sequences, sieve_of
from siena.lang.parser import parse_advertisement, parse_pattern
from siena.matching.pattern import PatternMatcher
from siena.model import Notification

PATTERNS = (
    "x = 1 then x = 2",
    "x = 1 then x = 1",
    "x any then x > 1 or y any then x = 0",
)


def record(first: int, values: list[int]) -> Record:
    blocks = [encode({"x": value}) for value in values]
    lengths = np.array([len(block) for block in blocks], np.uint32)
    return Record(first, first, 0, lengths, memoryview(b"".join(blocks)))


@pytest.mark.parametrize("text", PATTERNS)
@given(
    several=st.lists(st.lists(st.integers(0, 3), min_size=1, max_size=6), max_size=6),
    hidden=st.integers(0, 4),
)
def test_sequences_are_those_of_the_matcher(
    text: str, several: list[list[int]], hidden: int
) -> None:
    """Whatever the records are in which they come, of what may be heard."""
    pattern = parse_pattern(text)
    matcher, expected = PatternMatcher(pattern), []
    sieve, found = sieve_of(pattern), []
    count = offset = 0
    for values in several:
        one = record(offset, values)
        heard = np.array([value != hidden for value in values])
        more, shown = asyncio.run(sieve.find(one, heard))
        count += more
        found += [[entry.form()["text"] for entry in match] for match in shown]
        for place, value in enumerate(values):
            if value != hidden:
                done = matcher.offer(Notification(x=value), offset + place)
                expected += [[str(each) for each in done]] if done else []
        offset += len(values)
    assert (count, found) == (len(expected), expected)


def test_what_may_have_been_published_is_what_is_admitted() -> None:
    sieve = sieve_of(parse_advertisement("x < 2"))
    heard = np.ones(4, np.bool_)
    count, shown = asyncio.run(sieve.find(record(7, [0, 3, 1, 2]), heard))
    assert (count, [match[0].offset for match in shown]) == (2, [7, 9])


def test_what_cannot_be_read_is_passed_over() -> None:
    came = [Notification(x=1), None, Notification(x=2)]
    assert sequences(parse_pattern("x = 1 then x = 2"), came) == [[0, 2]]
