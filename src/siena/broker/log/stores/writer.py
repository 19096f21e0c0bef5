"""The writer of a stream: one life of a broker, and no other as long as it lasts.

It knows the number of the last message and the offset up to which the stream has the
log.  After an answer that did not come it asks what is there, and goes on behind that;
if another has written meanwhile, it writes no more.
"""

import logging
import math
import threading
from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from siena.broker.log.limits import SCAN_BYTES_MAX
from siena.broker.log.records import DamagedLogError, Record
from siena.broker.log.stores.limits import PIECE_BYTES, RETRY_SECONDS
from siena.broker.log.stores.pieces import (
    HEAD_BYTES_MAX,
    LOG,
    Piece,
    joined_records,
    key_of,
    pack_piece,
    pieces_of,
    read_piece,
)
from siena.broker.log.stores.stream import (
    DisplacedError,
    Message,
    MessageStream,
    Outgoing,
    StreamError,
)
from siena.clock import Clock

log = logging.getLogger("siena.broker")


class FencedError(OSError):
    """Another broker has taken over."""


class LogView(Protocol):
    """A log as it is at a moment."""

    @property
    def begun(self) -> int:
        """What is below this offset was there before the broker was."""
        ...

    @property
    def earliest(self) -> int:
        """The first offset that there is."""
        ...

    def scan(self, start: int, budget: int) -> Iterator[Record]:
        """Records from an offset on, of about so many bytes together."""
        ...


class StateOf(NamedTuple):
    """A small file beside the log, and what it has."""

    name: str
    data: bytes


