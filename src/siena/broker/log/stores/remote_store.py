"""A log whose folder is the working copy of a stream.

*What is kept when.*  A record is kept once :meth:`RemoteStore.sync` has returned: the
disk has it, and the stream as well.  So do the small files beside the log, if
:meth:`RemoteStore.want_states` was called, and a second later otherwise.

*While the stream is away* records go to the working copy, up to a bound of space and
time; then :meth:`RemoteStore.append` raises, as it does for a full disk.
"""

import copy
import logging
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from siena.broker.log.files import SYSTEM, Files, locked
from siena.broker.log.records import DamagedLogError, Record
from siena.broker.log.segment import Segment, scan_segments
from siena.broker.log.store import Store
from siena.broker.log.stores.limits import (
    BEHIND_BYTES_MAX,
    CLOSE_SECONDS,
    PATIENCE_SECONDS,
    SYNC_SECONDS,
    TAKE_OVER_TRIES,
)
from siena.broker.log.stores.pieces import LOG, Joining, read_piece, split_records
from siena.broker.log.stores.states import States, is_state, write_state
from siena.broker.log.stores.stream import DisplacedError, MessageStream, StreamError
from siena.broker.log.stores.working_copy import CopyStatus, WorkingCopy
from siena.broker.log.stores.writer import StateOf, StreamWriter, end_of
from siena.clock import Clock
from siena.errors import SienaError

log = logging.getLogger("siena.broker")


class _AtAMoment(NamedTuple):
    """The files of a log as they are now, to be read by another thread."""

    segments: list[Segment]
    earliest: int
    begun: int

    def scan(self, start: int, budget: int) -> Iterator[Record]:
        return scan_segments(self.segments, max(start, self.earliest), budget)


