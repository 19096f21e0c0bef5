"""Remembered: identities that outlive the broker, where it has a log.

What each identity has asked for is written down in a file beside the log, a line
whenever it changes; and, for one that is away, since which offset.  What was kept for
it is not: a broker that starts reads it again from the log, from that offset on.  So an
end of the process costs no identity anything, however it ends.

A client that was connected when the broker died cannot be told from one that has read
everything: what it missed between is no more than named (GAP).
"""

import logging
import zlib
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import msgspec
from msgspec import Struct

from siena.broker.access.grants.decisions import InForce
from siena.broker.clients.session import Session
from siena.broker.log.files import SYSTEM, Files
from siena.broker.log.journal import Journal
from siena.broker.log.limits import SCAN_BYTES_MAX
from siena.broker.log.records import DamagedLogError, Record
from siena.broker.state import BrokerState
from siena.errors import SienaError
from siena.lang.parser import parse_advertisement, parse_interest
from siena.messages import (
    Advertise,
    Encoded,
    Interest,
    Leave,
    Numbered,
    Party,
    Subscribe,
)
from siena.protocol.control_frames import Gap
from siena.protocol.fast.split_frames import run_of
from siena.routing.mailbox import QUEUE_DEFAULT

log = logging.getLogger("siena.broker")

FILE = "identities.lines"
# The file is written anew when it has so many bytes more than what counts in it.
SLACK_BYTES = 1024 * 1024


class Line(Struct, omit_defaults=True):
    """All that is remembered of an identity."""

    identity: str
    interests: dict[int, str] = {}
    advertisements: dict[int, str] = {}
    # Of interests that were granted in part, what was asked for.
    asked: dict[int, str] = {}
    # Since which offset it is away, and how many are kept for it; or it is there.
    since: int | None = None
    queue: int = QUEUE_DEFAULT
    # When this was written, in microseconds.
    time: int = 0
    # It is no identity of this broker any more.
    is_gone: bool = False


