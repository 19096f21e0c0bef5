"""A cursor against a plain account of what was found, sent and answered."""

from hypothesis import given, strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from siena.broker.durable.cursors.cursor import Cursor, Epoch, Spec
from siena.broker.durable.limits import FOUND_MAX

ACK_WAIT = 8.0


def cursor_of(key: str | None = None) -> Cursor:
    return Cursor(1, "", "billing", [Epoch("[]", 0)], Spec(ACK_WAIT, 0, key))


class Deliveries(RuleBasedStateMachine):
    """Whatever happens: nothing is forgotten, and nothing comes after its answer."""

    def __init__(self) -> None:
        super().__init__()
        self.cursor = cursor_of("key")
        self.now = 0.0
        self.tail = 0
        self.acked: set[int] = set()
        # Of what is under way: to whom it went, and when it is due.
        self.sent: dict[int, tuple[int, float]] = {}
        self.delayed: dict[int, float] = {}
        self.attempts: dict[int, int] = {}

    @rule(gap=st.integers(0, 2))
    def find(self, gap: int) -> None:
        self.tail += gap  # what the filter excludes
        assert self.cursor.found(self.tail)
        self.tail += 1

    @rule(member=st.integers(1, 2))
    def deliver(self, member: int) -> None:
        offset = self.cursor.next_ready()
        if offset is None:
            return
        assert offset not in self.acked
        assert offset not in self.sent
        assert offset not in self.delayed
        key = offset % 3
        if self.cursor.is_parked(offset, key):
            return
        busy = {*self.sent, *self.delayed} - {offset}
        assert all(other % 3 != key or self.attempts.get(other, 0) == 0
                   for other in busy)  # fmt: skip
        before = [o for o in self.attempts if o % 3 == key and o not in self.acked]
        assert all(o >= offset for o in before), "in order for each key"
        attempt = self.cursor.sent(offset, member, 10, self.now)
        self.attempts[offset] = self.attempts.get(offset, 0) + 1
        assert attempt == self.attempts[offset]
        wait = ACK_WAIT * 2 ** min(attempt - 1, 5)
        self.sent[offset] = member, self.now + wait

    @precondition(lambda self: self.attempts)
    @rule(data=st.data())
    def ack(self, data: st.DataObject) -> None:
        offset = data.draw(st.sampled_from(sorted(self.attempts)))
        is_news = self.cursor.ack(offset) is not False
        assert is_news == (offset not in self.acked)
        self.acked.add(offset)
        self.sent.pop(offset, None)
        self.delayed.pop(offset, None)

    @rule(offset=st.integers(0, 30))
    def ack_up_to(self, offset: int) -> None:
        for each in self.cursor.below(offset):
            assert self.cursor.ack(each) is not False
            self.acked.add(each)
            self.sent.pop(each, None)
            self.delayed.pop(each, None)

    @precondition(lambda self: self.sent)
    @rule(data=st.data(), delay=st.sampled_from([0.0, 3.0]))
    def nak(self, data: st.DataObject, delay: float) -> None:
        offset = data.draw(st.sampled_from(sorted(self.sent)))
        due = self.now + delay if delay else None
        assert self.cursor.nak(offset, due) is not None
        del self.sent[offset]
        if due is not None:
            self.delayed[offset] = due

    @rule(member=st.integers(1, 2))
    def lose(self, member: int) -> None:
        self.cursor.lose(member)
        self.sent = {o: s for o, s in self.sent.items() if s[0] != member}

    @rule(seconds=st.sampled_from([1.0, 5.0, 20.0]))
    def wait(self, seconds: float) -> None:
        self.now += seconds
        expired = {offset for offset, _ in self.cursor.expired(self.now)}
        due = {o for o, (_, when) in self.sent.items() if when <= self.now}
        due |= {o for o, when in self.delayed.items() if when <= self.now}
        assert expired == due
        self.sent = {o: s for o, s in self.sent.items() if o not in due}
        self.delayed = {o: d for o, d in self.delayed.items() if o not in due}

    @rule()
    def deliver_all(self) -> None:
        """Of each key one is under way, or will come when its time is."""
        for _ in range(100):
            self.deliver(member=1)
        idle = [o for o in self.cursor.unacked if o % 3 not in self._busy_keys()]
        assert not idle, "waits for a key that nobody has"

    def _busy_keys(self) -> set[int]:
        return {offset % 3 for offset in (*self.sent, *self.delayed)}

    @invariant()
    def nothing_is_forgotten(self) -> None:
        waiting = self.cursor.unacked
        assert not self.acked & set(waiting)
        assert self.cursor.low(self.tail) == min([*waiting, self.tail])
        assert self.cursor.in_flight == len(self.sent)

    def teardown(self) -> None:
        """Everything that was found can be answered, in the end."""
        while self.cursor.outstanding:
            self.now += 10_000
            list(self.cursor.expired(self.now))
            self.sent.clear()
            self.delayed.clear()
            offset = self.cursor.next_ready()
            assert offset is not None, self.cursor.unacked
            if not self.cursor.is_parked(offset, offset % 3):
                self.cursor.sent(offset, 1, 10, self.now)
                self.cursor.ack(offset)