class RemoteStore(Store):
    """Records by offset, in a folder and in a stream.

    Ownership: of the folder and of the stream, from making it to :meth:`close`.

    Raises:
        SienaError: if the folder is not of this stream, or another broker writes to it.
    """

    is_elsewhere = True

    def __init__(
        self,
        folder: Path,
        segment_bytes: int,
        stream: MessageStream,
        identity: str,
        clock: Clock,
        files: Files = SYSTEM,
    ) -> None:
        self.where = stream.name
        self._stream = stream
        self._clock = clock
        self._writer = StreamWriter(stream, uuid4().hex, clock)
        self._appended_bytes = self._kept_bytes = self._trimmed = 0
        self._are_states_wanted = False
        self._begun = 0
        self._states = States(folder, clock)
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(folder):
                working_copy = WorkingCopy(folder, stream, identity, files)
                status = working_copy.prepare()
            super().__init__(folder, segment_bytes, files)
            try:
                self._take_over(working_copy, status)
                self.want_states()
                self._pushing(SYNC_SECONDS)()
            except BaseException:
                self._let_go()
                raise
        except BaseException as error:
            stream.close()
            if isinstance(error, StreamError | DamagedLogError):
                raise SienaError(f"{stream.name}: {error}") from None
            raise

    # --- Taking over ----------------------------------------------------------------

    def _take_over(self, working_copy: WorkingCopy, status: CopyStatus) -> None:
        """Get what the folder lacks, and be the one that writes."""
        working_copy.begin_life(self._writer.name)
        states: dict[str, bytes] = {}
        seen = 0
        for _ in range(TAKE_OVER_TRIES):
            last = self._stream.last_number()
            kept = end_of(self._stream.last())
            if status is CopyStatus.BEHIND or kept > self.latest:
                self._read(seen + 1, last + 1, states)
                seen = last
            try:
                self._writer.begin(last, kept)
                break
            except DisplacedError:
                if status is CopyStatus.AHEAD:
                    text = f"another broker has just begun to write to {self.where}"
                    raise SienaError(text) from None
        else:
            raise SienaError(f"another broker writes to {self.where} all the time")
        self._leave_out()
        self._begun = self.latest
        if status is CopyStatus.BEHIND:
            for name, data in states.items():
                if is_state(name):
                    write_state(self._folder, StateOf(name, data), self.files)
            log.warning(
                "%s was made from %s, up to offset %d",
                *(self._folder, self.where, self.latest),
            )

    def _read(self, start: int, end: int, states: dict[str, bytes]) -> None:
        """Append what the stream has of the log, and find its files."""
        joining = Joining()
        for number, data in self._stream.read(start, end):
            whole = joining.add(number, read_piece(data))
            if whole is None:
                continue
            if whole.about != LOG:
                states[whole.about] = whole.data
                continue
            for record in split_records(whole.data):
                if record.first >= self.latest:
                    self.skip_to(record.first)
                    super().append(
                        *(record.blocks, record.offsets(), record.time, record.tag)
                    )

    # --- Writing --------------------------------------------------------------------

    def append(
        self,
        blocks: bytes | memoryview,
        offsets: npt.NDArray[np.int64],
        time: int,
        tag: int = 0,
    ) -> None:
        """Write blocks to the working copy, unless too much waits for the stream.

        Raises:
            OSError: if so, or if the disk does not take them.
        """
        reason = self._reason_to_wait()
        if reason:
            raise StreamError(reason)
        size = self.size
        super().append(blocks, offsets, time, tag)
        self._appended_bytes += self.size - size

    def _reason_to_wait(self) -> str:
        since, trouble = self._writer.away_since, self._writer.trouble
        away = 0.0 if since is None else self._clock.elapsed() - since
        if away > PATIENCE_SECONDS:
            return f"{self.where} has kept nothing for {away:.0f} s: {trouble}"
        if self.behind_bytes > BEHIND_BYTES_MAX:
            text = f"{self.behind_bytes} bytes wait for {self.where}"
            return f"{text}: {trouble}" if trouble else text
        return ""

    def skip_to(self, offset: int) -> None:
        """Give no offset before this one; what stood there is not in the stream."""
        super().skip_to(offset)
        self._begun = max(self._begun, offset)

    @property
    def behind_bytes(self) -> int:
        """How much the working copy has that the stream has not."""
        return self._appended_bytes - self._kept_bytes

    def sync(self) -> None:
        """Have disk and stream keep what was written, as long as the stream answers."""
        super().sync()
        self._pushing(SYNC_SECONDS)()

    def syncing(self) -> Callable[[], None]:
        """The same, for another thread."""
        on_disk, in_stream = super().syncing(), self._pushing()

        def sync() -> None:
            on_disk()
            in_stream()

        return sync

    def _pushing(self, patience_s: float = math.inf) -> Callable[[], None]:
        # Copies: the files grow while they are read, and may be deleted.
        segments = [copy.copy(segment) for segment in self._segments]
        source = _AtAMoment(segments, self.earliest, self._begun)
        end, appended = self.latest, self._appended_bytes
        at_once, self._are_states_wanted = self._are_states_wanted, False

        def push() -> None:
            losses = self._writer.losses
            states = self._states.take(at_once=at_once)
            self._writer.keep(source, end, states, patience_s)
            self._states.have_taken_kept()
            while self._writer.losses > losses:
                losses = self._writer.losses
                self._states.have_all_kept()
                states = self._states.take(at_once=True)
                self._writer.keep(source, end, states, patience_s)
                self._states.have_taken_kept()
            self._kept_bytes = appended
            if source.earliest > self._trimmed:
                if not self._stream.forgets_by_subject:
                    self._states.have_all_kept()
                    states = self._states.take(at_once=True)
                    self._writer.keep(source, end, states, patience_s)
                    self._states.have_taken_kept()
                self._writer.trim(source.earliest)
                self._trimmed = source.earliest

        return push

    def want_states(self) -> None:
        """Have the next sync keep the small files as they are."""
        self._are_states_wanted = True

    @property
    def has_more(self) -> bool:
        """Whether small files wait to be kept."""
        return self._states.is_due()

    def make_room(self, floor: int, bytes_max: int, older_than: float | None) -> int:
        """Delete what no reader needs, and the stream has."""
        return super().make_room(min(floor, self._writer.kept), bytes_max, older_than)

    def snapshot(self) -> dict[str, object]:
        """What there is to know of the stream."""
        return {
            "store": self.where,
            "store_has": self._writer.kept,
            "store_behind_bytes": self.behind_bytes,
            "store_trouble": self._writer.trouble,
        }

    # --- Closing --------------------------------------------------------------------

    def hurry(self) -> None:
        """The end is near: try no longer than some seconds."""
        self._writer.close_within(CLOSE_SECONDS)

    def close(self) -> None:
        """Have everything kept, if that can be done soon."""
        self.hurry()
        try:
            super().close()
        except OSError as error:
            log.error(  # noqa: TRY400 -- the reason is all
                "%s lacks offsets from %d on, which are in %s, and follow at the next "
                "start: %s",
                *(self.where, self._writer.kept, self._folder, error),
            )
        finally:
            self._stream.close()
