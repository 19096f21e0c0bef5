"""Batches of sinks that are published once, however often they are sent.

A batch is first written down as begun, then published part by part; when the disk has
all of it in the log, it is written down as done, and only then its sink hears so.  Each
record of it in the log has its tag; so a broker that died in between finds out how much
of the batch is in the log, and publishes the rest.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from msgspec import Struct, field

from siena.broker.access.principal import LOCAL
from siena.broker.clients.session import Session
from siena.broker.data.licences import Licence
from siena.broker.data.publish_batch import PublishBatch
from siena.broker.io.backpressure import Holder
from siena.broker.log.batches.staging import Staging
from siena.broker.log.journal import Journal
from siena.broker.log.limits import QUERIES_MAX, SCAN_BYTES_MAX
from siena.broker.log.records import DamagedLogError, Record
from siena.broker.log.state_file import StateFile
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.split_frames import run_of
from siena.protocol.frames import HEAD_BYTES, Op
from siena.protocol.log_frames import Batch, Taken

log = logging.getLogger("siena.broker")


class Begun(Struct):
    """A batch that is being published."""

    query: str
    number: int
    tag: int
    # How many of its notifications are in the log before this offset; what is behind
    # it in the log is found by the tag.
    first: int
    parts: list[bytes]
    count: int
    done: int = 0


class State(Struct):
    """What must not be forgotten."""

    # Of each query the last batch that is done; the query that came last is last.
    done: dict[str, int] = field(default_factory=dict)
    begun: list[Begun] = field(default_factory=list)
    tag: int = 0


class _Work:
    """A batch that is being published, and who wants to hear of it.

    ``published`` is how many of its notifications are in the log.
    """

    def __init__(self, begun: Begun, records: Iterator[Record]) -> None:
        self.begun = begun
        self.records = records
        self.sessions: list[tuple[Session, Batch]] = []
        self.published = begun.done
        self.failure: ProtocolError | None = None
        """Why nothing more of it can be published."""
        self.is_kept = False
        """Whether the disk has all of it, as far as that is waited for."""
        self.waits = False
        """Whether the disk is asked."""


class IdempotentBatches:
    """Publishes batches, one after the other, a record in a turn.

    Back-pressure: it waits for those who block their publishers, and for the log.

    Args:
        waits: whether a sink hears that a batch is taken only when the disk has it.
    """

    neighbour: int | None = None
    principal = LOCAL
    licence: Licence | None = None  # what is staged has been looked at
    vain_bytes, is_drawn = 0, False  # it was paid for when it came

    def __init__(
        self,
        publications: PublishBatch,
        staging: Staging,
        journal: Journal | None,
        path: Path | None,
        *,
        waits: bool,
    ) -> None:
        self._publications = publications
        self._staging = staging
        self._journal = journal
        self._waits = waits and journal is not None
        self._kept = StateFile(path, State, State())
        self._queue: deque[_Work] = deque()
        self._held_by: set[Holder] = set()
        self._is_due = False
        if journal is not None:
            journal.on_room = self._go_on
            journal.batches_floor = self._floor
        for begun in self._kept.value.begun:
            self._queue.append(self._begun_before(begun))

    def start(self) -> None:
        """Publish what was begun in another life."""
        for work in self._queue:
            log.warning(
                "batch %d of %r was begun when the broker ended: the rest follows",
                *(work.begun.number, work.begun.query),
            )
        self._go_on()

    def close(self) -> None:
        """Publish nothing more; what was begun is completed in another life."""
        self._queue.clear()

    # --- What clients ask for -------------------------------------------------------

    def batch(self, session: Session, body: Batch, query: str) -> None:
        """Publish a batch, unless it was published before.

        ``query`` is the name of its query among those of all principals.

        Raises:
            ProtocolError: if a part is missing, or the disk is full.
        """
        state = self._kept.value
        for work in self._queue:
            if (work.begun.query, work.begun.number) == (query, body.number):
                self._drop_unclaimed(body)
                work.sessions.append((session, body))  # who asks again hears of it, too
                return
        if body.number <= state.done.get(query, -1):
            self._drop_unclaimed(body)
            session.reply(Taken(body.query, body.number, False, 0).pack())
            return
        for part in body.parts:
            if self._staging.is_claimed(part.name):
                raise ProtocolError(
                    Fault.PART_UNKNOWN, "a part is of another batch; stage it again"
                )
            if (self._staging.count(part.name) or 0) != part.count:
                raise ProtocolError(
                    Fault.PART_UNKNOWN,
                    f"a part of {part.count} notifications is not there; stage the "
                    "batch again",
                )
        self._begin(session, body, query)

    def _begin(self, session: Session, body: Batch, query: str) -> None:
        state = self._kept.value
        state.tag += 1
        begun = Begun(
            query,
            body.number,
            state.tag,
            0 if self._journal is None else self._journal.store.latest,
            [part.name for part in body.parts if part.count],
            sum(part.count for part in body.parts),
        )
        state.begun.append(begun)
        try:
            if self._journal is not None and self._journal.is_synced:
                self._staging.sync(begun.parts)  # before it is begun: it is needed then
            self._kept.save()
        except OSError as error:
            state.begun.pop()
            raise ProtocolError(
                Fault.NO_ROOM, f"the disk does not take it: {error}"
            ) from None
        for name in begun.parts:
            self._staging.claim(name)
        work = _Work(begun, self._records(begun))
        work.sessions.append((session, body))
        self._queue.append(work)
        self._go_on()

    def _drop_unclaimed(self, body: Batch) -> None:
        """Forget parts of a batch that need not be published."""
        for part in body.parts:
            self._staging.drop_unclaimed(part.name)

    # --- Publishing -----------------------------------------------------------------

    def _go_on(self) -> None:
        if self._queue and not self._is_due and not self._held_by:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._step)

    def _step(self) -> None:
        """Publish a record of the first batch, or be done with it."""
        self._is_due = False
        if not self._queue or self._held_by:
            return
        if self._journal is not None and self._journal.is_full_for_batches:
            return  # it will call when there is room
        work = self._queue[0]
        record = None
        try:
            if work.failure is None:
                record = next(work.records, None)
            if record is not None:
                self._publish(work, record)
        except Exception as error:  # those behind it must not wait for ever
            log.exception("batch %d of %r", work.begun.number, work.begun.query)
            work.failure = _failure(error)
        try:
            if record is None:
                if not self._is_kept(work):
                    return  # it goes on when the disk has said something
                self._end(work)
        except OSError as error:  # the log calls every second: then once more
            log.warning("how far batches are cannot be written down: %s", error)
            return
        self._go_on()

    def _is_kept(self, work: _Work) -> bool:
        """Whether the disk has all of a batch; if not, it is asked to.

        What is written down as done is never published again: so not before.
        """
        if work.failure is None and work.published < work.begun.count:
            text = f"a part is damaged: {work.published} of {work.begun.count} are left"
            work.failure = _failure(DamagedLogError(text))
            log.warning("batch %d of %r: %s", work.begun.number, work.begun.query, text)
        if not self._waits or work.failure is not None or work.is_kept:
            return True

        def synced(failure: OSError | None) -> None:
            work.waits, work.is_kept = False, failure is None
            self._go_on()

        assert self._journal is not None
        if not work.waits:
            work.waits = True
            self._journal.group_commit.when_synced(synced)
        return False

    def _publish(self, work: _Work, record: Record) -> None:
        self._publications.flush()  # what others have published is not of this batch
        if self._journal is not None:
            self._journal.tag = work.begun.tag
        try:
            # Before: once it is in the log, it may be written down how far this is.
            work.published += len(record.lengths)
            self._publications.add(self, run_of(record.all_blocks()))
            self._publications.flush()
        finally:
            if self._journal is not None:
                self._journal.tag = 0

    def _end(self, work: _Work) -> None:
        """Be done with a batch: all of it is published, or no more can be.

        Raises:
            OSError: if that cannot be written down; then nothing has changed.
        """
        begun, state = work.begun, self._kept.value
        before = state.done, state.begun
        if work.failure is None:
            others = {q: n for q, n in state.done.items() if q != begun.query}
            state.done = {**others, begun.query: begun.number}
            if len(state.done) > QUERIES_MAX:
                del state.done[next(iter(state.done))]
        state.begun = [each for each in state.begun if each is not begun]
        try:
            self._kept.save()
        except OSError:
            state.done, state.begun = before
            raise
        # The parts go once it is written down that they are not needed.
        self._queue.popleft()
        for name in begun.parts:
            self._staging.drop(name)
        for session, body in work.sessions:
            if work.failure is None:
                taken = Taken(body.query, begun.number, True, begun.count)
                session.reply(taken.pack())
            else:
                session.fail(work.failure)

    def _records(self, begun: Begun) -> Iterator[Record]:
        for name in begun.parts:
            yield from self._staging.records(name)

    def _begun_before(self, begun: Begun) -> _Work:
        """A batch that was begun in another life, with what is not in the log of it."""
        assert self._journal is not None
        for name in begun.parts:
            self._staging.claim(name)
        work = _Work(begun, iter(()))
        store = self._journal.store
        at = max(begun.first, store.earliest)
        try:
            while at < store.latest:
                for record in store.scan(at, SCAN_BYTES_MAX):
                    if record.tag == begun.tag:
                        work.published += len(record.lengths)
                    at = record.end
        except (DamagedLogError, OSError) as error:
            work.failure = _failure(error)
        work.records = self._rest(begun, work.published)
        return work

    def _rest(self, begun: Begun, done: int) -> Iterator[Record]:
        """The records of a batch, but for what is done."""
        for record in self._records(begun):
            if done < len(record.lengths):
                yield _after(record, done) if done else record
            done = max(0, done - len(record.lengths))

    def _floor(self, wanted: int) -> int:
        """The first offset that an unfinished batch needs, up to what is wanted.

        It is written down how far batches are, if that makes them need less.

        Raises:
            OSError: if it cannot be written down; then nothing has changed.
        """
        assert self._journal is not None
        begun = self._kept.value.begun
        if any(b.first < wanted for b in begun) and not self._journal.defers:
            before = [(b, b.first, b.done) for b in begun]
            for work in self._queue:
                work.begun.first = self._journal.store.latest
                work.begun.done = work.published
            try:
                self._kept.save()
            except OSError:
                for each, first, done in before:
                    each.first, each.done = first, done
                raise
        return min([wanted, *(b.first for b in begun)])

    # --- As one who publishes -------------------------------------------------------

    def reply(self, frame: bytes) -> None:
        """What is wrong with a notification was said when it was staged."""
        log.warning("of a batch a notification was refused: %s", frame[HEAD_BYTES:])

    def fail(self, error: ProtocolError) -> None:
        """A record could not be routed: its batch is not taken."""
        error.request = Op.BATCH
        self._queue[0].failure = error

    def hold(self, by: Holder) -> None:
        """Publish no more until a reader that is full has caught up."""
        if by is not self._journal:  # which lets us in for longer: see `_step`
            self._held_by.add(by)
            by.holds.add(self)

    def release(self, by: Holder) -> None:
        """That reader has caught up, or gone."""
        self._held_by.discard(by)
        self._go_on()


def _failure(error: Exception) -> ProtocolError:
    """What is said of a batch that failed: by the disk, or by a mistake of ours."""
    if isinstance(error, (DamagedLogError, OSError)):
        return ProtocolError(Fault.LOG_DAMAGED, str(error), request=Op.BATCH)
    text = "a mistake of the broker: a part of the batch may be published"
    return ProtocolError(Fault.BROKEN, text, request=Op.BATCH)


def _after(record: Record, count: int) -> Record:
    """A record without its first so many notifications."""
    skipped = sum(islice(record.lengths.tolist(), count))
    return record._replace(
        first=record.first + count,
        lengths=record.lengths[count:],
        blocks=record.blocks[skipped:],
    )
