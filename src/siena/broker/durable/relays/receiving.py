"""What neighbours relay: stored once, and only then answered.

What is known already, because an answer was lost or there are two ways, is stored no
second time, nor delivered again; it is answered all the same.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.broker.data.batch import Source
from siena.broker.data.publish_batch import PublishBatch
from siena.broker.durable.receipts.publishers import (
    KnownPublisher,
    Publishers,
    Stream,
    tag_of,
)
from siena.broker.log.journal import Journal
from siena.broker.state import BrokerState
from siena.messages.interface import TTL_MAX
from siena.protocol.durable.receipts import Relayed
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.forward_runs import ForwardRun, RunHead, ascending, picked
from siena.protocol.fast.relay_runs import RelayRun

Bools = npt.NDArray[np.bool_]
# How long after the disk took nothing it is tried again.
RETRY_SECONDS = 1.0


class _Arrival:
    """A frame of a neighbour, and how much of it is not written yet."""

    def __init__(self, frame: int, left: int = 1) -> None:
        self.frame = frame
        self.left = left  # one more until all of it has been looked at


class _Late(NamedTuple):
    """Numbers that came again before they were written."""

    publisher: KnownPublisher
    first: int
    end: int
    arrival: _Arrival


class Inflow:
    """What comes over one link."""

    def __init__(self, number: int, source: Source) -> None:
        self.number = number
        self.source = source
        self.waiting: deque[RelayRun] = deque()
        """What waits until the disk knows of the stream that it is of."""
        self.arrivals: deque[_Arrival] = deque()


class Receiving:
    """Takes what neighbours relay.

    Args:
        waits: whether an answer waits for the disk.
        on_synced: called when the disk has more than before.
    """

    def __init__(
        self,
        state: BrokerState,
        publications: PublishBatch,
        journal: Journal,
        publishers: Publishers,
        *,
        waits: bool,
        on_synced: Callable[[], None],
    ) -> None:
        self._publications = publications
        self._journal = journal
        self._publishers = publishers
        self._me = state.router.me
        self._seen = state.router.seen
        self._origins = state.router.origins
        self._gate = state.gate
        self._counters = state.counters
        self._waits = waits
        self._on_synced = on_synced
        self._inflows: dict[int, Inflow] = {}
        self._late: list[_Late] = []
        self._due: dict[Inflow, int] = {}
        # What was written and not kept: it is answered when the disk is good again.
        self._unkept: dict[Inflow, int] = {}
        self.is_closed = False

    def begin(self, number: int, source: Source) -> None:
        """A link to a neighbour is up."""
        self._inflows[number] = Inflow(number, source)

    def end(self, number: int) -> None:
        """It has gone: nothing is answered any more that came over it."""
        inflow = self._inflows.pop(number, None)
        if inflow is not None:
            self._due.pop(inflow, None)

    def take(self, number: int, run: RelayRun) -> None:
        """A neighbour relays something.

        Raises:
            ProtocolError: if it is of a broker that is known to be elsewhere.
        """
        is_own = run.broker == self._me
        if not is_own and self._origins.contradicts((run.broker, run.life), number):
            self._counters.misplaced += run.publications.total
            text = "what is relayed cannot come from here"
            raise ProtocolError(Fault.BAD_FRAME, text)
        inflow = self._inflows[number]
        inflow.waiting.append(run)
        self._go_on(inflow)

    def _go_on(self, inflow: Inflow) -> None:
        while inflow.waiting:
            run = inflow.waiting[0]
            if run.broker == self._me:
                self._know(inflow, inflow.waiting.popleft())
                continue
            stream = Stream(run.broker, run.life, inflow.number)
            known = self._publishers.stream(stream, self._written_down)
            if not known.is_saved:
                return
            inflow.waiting.popleft()
            self._take(inflow, known, run)

    def _know(self, inflow: Inflow, run: RelayRun) -> None:
        """Our own, which came around a cycle: this log had it first."""
        self._counters.received += run.publications.total
        self._counters.duplicates += run.publications.total
        inflow.arrivals.append(_Arrival(run.frame, left=0))
        self._look(inflow)

    def _written_down(self, failure: OSError | None) -> None:
        """The disk knows of a stream, or does not take it; then it is asked again."""
        if failure is None:
            self._go_on_all()
        else:
            asyncio.get_running_loop().call_later(RETRY_SECONDS, self._go_on_all)

    def _go_on_all(self) -> None:
        if self.is_closed:
            return
        for inflow in list(self._inflows.values()):
            self._go_on(inflow)
        asyncio.get_running_loop().call_soon(self._publications.flush)

    def _take(self, inflow: Inflow, known: KnownPublisher, run: RelayRun) -> None:
        arrival = _Arrival(run.frame)
        inflow.arrivals.append(arrival)
        self._counters.received += run.publications.total
        allowed = self._allowed(inflow.source, run)
        numbers = run.number + run.numbers.astype(np.int64)
        ends = np.flatnonzero(np.diff(numbers) != 1) + 1
        # What follows each other, and is allowed, is a record.
        bounds = [0, *ends.tolist(), len(numbers)]
        for first, end in pairwise(bounds):
            for begun, ended in _stretches(allowed, first, end):
                self._offer(inflow, known, run, arrival, begun, ended)
        arrival.left -= 1
        self._look(inflow)

    def _allowed(self, source: Source, run: RelayRun) -> Bools:
        """What of it the neighbour may bring."""
        licence, total = source.licence, run.publications.total
        if licence is None:
            return np.ones(total, np.bool_)
        allowed = licence.allows(run.publications)
        refused = np.flatnonzero(~allowed)
        if len(refused):
            self._counters.rejected += len(refused)
            block = run.publications.blocks()[int(refused[0])]
            self._gate.refuse_publications(
                source.principal, "import", block, len(refused)
            )
        return allowed

    def _offer(
        self,
        inflow: Inflow,
        known: KnownPublisher,
        run: RelayRun,
        arrival: _Arrival,
        first: int,
        end: int,
    ) -> None:
        """Store what is new of some that follow each other."""
        base = run.number + int(run.numbers[first]) - first
        for stretch in known.window.split(base + first, base + end):
            count = stretch.end - stretch.first
            if stretch.is_known:
                self._counters.duplicates += count
                if not stretch.is_stored:
                    arrival.left += count
                    late = _Late(known, stretch.first, stretch.end, arrival)
                    self._late.append(late)
                continue
            known.window.accept(stretch.first, stretch.end)
            arrival.left += count
            indices = np.arange(stretch.first - base, stretch.end - base)
            part = run.publications
            if count < part.total:
                part = picked(part, indices.astype(np.int32))
            head = RunHead(
                *(run.broker, run.life, stretch.first, run.broker),
                *(run.time / 1e6, TTL_MAX, 0),
            )
            forwarded = ForwardRun(head, ascending(count), ascending(count), part)
            self._seen.learn(forwarded.window)  # should they come another way
            receipt = _Receipt(self, inflow, known, stretch.first, count, arrival)
            self._publications.add_relayed(inflow.source, forwarded, receipt)

    # --- Answers --------------------------------------------------------------------

    def written(
        self, inflow: Inflow, known: KnownPublisher, first: int, count: int, offset: int
    ) -> None:
        """These are written from an offset on."""
        known.window.store(first, first + count, offset)
        late, self._late = self._late, []
        for each in late:
            parts = each.publisher.window.split(each.first, each.end)
            if all(part.is_stored for part in parts):
                each.arrival.left -= each.end - each.first
            else:
                self._late.append(each)
        for other in [inflow, *(self._inflows.values() if late else ())]:
            self._look(other)

    def withdrawn(self, known: KnownPublisher, first: int, end: int) -> None:
        """What is not written of these will not be."""
        known.window.withdraw(first, end)
        self._late = [
            each
            for each in self._late
            if each.publisher is not known or each.end <= first or end <= each.first
        ]

    def look(self, inflow: Inflow) -> None:
        """Something of a frame was refused, which is an answer, too."""
        self._look(inflow)

    def _look(self, inflow: Inflow) -> None:
        """Answer, when the disk has it, what is complete."""
        last = None
        while inflow.arrivals and not inflow.arrivals[0].left:
            last = inflow.arrivals.popleft().frame
        if last is None or self._inflows.get(inflow.number) is not inflow:
            return
        self._owe(inflow, last)

    def _owe(self, inflow: Inflow, frame: int) -> None:
        if not self._due:
            asyncio.get_running_loop().call_soon(self._commit)
        self._due[inflow] = max(frame, self._due.get(inflow, 0))

    def _commit(self) -> None:
        due, self._due = self._due, {}

        def synced(failure: OSError | None) -> None:
            if failure is not None:
                self._owe_later(due)
            else:
                for inflow, frame in due.items():
                    if self._inflows.get(inflow.number) is inflow:
                        inflow.source.reply(Relayed(frame).pack())
                self._on_synced()
                self._publishers.look_for_checkpoint()

        if self._waits:
            self._journal.group_commit.when_synced(synced)
        else:
            synced(None)

    def _owe_later(self, due: dict[Inflow, int]) -> None:
        """Answer when the disk is good again: it is in the log, and is written anew.

        A neighbour that waits for room sends nothing more, and an answer to what comes
        later would never be due.
        """
        if not self._unkept:
            asyncio.get_running_loop().call_later(RETRY_SECONDS, self._owe_again)
        self._unkept |= due

    def _owe_again(self) -> None:
        unkept, self._unkept = self._unkept, {}
        if self.is_closed:
            return
        if self._journal.group_commit.failure is not None:
            self._owe_later(unkept)
            return
        for inflow, frame in unkept.items():
            if self._inflows.get(inflow.number) is inflow:
                self._owe(inflow, frame)


def _stretches(allowed: Bools, first: int, end: int) -> list[tuple[int, int]]:
    """Where those are that are allowed, in a row.

    >>> _stretches(np.array([True, False, True, True]), 0, 4)
    [(0, 1), (2, 4)]
    """
    if allowed[first:end].all():
        return [(first, end)]
    bounds = [first - 1, *(first + np.flatnonzero(~allowed[first:end])).tolist(), end]
    pairs = pairwise(bounds)
    return [(a + 1, b) for a, b in pairs if a + 1 < b]


class _Receipt:
    """What is owed to a neighbour for some of a frame."""

    def __init__(
        self,
        receiving: Receiving,
        inflow: Inflow,
        publisher: KnownPublisher,
        first: int,
        count: int,
        arrival: _Arrival,
    ) -> None:
        self._receiving = receiving
        self._inflow = inflow
        self._publisher = publisher
        self._first = first
        self._count = count
        self._arrival = arrival

    def tag(self, at: int) -> int:
        """What the record has that begins with one of them."""
        return tag_of(self._publisher.number, self._first + at)

    def stored(self, at: int, count: int, offset: int) -> None:
        """So many of them, from one on, are written from an offset on."""
        self._arrival.left -= count
        first = self._first + at
        self._receiving.written(self._inflow, self._publisher, first, count, offset)

    def refused(self, at: int, error: ProtocolError) -> None:  # noqa: ARG002
        """One of them is no notification: it will never be one."""
        first = self._first + at
        self._receiving.withdrawn(self._publisher, first, first + 1)
        self._arrival.left -= 1
        self._receiving.look(self._inflow)

    def failed(self) -> None:
        """What is not written of them will not be: the link ends, they come again."""
        end = self._first + self._count
        self._receiving.withdrawn(self._publisher, self._first, end)
