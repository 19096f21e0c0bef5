"""Compound interests in a stream: examples, and a twin that sees the whole stream.

``A3`` is a notification with ``what = A`` that was generated at time 3.
"""

import pytest
from hypothesis import event, given, strategies as st

from siena.lang.parser import parse_filter, parse_predicate
from siena.matching.compound import CompoundMatcher, Match, Occurrence
from siena.matching.pattern import PatternMatcher
from siena.model import Filter, Notification, Pattern, Predicate
from siena.model.compound import Both, Compound, Either, Part, Then

A, B, C = (parse_filter(f"what = {letter}") for letter in "ABC")
AB = parse_predicate("what in (A, B)")


@pytest.mark.parametrize(
    ("compound", "stream", "found"),
    [
        # Either: a single notification in the union, told once.
        (Either(A, B), "A1 C2 B3", ["A1", "B3"]),
        (Either(A, AB), "A1 B2", ["A1", "B2"]),
        (Either(Then(A, C), Then(B, C)), "A1 B2 C3 C4", ["A1 C3"]),
        (Either(Then(A, B), Then(A, C)), "A1 B2 C3", ["A1 B2", "A1 C3"]),
        # Then: in the order of generation, strictly.
        (Then(A, B), "B4 A3 A1 B2 A5 B6 A7 B8", ["A3 B6", "A7 B8"]),
        (Then(A, B), "A5 B5", []),
        (Then(A, AB), "A1 A2", ["A1 A2"]),
        (Then(Both(A, B), C), "A5 B1 C3 C6", ["A5 B1 C6"]),
        (Then(A, Both(B, C)), "C1 A2 C3 A4 B5", ["A2 B5 C3"]),
        # Both: in any order, whatever the times.
        (Both(A, B), "A1 B2", ["A1 B2"]),
        (Both(A, B), "B5 B6 A1", ["A1 B5"]),
        (Both(A, B), "A1 B2 B3 A4", ["A1 B2", "A4 B3"]),
        # The same content at different times is two occurrences.
        (Both(A, A), "A1", []),
        (Both(A, A), "A1 A1", ["A1 A1"]),
        (Both(A, A, same_occurrence_allowed=True), "A1", ["A1 A1"]),
        # One that fits both sides is kept for both, until another decides.
        (Both(AB, A), "A1 B2", ["B2 A1"]),
        (Both(A, AB), "A1 B2", ["A1 B2"]),
        (Both(A, AB, same_occurrence_allowed=True), "B1 A2", ["A2 B1"]),
    ],
)
def test_the_matcher_finds_these_combinations(
    compound: Compound, stream: str, found: list[str]
) -> None:
    matches = [m for m in run(compound, read(stream)) if m is not None]
    assert [write(match) for match in matches] == found


def test_reset_forgets_what_was_offered() -> None:
    matcher = CompoundMatcher(Both(Then(A, B), C))
    for _, time, notification in read("A1 B2"):
        matcher.offer(notification, time)
    matcher.reset()
    assert matcher.offer(Notification(what="C"), time=3) is None


# --- Properties -----------------------------------------------------------------

leaves: st.SearchStrategy[Filter | Predicate] = st.sampled_from([A, B, C, AB])


def joined(sides: st.SearchStrategy[Part]) -> st.SearchStrategy[Compound]:
    return st.one_of(
        st.builds(Either, sides, sides),
        st.builds(Then, sides, sides),
        st.builds(Both, sides, sides, same_occurrence_allowed=st.booleans()),
    )


parts: st.SearchStrategy[Part] = st.recursive(leaves, joined, max_leaves=5)
tokens = st.builds("{}{}".format, st.sampled_from("ABC"), st.integers(0, 9))
streams = st.lists(tokens, min_size=4, max_size=20).map(
    lambda offered: read(" ".join(offered))
)


