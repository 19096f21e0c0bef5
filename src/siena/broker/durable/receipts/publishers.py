"""Publishers: whose publications are numbered, and which of them are stored.

Every record of publications with a receipt has a *tag* that says whose they are:
:func:`tag_of` of the publisher's number here and of the first sequence number.  So the
log itself remembers what is stored; a file beside it has the names of the numbers, and
how far each publisher was, so that only the end of the log is looked through at first.

What comes from other brokers is a publisher's, too: a *stream* of one life of the
broker where it entered, by way of one neighbour.  Its numbers are the offsets there, of
which some come and others do not, and where there are several ways not in order; so
each is remembered, and after a start a good part of the log is looked through for them.
"""

import logging
from bisect import bisect_right
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec import Struct

from siena.broker.durable.checked_file import (
    CheckedFile,
    Saved,
    read_checked,
    write_checked,
)
from siena.broker.durable.limits import (
    CHECKPOINT_OFFSETS,
    LIVES_MAX,
    PUBLISHERS_MAX,
    STREAM_STRETCHES_MAX,
    STREAMS_MAX,
)
from siena.broker.durable.page import read_page
from siena.broker.durable.receipts.window import Window
from siena.broker.log.files import SYSTEM, Files
from siena.broker.log.journal import Journal
from siena.broker.log.limits import SCAN_BYTES_MAX
from siena.errors import SienaError
from siena.protocol.limits import PUBLISHER_MAX, SEQUENCE_NUMBER_MAX

log = logging.getLogger("siena.broker")

FILE = "publishers.state"
_SEQUENCE_BITS = SEQUENCE_NUMBER_MAX.bit_length()
# What tells the tag of a publisher from that of a sink.
_IS_PUBLISHER = 1 << 63
# Who owns streams: no client has such a name.
_BROKERS = "\0"


def tag_of(publisher: int, sequence: int) -> int:
    """The tag of a record.

    >>> publisher_of(tag_of(7, 9)), publisher_of(9)
    ((7, 9), None)
    """
    return _IS_PUBLISHER | publisher << _SEQUENCE_BITS | sequence


def publisher_of(tag: int) -> tuple[int, int] | None:
    """The publisher and the sequence number of a tag, if it is one of these."""
    if not tag & _IS_PUBLISHER:
        return None
    return tag >> _SEQUENCE_BITS & PUBLISHER_MAX, tag & SEQUENCE_NUMBER_MAX


class Stream(NamedTuple):
    """Where publications entered the network, in which life, and who brings them."""

    broker: int
    life: int
    source: int


class Life(NamedTuple):
    """A life of this broker, and the offset with which it began."""

    number: int
    begins: int


class _SavedStream(Struct, array_like=True):
    """A stream as it is written down."""

    stream: Stream
    number: int
    since: int
    floor: int


class _Saved(Struct, array_like=True):
    """A publisher as it is written down."""

    owner: str
    name: str
    number: int
    # Records before this offset are of another, who had the number before.
    since: int
    # What is below is on the disk.
    next: int


class _State(Struct):
    # Up to here publishers are as far as the log is.
    offset: int = 0
    last: int = 0
    publishers: list[_Saved] = []
    streams: list[_SavedStream] = []
    lives: list[Life] = []


class KnownPublisher:
    """A publisher, and what is stored of it."""

    def __init__(
        self,
        owner: str,
        name: str,
        number: int,
        since: int,
        stream: Stream | None = None,
    ) -> None:
        self.owner = owner
        self.name = name
        self.number = number
        self.since = since
        self.stream = stream
        """Which stream it is, if it is no client."""
        self.is_saved = False
        """Whether the disk knows of it."""
        self.window = Window()
        self.synced = 0
        """What is below is on the disk, but for what was refused."""
        self.late: list[Late] = []
        """Who has sent again what is not written yet."""


class Late(Struct):
    """Numbers that were sent again before they were written."""

    first: int
    end: int
    session: object


