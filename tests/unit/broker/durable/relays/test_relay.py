"""How far a neighbour is: what has no answer is sent again, what was wanted counts."""

import pytest

from siena.broker.durable.limits import RELAY_BYTES_MAX
from siena.broker.durable.relays.relay import Relay
from siena.lang.parser import parse_filter
from siena.messages import Side
from siena.model import Filter, Predicate


class Wire:
    """A link that remembers what was sent."""

    number, name, side = 7, "b7", Side.PEER
    exports: Predicate | None = None
    is_relaying = True

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def relay(self, frame: bytes, count: int) -> None:
        self.sent += [frame] * count


def relay() -> Relay:
    found = Relay(7, "b7", Side.PEER, 10)
    found.begin(Wire())
    return found


def test_what_has_no_answer_is_sent_again_on_the_next_link() -> None:
    it = relay()
    assert [it.sent(5, 10), it.sent(5, 14)] == [1, 2]
    it.position = 20
    assert it.answered(1)
    assert it.low == 14
    it.end(now=3.0, elapsed=1.0)
    assert (it.position, it.low, it.missed_since, it.in_flight) == (14, 14, 3.0, 0)
    it.begin(Wire())
    assert it.missed_since is None
    assert it.sent(5, 14) == 1  # frames are counted anew on each link


def test_an_answer_counts_for_all_frames_before() -> None:
    it = relay()
    for first in (10, 11, 12):
        it.sent(5, first)
    it.position = 13
    assert it.answered(3)
    assert it.low == 13
    assert not it.answered(3)


def test_an_answer_to_what_was_never_sent_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="frame 1 was not sent"):
        relay().answered(1)


def test_no_more_is_under_way_than_the_limit() -> None:
    it = relay()
    served = [it.is_served]
    it.sent(RELAY_BYTES_MAX, 10)
    served.append(it.is_served)
    it.answered(1)
    assert [*served, it.is_served] == [True, False, True]


def test_it_wants_a_filter_while_a_hop_of_it_does() -> None:
    it, x = relay(), parse_filter("x any")
    told: list[tuple[Filter, bool]] = []

    def tell(item: Filter, gained: bool) -> None:  # noqa: FBT001
        told.append((item, gained))

    for gained in (True, True, False):
        it.changed(x, gained=gained, tell=tell)
    assert told == [(x, True)]
    it.changed(x, gained=False, tell=tell)
    assert told == [(x, True), (x, False)]
    assert not it.wanted


def test_what_is_dropped_needs_no_link() -> None:
    it = Relay(7, "b7", Side.PEER, 10)
    served = [it.is_served]
    it.drop_below = 12
    served.append(it.is_served)
    it.position = 12
    assert [*served, it.is_served] == [False, True, False]