class Remembered:
    """Writes down what identities ask for, and takes it up again.

    Ownership: of the file, from :meth:`take_up` to :meth:`close`.
    """

    def __init__(
        self,
        state: BrokerState,
        journal: Journal,
        folder: Path,
        files: Files = SYSTEM,
    ) -> None:
        self._state = state
        self._files = files
        self._journal = journal
        self._path = folder / FILE
        self._changed: set[str] = set()
        # Since which offset each of those is away that are.
        self._since: dict[str, int] = {}
        self._sizes: dict[str, int] = {}
        self._size = 0
        self._file: int | None = None
        self._is_short = False

    # --- Taking up ------------------------------------------------------------------

    def take_up(self, numbers: "count[int]") -> None:
        """Let all identities be as they were when the broker ended."""
        begun = self._state.clock.elapsed()
        lines = self._read()
        away: dict[str, int] = {}
        for line in lines.values():
            session = self._session(line, next(numbers))
            since = line.since
            if since is None:  # it was there
                since = self._journal.store.latest
                now = self._state.clock.nanoseconds() // 1_000
                session.gaps.append(Gap(line.time, now, "the broker ended"))
            line.since = away[session.client] = since
            self._since[line.identity] = since
        kept = self._read_again(away) if away else 0
        self._write_anew(lines)
        if lines:
            log.warning(
                "took up %d identities, with %d notifications kept for them, in %.1f s",
                *(len(lines), kept, self._state.clock.elapsed() - begun),
            )
        self._state.remember = self.changed

    def _session(self, line: Line, number: int) -> Session:
        """An identity that is away, and wants what it wanted."""
        state = self._state
        session = Session(number, state.router.registrations, line.identity)
        state.sessions[number] = session
        state.identities[line.identity] = session
        state.handle(Leave(line.queue), session.client)
        for key, text in line.interests.items():
            try:
                interest = parse_interest(text, residuals=True)
            except SienaError as error:
                log.warning("%r wanted %s: %s", line.identity, text, error)
                continue
            self._take_asked(session, line, key, interest)
            state.handle(Subscribe(interest), session.party(key))
        for key, text in line.advertisements.items():
            try:
                advertisement = parse_advertisement(text)
            except SienaError as error:
                log.warning("%r offered %s: %s", line.identity, text, error)
                continue
            state.handle(Advertise(advertisement), session.party(key))
        return session

    def _take_asked(
        self, session: Session, line: Line, key: int, interest: Interest
    ) -> None:
        """What was asked for, if that was more: who comes again asks for it again."""
        text = line.asked.get(key)
        if text is not None:
            try:
                asked = parse_interest(text, residuals=True)
            except SienaError as error:
                log.warning("%r asked for %s: %s", line.identity, text, error)
            else:
                session.narrowed[key] = InForce(asked, interest)

    def _read_again(self, away: dict[str, int]) -> int:
        """Keep for them what the log has since they are away; how many that was."""
        store = self._journal.store
        at = max(min(away.values()), store.earliest)
        late = [client for client, since in away.items() if since < store.earliest]
        for client in late:
            session = self._state.sessions[int(client)]
            text = "the log no longer has what came first"
            session.gaps.append(Gap(0, self._state.clock.nanoseconds() // 1_000, text))
        kept = 0
        while at < store.latest:
            before = at
            try:
                for record in store.scan(at, SCAN_BYTES_MAX):
                    kept += self._keep(record, away)
                    at = record.end
            except DamagedLogError as error:
                at = error.gap[1] if error.gap else store.latest
            if at == before:
                break
        return kept

    def _keep(self, record: Record, away: dict[str, int]) -> int:
        blocks = record.all_blocks()
        run = run_of(blocks)
        routed = self._state.exchange.route(run.frames, run.start, run.end)
        wanted: dict[tuple[int, str], list[int]] = {}
        for key, indices in routed.others:
            if isinstance(key, Party):
                since = away[key.client] - record.first
                for index in indices[indices >= since].tolist():
                    wanted.setdefault((index, key.client), []).append(key.number)
        for (index, client), numbers in sorted(wanted.items()):
            letter = Numbered(tuple(sorted(numbers)), Encoded(blocks[index], None))
            self._state.post(self._state.router.deliver(client, letter))
        return len(wanted)

    # --- Writing down ---------------------------------------------------------------

    def changed(self, session: Session, *, at_once: bool) -> None:
        """Something about an identity has changed; whether to write it down now."""
        if session.identity is None:
            return
        self._changed.add(session.identity)
        if at_once:
            self.write()

    def write(self) -> None:
        """Write down what has changed; if the disk does not take it, later."""
        if not self._changed:
            return
        lines = [self._line(identity) for identity in sorted(self._changed)]
        data = [_pack(line) for line in lines]
        try:
            if self._is_short or self._file is None:  # half a line stands at the end
                self._write_anew(self._all())
            else:
                self._files.write(self._file, data)
        except OSError as error:
            if not self._is_short:
                log.warning("identities cannot be written down yet: %s", error)
            self._is_short = True
            return
        self._is_short = False
        self._changed.clear()
        for line, packed in zip(lines, data, strict=True):
            self._size += len(packed)
            self._sizes[line.identity] = 0 if line.is_gone else len(packed)
        if self._size > 2 * sum(self._sizes.values()) + SLACK_BYTES:
            try:
                self._write_anew(self._all())
            except OSError as error:  # it grows on
                log.warning("identities cannot be written anew yet: %s", error)

    def _line(self, identity: str) -> Line:
        session = self._state.identities.get(identity)
        if session is None:
            self._since.pop(identity, None)
            return Line(identity, is_gone=True)
        mailbox = self._state.router.mailboxes.find(session.client)
        queue = None if mailbox is None else mailbox.queue_max
        since = self._since.get(identity)
        if queue is None:
            self._since.pop(identity, None)
            since = None
        elif since is None:
            since = self._since[identity] = self._journal.store.latest
        return Line(
            identity,
            {number: str(item) for number, item in session.interests.items()},
            {number: str(item) for number, item in session.advertisements.items()},
            {number: str(each.asked) for number, each in session.narrowed.items()},
            since,
            QUEUE_DEFAULT if queue is None else queue,
            self._state.clock.nanoseconds() // 1_000,
        )

    def _all(self) -> dict[str, Line]:
        return {identity: self._line(identity) for identity in self._state.identities}

    def close(self) -> None:
        """Write down what is left."""
        self.write()
        if self._file is not None:
            self._files.close(self._file)
            self._file = None

    # --- The file -------------------------------------------------------------------

    def _read(self) -> dict[str, Line]:
        found: dict[str, Line] = {}
        for line in _lines(self._path):
            if line.is_gone:
                found.pop(line.identity, None)
            else:
                found[line.identity] = line
        return found

    def _write_anew(self, lines: dict[str, Line]) -> None:
        data = {identity: _pack(line) for identity, line in lines.items()}
        # Synced, however the log is: or a loss of power could leave a name of nothing.
        self._files.write_whole(self._path, b"".join(data.values()), sync=True)
        if self._file is not None:
            self._files.close(self._file)
        self._file = self._files.open_for_append(self._path)
        self._sizes = {identity: len(packed) for identity, packed in data.items()}
        self._size = sum(self._sizes.values())


def _pack(line: Line) -> bytes:
    data = msgspec.json.encode(line)
    return b"%08x %s\n" % (zlib.crc32(data), data)


def _lines(path: Path) -> Iterator[Line]:
    """The good lines of a file; what is damaged is said, and costs its line."""
    if not path.exists():
        return
    good, problems = good_lines(path)
    for number, why in problems:
        log.warning("line %d of %s is damaged, and left out: %s", number, path, why)
    for line in good:
        yield msgspec.json.decode(line.partition(b" ")[2], type=Line)


def good_lines(path: Path) -> tuple[list[bytes], list[tuple[int, str]]]:
    """The good lines of a file, and which others there are, and what is wrong."""
    good: list[bytes] = []
    problems: list[tuple[int, str]] = []
    for number, text in enumerate(path.read_bytes().split(b"\n"), 1):
        crc, _, data = text.partition(b" ")
        if not text:
            continue
        try:
            if crc != b"%08x" % zlib.crc32(data):
                raise ValueError("its checksum is wrong")  # noqa: TRY301 -- one way to say it
            msgspec.json.decode(data, type=Line)
        except (ValueError, msgspec.MsgspecError) as error:
            problems.append((number, str(error)))
        else:
            good.append(text)
    return good, problems