TestDeliveries = Deliveries.TestCase


def test_a_cursor_holds_so_many_and_no_more() -> None:
    cursor = cursor_of()
    assert all(cursor.found(offset) for offset in range(FOUND_MAX))
    assert not cursor.found(FOUND_MAX)
    cursor.ack(5)
    assert cursor.found(FOUND_MAX)


def test_one_that_is_never_acknowledged_keeps_nothing_else() -> None:
    cursor = cursor_of()
    assert cursor.found(0)
    for offset in range(1, 50 * FOUND_MAX):
        assert cursor.found(offset)
        cursor.ack(offset)
    assert cursor.low(10**6) == 0
    assert len(cursor._lows) < 2 * FOUND_MAX


def test_one_without_an_answer_keeps_no_moments_of_others() -> None:
    """Its reader has it for a day, and others by the million meanwhile."""
    cursor = cursor_of()
    for offset in range(20 * FOUND_MAX):
        cursor.found(offset)
        assert cursor.next_ready() == offset
        cursor.sent(offset, 1, 10, now=0.0)
        if offset:
            cursor.ack(offset)
    assert len(cursor._firsts) < 2 * FOUND_MAX
    assert cursor.next_due == ACK_WAIT
    assert [offset for offset, _ in cursor.expired(ACK_WAIT)] == [0]


def test_what_is_refused_again_and_again_keeps_one_moment() -> None:
    cursor = cursor_of()
    cursor.found(0)
    for attempt in range(20 * FOUND_MAX):
        assert cursor.next_ready() == 0
        assert cursor.sent(0, 1, 10, now=0.0) == attempt + 1
        assert cursor.nak(0, None) is not None
    assert len(cursor._later) < 2 * FOUND_MAX
    cursor.next_ready()
    cursor.sent(0, 1, 10, now=0.0)
    assert [offset for offset, _ in cursor.expired(10_000.0)] == [0]


def test_what_is_answered_long_before_it_is_due_keeps_no_moment() -> None:
    cursor = cursor_of()
    for offset in range(20 * FOUND_MAX):
        cursor.found(offset)
        cursor.next_ready()
        cursor.sent(offset, 1, 10, now=0.0)
        cursor.nak(offset, 86_400.0)
        cursor.ack(offset)
    assert len(cursor._later) < 2 * FOUND_MAX


@given(st.sets(st.integers(0, 20)), st.integers(0, 20))
def test_what_was_acknowledged_ahead_is_not_found_again(
    ahead: set[int], position: int
) -> None:
    cursor = cursor_of()
    cursor.reset(position)
    cursor.acked_ahead = set(ahead)
    for offset in range(position, 21):
        assert cursor.found(offset)
    assert cursor.unacked == [o for o in range(position, 21) if o not in ahead]


def _delivered(cursor: Cursor) -> list[int]:
    found = []
    while (offset := cursor.next_ready()) is not None:
        if not cursor.is_parked(offset, "key"):
            cursor.sent(offset, 1, 1, 0.0)
            found.append(offset)
    return found


def test_what_was_acknowledged_while_it_waited_for_its_key_holds_up_nothing() -> None:
    cursor = cursor_of("key")
    for offset in (1, 2, 3):
        cursor.found(offset)
    assert _delivered(cursor) == [1]
    for offset in cursor.below(3):  # as ack_up_to does
        cursor.ack(offset)
    assert _delivered(cursor) == [3]
    cursor.found(4)
    assert _delivered(cursor) == []
    cursor.ack(3)
    assert _delivered(cursor) == [4]
