"""The journal: what a broker writes to its log, once a tick, and who has to wait.

*Back-pressure*: when the log is full, and when the disk takes nothing, those who have
published are not read from until there is room, and are told why.  What came before is
written beyond the bound, or kept until the disk takes it: nothing is dropped, and no
PING is answered before what its connection published before it has been written.  Those
who have published nothing wait for nothing.

*A sync that failed* ends that: what the disk has is not known, and asking again would
not tell (the system forgets what it could not write).  No client whose publications may
be concerned gets an answer, and publishers wait until the operator says that it may be
tried again, and the disk has kept in fresh files what it may not have kept before
(:meth:`Journal.resume`).  Where there is only no room for these, that is tried every
second.

Why one module: what is written, who waits and what the disk says are one state.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.broker.data.batch import Batch, Origin, Receipt, Source
from siena.broker.io.backpressure import Held
from siena.broker.io.connection import Connection
from siena.broker.log.cursors import Readers
from siena.broker.log.group_commit import GroupCommit, Synced
from siena.broker.log.limits import (
    SIGN_OF_LIFE_TICKS,
    SINK_SHARE,
    TICK_SECONDS,
    UNWRITTEN_BYTES_MAX,
)
from siena.broker.log.segment import NoRoomError
from siena.broker.log.stores.log_store import LogStore
from siena.broker.log.stores.opening import open_store
from siena.broker.settings import Log as LogSettings
from siena.broker.state import BrokerState
from siena.messages import Side
from siena.protocol.control_frames import Error
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Op
from siena.protocol.pings import Ping

log = logging.getLogger("siena.broker")

Answers = list[tuple[Source, bytes]]
READERS = "readers.json"


class _Piece(NamedTuple):
    blocks: bytes
    offsets: npt.NDArray[np.int64]
    time: int
    tag: int
    # Who waits for it, and how many of theirs came before it.
    receipt: Receipt | None = None
    at: int = 0


class Journal:
    """What is written, what is not written yet, and who waits for that.

    Ownership: of the folder, from making it to :meth:`close`.
    """

    def __init__(self, state: BrokerState, folder: Path, settings: LogSettings) -> None:
        self._state = state
        self._settings = settings
        self.store: LogStore = open_store(folder, settings, state.clock)
        self.is_synced = settings.sync == "always"
        """Whether the disk has everything before it is answered."""
        self.readers = Readers(folder / READERS, state.clock, settings.reader_seconds)
        # What a reader has committed was there, whatever the machine has forgotten.
        self.store.skip_to(max(self.readers.positions().values(), default=0))
        self.holds: set[Held] = set()
        self.tag = 0
        """Of which batch of a sink that is which is being written."""
        self.on_append: Callable[[int, int, bytes, npt.NDArray[np.int64]], None] = (
            _nobody_reads
        )
        """Called with what was written: its offset, its time, and its blocks."""
        self.durable_floor: Callable[[int], int] = lambda latest: latest
        """The first offset that durable subscriptions need, up to another."""
        self.on_room: Callable[[], None] = lambda: None
        """Called when there is room again."""
        self.on_tick: Callable[[], None] = lambda: None
        """Called every second."""
        self.batches_floor: Callable[[int], int] = lambda wanted: wanted
        """The first offset that unfinished batches of sinks need, up to another."""
        # What the disk has not taken, and answers that wait for it.
        self._unwritten: list[_Piece] = []
        self._answers: Answers = []
        # Who published that; and how many bytes it has.
        self._late: set[Source] = set()
        self._unwritten_bytes = 0
        self.unlogged = 0
        """What a mesh sent while the disk took nothing, and so is not in the log."""
        self.trouble = ""
        """Why publishers wait, if the disk is the reason."""
        self.failure = ""
        """Why nothing is acknowledged until the operator says so."""
        self._waits_for_room = False
        """Or until there is room for fresh files."""
        self._is_dirty = False
        self._was_full = False
        self._ticks = 0
        self._timer: asyncio.TimerHandle | None = None
        self.group_commit = GroupCommit(self.store, self._fail)
        """How it is known what the disk has."""

    # --- Writing --------------------------------------------------------------------

    def write(
        self, batch: Batch, bad: Sequence[tuple[int, int]], answers: Answers
    ) -> Answers:
        """Write what was routed, but for what is bad; the answers that may be sent."""
        had_failed = self.failure
        time = self._state.clock.nanoseconds() // 1_000
        if any(origin.receipt is not None for origin in batch.origins):
            refused = {index for index, _ in bad}
            self._take(_pieces(batch, refused, time, self.tag))
        else:
            blocks, offsets = batch.plain
            if bad:
                blocks, offsets = _without(batch, {index for index, _ in bad})
            if len(offsets) > 1:
                self._take([_Piece(blocks, offsets, time, self.tag)])
        if self.failure and not had_failed and not self._waits_for_room:
            self._disown({origin.source for origin in batch.origins})
            return [each for each in answers if each[0] not in self._late]
        if self.defers:
            self._late.update(origin.source for origin in batch.origins)
        if self.lets_wait:
            for origin in batch.origins:
                if not self._is_in_a_mesh(origin.source):
                    self._hold(origin.source)
        if not self._late:
            return answers
        self._answers += [each for each in answers if each[0] in self._late]
        return [each for each in answers if each[0] not in self._late]

    def _take(self, pieces: Iterable[_Piece]) -> None:
        """Write them, now or when the disk takes them.

        Those of a mesh are not held.  What they send is kept within a bound, and beyond
        that delivered, but not logged, and counted.
        """
        is_waiting = bool(self._unwritten)
        for piece in pieces:
            if self._unwritten_bytes > UNWRITTEN_BYTES_MAX and piece.receipt is None:
                if not self.unlogged:
                    log.warning(
                        "the log cannot be written, and more than %d bytes wait: what "
                        "neighbours send is not logged until it can",
                        UNWRITTEN_BYTES_MAX,
                    )
                self.unlogged += len(piece.offsets) - 1
            else:
                self._unwritten.append(piece)
                self._unwritten_bytes += len(piece.blocks)
        if self._unwritten and not is_waiting:
            self._write_first()

    def _hold(self, source: Source) -> None:
        """Let a publisher wait, and tell it why, once."""
        held = len(self.holds)
        source.hold(self)
        is_new = len(self.holds) > held
        if is_new and isinstance(source, Connection) and source.hears_gaps:
            fault = Fault.PUBLISHERS_WAIT
            text = f"publishers wait: {self.trouble or 'the log is full'}"
            source.reply(Error(fault.number, text, fault.closes, Op.PUB).pack())

    @property
    def defers(self) -> bool:
        """Whether something waits for the disk."""
        return bool(self._unwritten or self.failure) or (
            self._is_dirty and self.is_synced
        )

    def waits(self, source: Source) -> bool:
        """Whether something of a source waits for the disk."""
        return source in self._late and self.defers

    def defer(self, source: Source, frame: bytes) -> None:
        """Answer when everything is written."""
        self._answers.append((source, frame))

    def _write_all(self) -> None:
        """Write what is not written yet; if the disk does not take it, later."""
        if self.failure:
            return
        try:
            while self._unwritten:
                piece = self._unwritten[0]
                self.store.append(piece.blocks, piece.offsets, piece.time, piece.tag)
                # Whatever those do who hear of it, it is not written again.
                del self._unwritten[0]
                self._unwritten_bytes -= len(piece.blocks)
                self._is_dirty = True
                self._tell(piece)
        except OSError as error:
            if not self.trouble:  # said once, not every second
                log.warning("the log cannot be written, and publishers wait: %s", error)
            self.trouble = f"the log cannot be written: {error}"
            return
        if self.trouble:
            log.warning("the log is written again, up to offset %d", self.store.latest)
            self.trouble = ""
        if self._is_dirty and self.is_synced:
            try:
                self.store.sync()
                self._is_dirty = False
            except OSError as error:
                self.group_commit.fail(error)

    def once_kept(self, then: Synced) -> Synced:
        """What to call when the disk has a small file beside the log.

        It calls this when the store has it, too.
        """

        def on_disk(failure: OSError | None) -> None:
            if failure is None and self.store.is_elsewhere:
                self.store.want_states()
                self.group_commit.when_synced(then)
            else:
                then(failure)

        return on_disk

    # --- A sync that failed ---------------------------------------------------------

    def _fail(self, error: OSError) -> None:
        """Acknowledge nothing any more, and nothing of what was written last."""
        where = self.store.where
        if isinstance(error, NoRoomError):
            self._waits_for_room = True
            self.failure = self.trouble = (
                f"{where} has no room to keep anew what it may not have: {error}"
            )
            log.warning("%s; nothing is acknowledged until it has", self.failure)
            return
        self._waits_for_room = False
        self.failure = self.trouble = (
            f"{where} failed to keep what was written ({error}), and the operator has "
            "not said yet that it is good again"
        )
        log.error(
            "%s failed to keep the log (%s): nothing is acknowledged until SIGHUP, or "
            "a new start; what came last, before offset %d, may be lost",
            *(where, error, self.store.latest),
        )
        self._disown(self._late)

    def _disown(self, sources: set[Source]) -> None:
        """Let no answer reach those who published what the disk may not have."""
        self._late = self._late | sources
        self._answers = [each for each in self._answers if each[0] not in self._late]
        for source in sources:
            if source.neighbour is None:
                source.fail(
                    ProtocolError(
                        Fault.BROKEN,
                        "the disk failed: what was published since the last PONG may "
                        "not be in the log",
                        request=Op.PUB,
                    )
                )

    def resume(self) -> None:
        """The operator has come: after a failed sync, see whether the disk is good.

        It is if it keeps in fresh files all that it may not have.
        """
        if not self.failure:
            return
        try:
            self.store.write_anew()
        except OSError as error:
            had_to_wait = self._waits_for_room
            self._waits_for_room = isinstance(error, NoRoomError)
            if not (had_to_wait and self._waits_for_room):  # said once
                log.error("the log cannot be written anew, and waits: %s", error)  # noqa: TRY400 -- the reason is all
            return
        self._waits_for_room = False
        self.failure = self.trouble = ""
        self.group_commit.recover()
        self.group_commit.start()
        self._is_dirty = False
        log.warning(
            "what the disk may have lost of the log was written anew; it goes on at "
            "offset %d",
            self.store.latest,
        )
        self.look_for_room()

    def _tell(self, piece: _Piece) -> None:
        """It is written."""
        count = len(piece.offsets) - 1
        first = self.store.latest - count
        self.on_append(first, piece.time, piece.blocks, piece.offsets)
        if piece.receipt is not None:
            piece.receipt.stored(piece.at, count, first)

    def _write_first(self) -> None:
        """Write what waits for nothing else; a mistake of ours is not repeated."""
        try:
            self._write_all()
        except Exception:
            self._unwritten.clear()
            self._unwritten_bytes = 0
            raise

    def _is_in_a_mesh(self, source: Source) -> bool:
        """Brokers of a mesh could wait for each other for ever."""
        if source.neighbour is None:
            return False
        neighbour = self._state.router.tables.neighbours.get(source.neighbour)
        return neighbour is not None and neighbour.side is Side.MESH

    # --- Room -----------------------------------------------------------------------

    def _is_full(self) -> bool:
        """Whether publishers wait; if so, it is said once."""
        if self.store.size < self._settings.bytes:
            return False
        self._make_room()
        is_full = self.store.size >= self._settings.bytes
        if is_full and not self._was_full:
            positions = self.readers.positions()
            last = min(positions, key=lambda name: positions[name], default=None)
            log.warning(
                "the log is full, and publishers wait until %s",
                f"the reader {last!r} commits more than {positions[last]}"
                if last is not None
                else "a batch is complete",
            )
        self._was_full = is_full
        return is_full

    @property
    def lets_wait(self) -> bool:
        """Whether those who publish are to wait."""
        return self.defers or self._is_full()

    @property
    def is_full_for_batches(self) -> bool:
        """Whether the batch of a sink waits, too."""
        most = self._settings.bytes * (1 + SINK_SHARE)
        return self.defers or (self._is_full() and self.store.size >= most)

    def _make_room(self) -> None:
        latest = self.store.latest
        floor = min(self.readers.floor(latest), self.durable_floor(latest))
        seconds = self._settings.retain_seconds
        older_than = self._state.clock.now() - seconds if seconds else None
        try:
            if seconds or self.store.size >= self._settings.bytes:
                floor = self.batches_floor(floor)
            self.store.make_room(floor, self._settings.bytes, older_than)
        except OSError as error:  # what is being published is delivered all the same
            log.warning("there could be no room made in the log: %s", error)

    def look_for_room(self) -> None:
        """A reader has committed, or time has passed: let those go on who waited."""
        if self.defers:
            self._write_all()
        self._make_room()
        if self.defers:
            return
        self._late.clear()
        answers, self._answers = self._answers, []
        for source, frame in answers:
            source.reply(frame)
        if not self._is_full():
            waited, self.holds = self.holds, set()
            for held in waited:
                held.release(self)
        self.on_room()

    # --- Time -----------------------------------------------------------------------

    def start(self) -> None:
        """Do what is to be done every second, from now on."""
        self._timer = asyncio.get_running_loop().call_later(TICK_SECONDS, self._tick)

    def _tick(self) -> None:
        self.start()
        self._ticks += 1
        if (self._is_dirty or self.store.has_more) and not self.is_synced:
            self._sync_elsewhere()
        self.readers.forget_silent()
        seconds = self._state.accounts.quotas.commit_seconds
        if self.holds and seconds and self._was_full:
            self.readers.forget_silent(seconds)
        self.on_tick()
        if self._waits_for_room:
            self.resume()
        self.look_for_room()
        if self._ticks % SIGN_OF_LIFE_TICKS == 0:
            self._show_life()

    def _sync_elsewhere(self) -> None:
        """Let a thread wait for the disk, unless that is not wanted."""
        self._is_dirty = False
        if self._settings.sync != "never":
            self.group_commit.start()
        elif not self.group_commit.is_busy:
            self.store.leave_unsynced()

    def _show_life(self) -> None:
        """Who waits hears something, or they would take the connection for broken."""
        for held in self.holds:
            if isinstance(held, Connection) and not held.outbox.in_lines:
                held.reply(Ping(b"").pack())

    async def stop(self) -> None:
        """Write everything, and do nothing more without being asked."""
        if self._timer is not None:
            self._timer.cancel()
        self.store.hurry()
        await self.group_commit.close()
        self._write_all()
        if self._unwritten:
            count = sum(len(piece.offsets) - 1 for piece in self._unwritten)
            log.error("%d notifications could not be written to the log", count)
        self.readers.save()

    async def close(self) -> None:
        """Have the disk keep all of it, and let others have the folder."""
        await self.group_commit.close()
        self.store.want_states()
        try:
            self.store.close()
        except OSError as error:
            log.error("the disk failed to keep the log: %s", error)  # noqa: TRY400 -- the reason is all

    def snapshot(self) -> dict[str, object]:
        """What there is to know."""
        return {
            "earliest": self.store.earliest,
            "latest": self.store.latest,
            "bytes": self.store.size,
            "bytes_max": self._settings.bytes,
            "waiting": len(self.holds),
            "trouble": self.trouble,
            "unlogged": self.unlogged,
            "readers": self.readers.positions(),
            **self.store.snapshot(),
        }


def _nobody_reads(*_: object) -> None:
    pass


def _pieces(batch: Batch, bad: set[int], time: int, tag: int) -> Iterator[_Piece]:
    """What a batch writes if publishers wait for it: each of theirs is a record.

    Its tag says whose it is, and so it is known again, whatever happens.
    """
    for place, origin in enumerate(batch.origins):
        is_last = place + 1 == len(batch.origins)
        end = batch.run.total if is_last else batch.origins[place + 1].first
        yield from _pieces_of(batch, origin, end, bad, time, tag)


def _pieces_of(
    batch: Batch, origin: Origin, end: int, bad: set[int], time: int, tag: int
) -> Iterator[_Piece]:
    blocks, offsets = batch.plain
    receipt = origin.receipt
    at = origin.first
    for index in [*(i for i in range(origin.first, end) if i in bad), end]:
        if at < index:
            bounds = offsets[at : index + 1]
            part = blocks[bounds[0] : bounds[-1]]
            before = at - origin.first
            tagged = tag if receipt is None else receipt.tag(before)
            yield _Piece(part, bounds - bounds[0], time, tagged, receipt, before)
        at = index + 1


def _without(batch: Batch, bad: set[int]) -> tuple[bytes, npt.NDArray[np.int64]]:
    """The blocks that are not bad."""
    good = [batch.block(i) for i in range(batch.run.total) if i not in bad]
    offsets = np.zeros(len(good) + 1, np.int64)
    np.cumsum([len(block) for block in good], out=offsets[1:])
    return b"".join(good), offsets