@given(joined(parts), streams)
def test_the_matcher_agrees_with_its_slow_twin(
    compound: Compound, stream: list[Occurrence]
) -> None:
    expected = {completed(match): match for match in run_slowly(compound, stream)}
    event(f"found {min(len(expected), 3)}")
    found = run(compound, stream)
    assert found == [
        tuple(part.notification for part in expected[occurrence.number])
        if occurrence.number in expected
        else None
        for occurrence in stream
    ]


@given(
    steps=st.lists(leaves, min_size=2, max_size=4),
    from_left=st.booleans(),
    stream=streams,
)
def test_a_chain_of_then_is_a_pattern(
    steps: list[Filter | Predicate], *, from_left: bool, stream: list[Occurrence]
) -> None:
    chain: Part = steps[0] if from_left else steps[-1]
    for step in steps[1:] if from_left else steps[-2::-1]:
        chain = Then(chain, step) if from_left else Then(step, chain)
    assert isinstance(chain, Then)
    matcher = PatternMatcher(Pattern(steps))
    assert run(chain, stream) == [
        matcher.offer(notification, time) for _, time, notification in stream
    ]


@given(joined(parts), streams)
def test_the_union_of_the_parts_is_enough(
    compound: Compound, stream: list[Occurrence]
) -> None:
    """The fallback of A.6.2: subscribe to the union, match at the access point."""
    union = compound.union()
    delivered = [o for o in stream if union.matches(o.notification)]
    assert [m for m in run(compound, delivered) if m] == [
        m for m in run(compound, stream) if m
    ]


# --- The twin -------------------------------------------------------------------


def run_slowly(part: Part, stream: list[Occurrence]) -> list[Match]:
    """All matches of a part in a stream, in the order in which they are completed."""
    if isinstance(part, Either):
        left = run_slowly(part.left, stream)
        taken = {completed(match) for match in left}
        right = [m for m in run_slowly(part.right, stream) if completed(m) not in taken]
        return sorted(left + right, key=completed)
    if isinstance(part, Then | Both):
        first = first_then(part, stream) if isinstance(part, Then) else None
        first = first_both(part, stream) if isinstance(part, Both) else first
        if first is None:
            return []
        rest = [o for o in stream if o.number > completed(first)]
        return [first, *run_slowly(part, rest)]
    return [(o,) for o in stream if part.matches(o.notification)]


def first_then(part: Then, stream: list[Occurrence]) -> Match | None:
    for left in run_slowly(part.left, stream)[:1]:
        time = max(o.time for o in left)
        later = [o for o in stream if o.number > completed(left) and o.time > time]
        for right in run_slowly(part.right, later)[:1]:
            return left + right
    return None


def first_both(part: Both, stream: list[Occurrence]) -> Match | None:
    lefts, rights = run_slowly(part.left, stream), run_slowly(part.right, stream)
    if not lefts or not rights:
        return None
    left, right = lefts[0], rights[0]
    pairs = [
        (left, right),
        *((later, right) for later in lefts if completed(later) >= completed(right)),
        *((left, later) for later in rights if completed(later) >= completed(left)),
    ]
    fitting = [
        one + other
        for one, other in pairs
        if part.same_occurrence_allowed or not set(one) & set(other)
    ]
    return min(fitting, key=completed, default=None)


def completed(match: Match) -> int:
    """The number of the occurrence that completed the match."""
    return max(occurrence.number for occurrence in match)


# --- Notation -------------------------------------------------------------------


def run(
    compound: Compound, stream: list[Occurrence]
) -> list[tuple[Notification, ...] | None]:
    matcher = CompoundMatcher(compound)
    return [matcher.offer(notification, time) for _, time, notification in stream]


def read(stream: str) -> list[Occurrence]:
    return [
        Occurrence(
            number,
            int(token[1:]),
            Notification(what=token[0], generated=int(token[1:])),
        )
        for number, token in enumerate(stream.split())
    ]


def write(match: tuple[Notification, ...]) -> str:
    return " ".join(f"{n['what']}{n['generated']}" for n in match)