class StreamWriter:
    """Writes to a stream; :meth:`keep` blocks, and is called by one thread at a time.

    Args:
        writer: what this life is called; no other has the name.
    """

    def __init__(self, stream: MessageStream, writer: str, clock: Clock) -> None:
        self.stream = stream
        self.name = writer
        self._clock = clock
        self._last = self._last_of_log = 0
        # Whether it is known what stands last: not after an answer that did not come.
        self._is_sure = True
        self.kept = 0
        """The offset up to which the stream has the log."""
        self.losses = 0
        """How often the stream had lost something that it had."""
        self.trouble = ""
        """Why it is waited for, if it is."""
        self.away_since: float | None = None
        """Since when there is no answer."""
        self._closes_at: float | None = None
        self._is_woken = threading.Event()

    @property
    def _size(self) -> int:
        return min(PIECE_BYTES, self.stream.message_bytes - HEAD_BYTES_MAX)

    def begin(self, after: int, kept: int) -> None:
        """Be the writer from now on, right behind a message.

        Raises:
            DisplacedError: if there is another behind it already.
            StreamError: if there is no answer.
        """
        self._last, self.kept = after, kept
        self._append(pieces_of(self.name, LOG, kept, kept, b"", self._size))

    def close_within(self, seconds: float) -> None:
        """Try no longer than this from now on; the first call counts."""
        if self._closes_at is None:
            self._closes_at = self._clock.elapsed() + seconds
            self._is_woken.set()

    # --- Keeping --------------------------------------------------------------------

    def keep(
        self,
        source: LogView,
        end: int,
        states: Sequence[StateOf],
        patience_s: float = math.inf,
    ) -> None:
        """Have the stream keep the log up to an offset, and some files; however long.

        Without an answer it is tried for ``patience_s``, and then no more.

        Raises:
            FencedError: if another broker writes there now.
            StreamError: if it was to end before it was done.
            OSError: if what is to be kept cannot be read.
        """
        left = list(states)
        while True:
            try:
                if not self._is_sure:
                    self._find_end(source)
                    self._is_sure = True
                self._keep_all(source, end, left)
            except DisplacedError:
                self._is_sure = False
            except StreamError as error:
                self._is_sure = False
                self._wait(error, patience_s)
            except DamagedLogError as error:
                raise OSError(f"what {self.stream.name} lacks: {error}") from None
            else:
                if self.trouble:
                    log.warning("%s answers again", self.stream.name)
                self.trouble, self.away_since = "", None
                return

    def _keep_all(self, source: LogView, end: int, left: list[StateOf]) -> None:
        self._keep_log(source, end)
        while left:
            self._keep_state(left[0])
            del left[0]

    def _keep_log(self, source: LogView, end: int) -> None:
        while self.kept < end:
            records = self._read(source, end)
            pieces: list[Piece] = []
            for first, after, data in joined_records(records, self._size):
                pieces += pieces_of(self.name, LOG, first, after, data, self._size)
            if pieces:
                self._append(pieces)
                self.kept = pieces[-1].end

    def _read(self, source: LogView, end: int) -> list[Record]:
        """What comes next; nothing, if that is passed over because it cannot be read.

        Raises:
            DamagedLogError: if it was written in this life, and so may be waited for.
        """
        found: list[Record] = []
        try:
            for record in source.scan(self.kept, SCAN_BYTES_MAX):
                if record.first >= end:
                    break
                found.append(record)
        except DamagedLogError as error:
            if not found:
                first, after = error.gap or (self.kept, end)
                if after > source.begun:
                    raise
                log.warning(
                    "the log has lost offsets %d to %d, which %s does not get",
                    *(first, after - 1, self._name),
                )
                self.kept = after
                return found
        if not found:  # behind the last record there are offsets that never were
            self.kept = end
        return found

    def _keep_state(self, state: StateOf) -> None:
        pieces = pieces_of(
            *(self.name, state.name, self.kept, self.kept), state.data, self._size
        )
        before = self._last + 1
        self._append(pieces)
        self._forget(state.name, before)

    def _append(self, pieces: Sequence[Piece]) -> None:
        messages = [
            Outgoing(piece.about, key_of(piece), pack_piece(piece)) for piece in pieces
        ]
        self._last = self.stream.append(messages, self._last)
        if pieces[-1].about == LOG:
            self._last_of_log = self._last

    # --- When it is not known -------------------------------------------------------

    def _find_end(self, source: LogView) -> None:
        """Ask what is there, and go on behind it."""
        last = self.stream.last()
        if last is None:
            self._last = self.stream.last_number()
            self.losses += 1
            if self.kept > source.earliest:
                log.warning("%s has lost everything: it gets it again", self._name)
            self.kept = source.earliest
            return
        if read_piece(last.data).writer != self.name:
            raise FencedError(
                f"another broker writes to {self._name}, and nothing is acknowledged "
                "here any more"
            )
        self._last = last.number
        kept = end_of(last)
        if kept < self.kept:
            self.losses += 1
            log.warning(
                "%s has lost offsets %d to %d: it gets them again",
                *(self._name, kept, self.kept - 1),
            )
        self.kept = max(kept, source.earliest)

    @property
    def _name(self) -> str:
        return self.stream.name

    def _wait(self, error: StreamError, patience_s: float) -> None:
        now = self._clock.elapsed()
        if not self.trouble:
            log.warning("%s does not keep the log: %s", self._name, error)
        self.trouble = str(error)
        self.away_since = now if self.away_since is None else self.away_since
        if self._closes_at is not None and now >= self._closes_at:
            raise error
        if now - self.away_since >= patience_s:
            raise error
        self._is_woken.wait(RETRY_SECONDS)
        if self._closes_at is not None:
            self._is_woken.clear()

    # --- What is needed no more -----------------------------------------------------

    def trim(self, floor: int) -> None:
        """Have the stream forget what stands before an offset; if not now, later.

        The last one of the log stays: it says where the log goes on.  Where all that
        stands before it goes, small files have to have been kept again behind it.
        """
        try:
            low, high = 1, min(self._last, self._last_of_log)
            while low < high:
                middle = (low + high) // 2
                found = self.stream.next(LOG, middle)
                if found is not None and read_piece(found.data).end <= floor:
                    low = min(found.number + 1, high)
                else:
                    high = middle
            self.stream.forget(LOG, low)
        except (StreamError, DamagedLogError) as error:
            log.warning("%s forgets nothing: %s", self._name, error)

    def _forget(self, about: str, before: int) -> None:
        if not self.stream.forgets_by_subject:  # by their keys the older ones go
            return
        try:
            self.stream.forget(about, before)
        except StreamError as error:  # the next time
            log.debug("%s forgets nothing: %s", self._name, error)


def end_of(last: Message | None) -> int:
    """The offset behind what a stream has of a log, by its last message.

    A piece of a small file says as well how far the log was kept before it.
    """
    if last is None:
        return 0
    piece = read_piece(last.data)
    return piece.end if piece.is_whole else piece.first