class Publishers:
    """All publishers that are remembered.

    Ownership: of the file, from making it to :meth:`close`.
    """

    def __init__(
        self, journal: Journal, folder: Path, life: int = 0, files: Files = SYSTEM
    ) -> None:
        self._journal = journal
        self._files = files
        self._known: dict[tuple[str, str], KnownPublisher] = {}
        self._streams: dict[Stream, KnownPublisher] = {}
        self._numbered: dict[int, KnownPublisher] = {}
        self._lives: list[Life] = []
        self._last = 0
        self._checkpoint = 0
        self._file = CheckedFile(folder / FILE, self._contents, files)
        self._recover(folder / FILE)
        self._begin(folder / FILE, life)

    def __len__(self) -> int:
        return len(self._known)

    def find(self, number: int) -> KnownPublisher | None:
        """The publisher with a number."""
        return self._numbered.get(number)

    def register(self, owner: str, name: str, then: Saved) -> KnownPublisher:
        """The publisher of a name; it is remembered once this is called."""
        key = owner, name
        known = self._known.pop(key, None)
        if known is None:
            known = KnownPublisher(owner, name, self._number(), self._latest)
            self._numbered[known.number] = known
            if len(self._known) >= PUBLISHERS_MAX:
                oldest = self._known.pop(next(iter(self._known)))
                del self._numbered[oldest.number]
        self._known[key] = known  # heard of last
        self._file.save(then)
        return known

    # --- Streams --------------------------------------------------------------------

    def stream(self, stream: Stream, then: Saved) -> KnownPublisher:
        """The publisher that a stream is.

        If the disk does not know of it yet, this is called when it does, or when it has
        not taken it; then it is forgotten, and may be asked for again.
        """
        known = self._streams.pop(stream, None)
        if known is not None:
            self._streams[stream] = known  # heard of last
            return known
        known = KnownPublisher(_BROKERS, "", self._number(), self._latest, stream)
        known.window = self._window_of(stream)
        self._streams[stream] = self._numbered[known.number] = known
        if len(self._streams) > STREAMS_MAX:
            oldest = self._streams.pop(next(iter(self._streams)))
            del self._numbered[oldest.number]

        def saved(failure: OSError | None) -> None:
            if failure is None:
                known.is_saved = True
            else:
                self._streams.pop(stream, None)
                self._numbered.pop(known.number, None)
            then(failure)

        self._file.save(self._journal.once_kept(saved))
        return known

    def _window_of(self, stream: Stream, floor: int = 0) -> Window:
        """What is stored of a broker's life, by whichever neighbour it came."""
        for known in self._streams.values():
            assert known.stream is not None
            if known.stream[:2] == stream[:2]:
                known.window.has_several_ways = True
                return known.window
        return Window(floor, STREAM_STRETCHES_MAX)

    def life_of(self, offset: int) -> int:
        """The life of this broker in which an offset was given.

        An offset that was lost may be given again, in another life.
        """
        place = bisect_right(self._lives, offset, key=lambda life: life.begins)
        return self._lives[max(0, place - 1)].number

    def _begin(self, path: Path, life: int) -> None:
        """Begin a life, and have the disk know it before anything is said of it."""
        latest = self._latest
        self._lives = [each for each in self._lives if each.begins < latest]
        self._lives = [*self._lives[1 - LIVES_MAX :], Life(life, latest)]
        try:
            write_checked(path, self._contents(), self._files)
        except OSError as error:
            raise SienaError(f"{path} cannot be written: {error}") from None

    def look_for_checkpoint(self) -> None:
        """Write down how far publishers are, if the log has grown much since."""
        if self._journal.group_commit.synced - self._checkpoint >= CHECKPOINT_OFFSETS:
            self._checkpoint = self._journal.group_commit.synced
            self._file.save()

    async def close(self) -> None:
        """Write down how far publishers are."""
        await self._file.close()

    @property
    def _latest(self) -> int:
        return self._journal.store.latest

    def _number(self) -> int:
        """A number of no publisher; what is in the log of it is before ``since``."""
        assert len(self._numbered) <= PUBLISHERS_MAX + STREAMS_MAX < PUBLISHER_MAX
        while True:
            self._last = self._last % PUBLISHER_MAX + 1
            if self._last not in self._numbered:
                return self._last

    def _contents(self) -> bytes:
        saved = [
            _Saved(p.owner, p.name, p.number, p.since, p.synced)
            for p in self._known.values()
        ]
        streams = [
            _SavedStream(stream, p.number, p.since, p.window.floor)
            for stream, p in self._streams.items()
        ]
        synced = self._journal.group_commit.synced
        state = _State(synced, self._last, saved, streams, self._lives)
        return msgspec.json.encode(state)

    # --- Recovering -----------------------------------------------------------------

    def _recover(self, path: Path) -> None:
        data = read_checked(path)
        if data is None:
            return
        try:
            state = msgspec.json.decode(data, type=_State)
        except msgspec.MsgspecError as error:
            raise SienaError(f"{path} cannot be read: {error}") from None
        self._last = state.last
        for saved in state.publishers:
            known = KnownPublisher(saved.owner, saved.name, saved.number, saved.since)
            known.window = Window(saved.next)
            known.synced = saved.next
            self._known[saved.owner, saved.name] = known
            self._numbered[saved.number] = known
        for each in state.streams:
            known = KnownPublisher(_BROKERS, "", each.number, each.since, each.stream)
            known.is_saved = True
            known.window = self._window_of(each.stream, each.floor)
            self._streams[each.stream] = self._numbered[each.number] = known
        self._lives = state.lives
        self._checkpoint = state.offset
        if state.streams or state.publishers:
            self._look_through(state.offset - CHECKPOINT_OFFSETS)

    def _look_through(self, start: int) -> None:
        """Find what was stored since it was written down how far publishers were.

        Raises:
            SienaError: if it cannot be read now: what is sent again would be stored
                again.
        """
        store = self._journal.store
        at = start
        while at < store.latest:
            try:
                page = read_page(store, at, SCAN_BYTES_MAX)
            except OSError as error:
                raise SienaError(
                    f"the log cannot be read from offset {at} on: {error}",
                    hint="without it, what publishers send again would be stored again",
                ) from None
            for record in page.records:
                self._found(record.tag, record.first, len(record.lengths))
            if page.lost is not None:
                log.warning(
                    "what was lost of the log, offsets %d to %d, is stored again if it "
                    "is sent again",
                    *(page.lost.first, page.lost.end - 1),
                )
            at = page.end

    def _found(self, tag: int, offset: int, count: int) -> None:
        whose = publisher_of(tag)
        known = None if whose is None else self._numbered.get(whose[0])
        if whose is None or known is None or offset < known.since:
            return
        for stretch in known.window.split(whose[1], whose[1] + count):
            if not stretch.is_known:
                place = offset + stretch.first - whose[1]
                known.window.store(stretch.first, stretch.end, place)
                if self._journal.group_commit.failure is None:
                    known.synced = known.window.end  # since the log was opened
