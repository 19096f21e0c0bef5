"""Following: the index of a broker's interests, while it is asked about.

It is made at the first question and forgotten when no other has come for a while; so a
broker that is never asked pays one comparison for each subscription.  What comes and
goes is written down in order on the broker's loop, which it costs next to nothing, and
entered in a thread by the next question.  That thread stops for the loop every
millisecond: Python by itself would let the loop wait for five, at every system call.

Who is about to ask can say so with ``/api/prepare``: a page of the console does when it
is opened, so that the index stands when the first question has been written.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from threading import Lock
from time import sleep
from typing import NamedTuple, TypeVar

from siena.broker.memory import look_at_what_came
from siena.broker.questions.interest_index import InterestIndex, Wanting
from siena.broker.state import BrokerState
from siena.messages import Interest

# How long the index is kept after a question.
IDLE_SECONDS_MAX = 120.0
# Interests that are indexed, at about a kilobyte each; what is beyond is not looked at.
INDEXED_MAX = 500_000
# Changes that wait for the next question; with more, the index is made anew for it.
CHANGES_MAX = 200_000
# Interests that are looked at before others have their turn: about a millisecond each.
NOTED_AT_ONCE = 500
ENTERED_AT_ONCE = 50
# Interests after which the collector of garbage looks at what has come: left to itself
# it looks at ten times as much at once, and nobody else can do anything meanwhile.
COLLECTED_AT_ONCE = 1_000

T = TypeVar("T")


class Change(NamedTuple):
    """A client, or a neighbour, wants something, or no longer."""

    holder: Wanting
    interest: Interest
    gained: bool


class Following:
    """The index of one broker: made, kept up to date, and forgotten.

    Ownership: of the hook ``state.on_interest``, while there is an index.
    """

    def __init__(self, state: BrokerState) -> None:
        self._state = state
        self._index: InterestIndex | None = None
        self._changes: deque[Change] = deque()
        self._making = asyncio.Lock()
        self._using = Lock()
        self._timer: asyncio.TimerHandle | None = None
        self.is_complete = True
        """Whether all interests are in the index."""

    async def ask(self, question: Callable[[InterestIndex], T]) -> T:
        """Answer a question about the index, in a thread."""
        async with self._making:
            if self._index is None or len(self._changes) > CHANGES_MAX:
                await self._begin()
            index, changes = self._index, self._changes
        self._keep()
        assert index is not None
        return await asyncio.to_thread(self._answer, index, changes, question)

    def _answer(
        self,
        index: InterestIndex,
        changes: deque[Change],
        question: Callable[[InterestIndex], T],
    ) -> T:
        with self._using:
            entered = 0
            while changes:
                entered += self._enter(index, changes)
                if entered >= COLLECTED_AT_ONCE:
                    look_at_what_came()
                    entered = 0
                sleep(0)  # whoever waits for Python's lock has it now
            return question(index)

    def _enter(self, index: InterestIndex, changes: deque[Change]) -> int:
        """Some of the changes; how many."""
        count = min(len(changes), ENTERED_AT_ONCE)
        for _ in range(count):
            holder, interest, gained = changes.popleft()
            if not gained:
                index.leave(holder, interest)
            elif index.interests < INDEXED_MAX:
                index.enter(holder, interest)
            else:
                self.is_complete = False
        return count

    async def _begin(self) -> None:
        """Write down all that is wanted, while it changes."""
        self.is_complete = True
        self._index, self._changes = InterestIndex(), deque()
        self._state.on_interest = self._note
        for place, (holder, interest) in enumerate(self._wanted_now(), 1):
            self._note(holder, interest, gained=True)
            if not place % COLLECTED_AT_ONCE:
                look_at_what_came()
            if not place % NOTED_AT_ONCE:
                await asyncio.sleep(0)

    def _wanted_now(self) -> Iterator[tuple[Wanting, Interest]]:
        """What neighbours and clients want, when each of them is come to."""
        router = self._state.router
        for number in list(self._state.links):
            yield from router.tables.filters.held_now(number)
        for party in router.registrations.parties_now():
            for interest in router.registrations.of_party(party):
                yield party, interest

    def _note(self, holder: Wanting, interest: Interest, *, gained: bool) -> None:
        if len(self._changes) <= max(CHANGES_MAX, INDEXED_MAX):
            self._changes.append(Change(holder, interest, gained))

    def _keep(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(IDLE_SECONDS_MAX, self.forget)

    def forget(self) -> None:
        """Hold nothing until the next question."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._index = None
        self._changes = deque()
        self._state.on_interest = None
