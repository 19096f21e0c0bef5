"""The writer of a stream: whatever gets lost on the way, all is there, and once."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from broker.logs import everything
from siena.block import encode
from siena.broker.log.files import Files
from siena.broker.log.records import DamagedLogError, Record
from siena.broker.log.segment_file import HEADER_BYTES
from siena.broker.log.store import Store
from siena.broker.log.stores import (
    remote_store as remote_store_module,
    writer as writer_module,
)
from siena.broker.log.stores.pieces import (
    LOG,
    Joining,
    pack_piece,
    pieces_of,
    read_piece,
    split_records,
)
from siena.broker.log.stores.remote_store import RemoteStore
from siena.broker.log.stores.stream import (
    DisplacedError,
    Message,
    Outgoing,
    StreamError,
)
from siena.clock import SystemClock
from siena.errors import SienaError
from siena.matching.input.buffers import encode_all


class ObviousStream:
    """A list of messages: what a server does, with every accident on the way."""

    name = "a list"
    message_bytes = 1_400  # some hundred bytes for each piece
    forgets_by_subject = True

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self.messages: list[tuple[str, bytes]] = []
        self.accidents = 0.0
        self._late: list[tuple[int, str, bytes]] = []

    def last_number(self) -> int:
        self._maybe_fail()
        return len(self.messages)

    def append(self, messages: Sequence[Outgoing], after: int) -> int:
        self._arrive_late()
        for number, (subject, _, data) in enumerate(messages, after):
            if self._is_accident():
                kind = self._rng.randrange(3)
                if kind == 0:  # it never arrives
                    raise StreamError("there is no answer")
                if kind == 1:  # it arrives when nobody expects it
                    self._late.append((number, subject, data))
                    raise StreamError("there is no answer")
                self._store(number, subject, data)  # the answer is lost
                raise StreamError("there is no answer")
            if not self._store(number, subject, data):
                raise DisplacedError
        return after + len(messages)

    def _store(self, after: int, subject: str, data: bytes) -> bool:
        if len(self.messages) != after:
            return False
        self.messages.append((subject, data))
        return True

    def _arrive_late(self) -> None:
        for each in self._late:
            if self._rng.random() < 0.5:
                self._store(*each)
        self._late = self._late[-3:]

    def last(self) -> Message | None:
        self._maybe_fail()
        self._arrive_late()
        found = list(self.read(1, 2**63))
        return found[-1] if found else None

    def _of(self, message: Message) -> str:
        return self.messages[message.number - 1][0]

    def next(self, subject: str, number: int) -> Message | None:
        found = (m for m in self.read(number, 2**63) if self._of(m) == subject)
        return next(found, None)

    def read(self, start: int, end: int) -> Iterator[Message]:
        for number, (_, data) in enumerate(list(self.messages), 1):
            if start <= number < end and data:
                yield Message(number, data)

    def forget(self, subject: str, before: int) -> None:
        self._maybe_fail()
        for place, (about, _) in enumerate(self.messages[: before - 1]):
            if about == subject:
                self.messages[place] = (about, b"")

    def close(self) -> None:
        pass

    def _is_accident(self) -> bool:
        return self._rng.random() < self.accidents

    def _maybe_fail(self) -> None:
        if self._is_accident():
            raise StreamError("there is no answer")


class ForgetfulStream(ObviousStream):
    """One that forgets all before a number, and of a key all but the newest."""

    forgets_by_subject = False

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self._at: dict[str, int] = {}

    def append(self, messages: Sequence[Outgoing], after: int) -> int:
        last = super().append(messages, after)
        for place, message in enumerate(messages, after):
            before = self._at.get(message.key)
            if before is not None and self._rng.random() < 0.5:  # in its own time
                self.messages[before] = (message.subject, b"")
            self._at[message.key] = place
        return last

    def forget(self, subject: str, before: int) -> None:
        assert subject == LOG
        self._maybe_fail()
        for place, (about, _) in enumerate(self.messages[: before - 1]):
            self.messages[place] = (about, b"")


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "RETRY_SECONDS", 0.0)


def records_in(stream: ObviousStream) -> list[Record]:
    """What the stream has of the log, as it stands there."""
    joining = Joining()
    found: list[Record] = []
    for number, data in stream.read(1, 2**63):
        whole = joining.add(number, read_piece(data))
        if whole is not None and whole.about == LOG:
            found += split_records(whole.data)
    return found


@pytest.mark.parametrize("seed", range(16))
def test_whatever_gets_lost_all_is_there_and_once(tmp_path: Path, seed: int) -> None:
    """Answers, messages, and messages that come later; in several lives."""
    rng = random.Random(seed)
    stream = ObviousStream(rng)
    written: list[bytes] = []
    state = b""
    for life in range(3):
        stream.accidents = 0.0
        store = RemoteStore(tmp_path / "log", 4_096, stream, "it", SystemClock())
        stream.accidents = rng.choice((0.0, 0.1, 0.4))
        for _ in range(12):
            count = rng.choice((1, 1, 3, 40))
            values = [{"n": len(written) + k} for k in range(count)]
            written += [encode(value) for value in values]
            store.append(*encode_all(values), 7)
            state = rng.randbytes(rng.choice((0, 10, 3_000)))
            (tmp_path / "log" / "cursors.state").write_bytes(state)
            store.want_states()
            if rng.random() < 0.7:
                store.sync()
        store.sync()
        store._let_go()  # as if it had been killed
        records = records_in(stream)
        assert [b for r in records for b in r.all_blocks()] == written, life
        assert [r.first for r in records] == sorted({r.first for r in records})
    stream.accidents = 0.0
    copy = RemoteStore(tmp_path / "copy", 4_096, stream, "it", SystemClock())
    assert [b for r in copy.scan(0, 10**9) for b in r.all_blocks()] == written
    assert (tmp_path / "copy" / "cursors.state").read_bytes() == state
    copy.close()


@pytest.mark.parametrize("seed", range(5))
def test_what_is_trimmed_is_below_the_floor_and_little_is_left(
    tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    stream = ObviousStream(rng)
    store = RemoteStore(tmp_path / "log", 4_096, stream, "it", SystemClock())
    for n in range(200):
        store.append(*encode_all([{"n": n, "x": "x" * rng.randrange(100)}]), 7)
        if rng.random() < 0.3:
            store.sync()
    store.sync()
    store.make_room(rng.randrange(100, 200), 8_192, None)
    store.sync()
    offsets = [record.first for record in records_in(stream)]
    assert offsets[-1] == 199
    assert offsets[0] <= store.earliest
    assert offsets == [*range(offsets[0], 200)]
    before = [r for r in records_in(stream) if r.first < store.earliest]
    assert sum(len(record.blocks) for record in before) < stream.message_bytes
    store.close()


@pytest.mark.parametrize("seed", range(8))
def test_where_all_before_a_number_goes_small_files_stay(
    tmp_path: Path, seed: int
) -> None:
    """One that never changes, and one of several parts that becomes shorter."""
    rng = random.Random(seed)
    stream = ForgetfulStream(rng)
    store = RemoteStore(tmp_path / "log", 4_096, stream, "it", SystemClock())
    (tmp_path / "log" / "handlers.json").write_bytes(b"of long ago")
    state = b""
    for n in range(300):
        store.append(*encode_all([{"n": n, "x": "x" * rng.randrange(100)}]), 7)
        if rng.random() < 0.2:
            state = rng.randbytes(rng.choice((0, 10, 3_000, 9_000)))
            (tmp_path / "log" / "cursors.state").write_bytes(state)
            store.want_states()
            store.sync()
        if rng.random() < 0.05:
            store.make_room(n, 8_192, None)
    store.make_room(250, 8_192, None)
    store.sync()
    earliest = store.earliest
    assert earliest > 0
    store._let_go()
    copy = RemoteStore(tmp_path / "copy", 4_096, stream, "it", SystemClock())
    assert copy.latest == 300
    assert 0 < copy.earliest <= earliest
    assert (tmp_path / "copy" / "cursors.state").read_bytes() == state
    assert (tmp_path / "copy" / "handlers.json").read_bytes() == b"of long ago"
    copy.close()


def test_a_start_waits_for_a_stream_that_goes_away_no_longer_than_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was there when it was opened, and does not take what the folder has."""
    monkeypatch.setattr(remote_store_module, "SYNC_SECONDS", 0.01)
    plain = Store(tmp_path / "log", 4_096)
    plain.append(*encode_all([{"n": 1}]), 7)
    plain.close()
    stream = ObviousStream(random.Random(1))
    begin = writer_module.StreamWriter.begin

    def and_goes(writer: writer_module.StreamWriter, after: int, kept: int) -> None:
        begin(writer, after, kept)
        stream.accidents = 1.0

    with monkeypatch.context() as patched:
        patched.setattr(writer_module.StreamWriter, "begin", and_goes)
        with pytest.raises(SienaError, match="a list: there is no answer"):
            RemoteStore(tmp_path / "log", 4_096, stream, "it", SystemClock())
    stream.accidents = 0.0
    stream._late.clear()  # of the life that failed nothing is under way any more
    store = RemoteStore(tmp_path / "log", 4_096, stream, "it", SystemClock())
    assert [record.first for record in records_in(stream)] == [0]
    store.close()


def test_a_message_that_is_not_what_was_written_is_noticed() -> None:
    packed = pack_piece(pieces_of("w", LOG, 0, 3, b"some records", 100)[0])
    for place in range(len(packed)):
        for bit in range(8):
            flipped = bytearray(packed)
            flipped[place] ^= 1 << bit
            with pytest.raises(DamagedLogError):
                read_piece(bytes(flipped))


def test_half_of_what_goes_in_parts_does_not_count() -> None:
    joining = Joining()
    first, second, third = pieces_of("w", LOG, 0, 3, b"abcde", 2)
    assert joining.add(1, first) is None
    assert joining.add(2, second) is None
    # The writer died, and another began again.
    again = pieces_of("v", LOG, 0, 3, b"abcde", 2)
    found = [joining.add(n, piece) for n, piece in enumerate(again, 3)]
    assert [whole.data for whole in found if whole is not None] == [b"abcde"]
    assert joining.add(6, third) is None


def test_what_the_folder_has_is_pushed_from_where_it_is(tmp_path: Path) -> None:
    """A log that was there before there was a stream."""
    plain = Store(tmp_path / "log", 4_096)
    for n in range(100):
        plain.append(*encode_all([{"n": n}]), n)
    plain.make_room(60, 0, None)
    plain.close()
    stream = ObviousStream(random.Random(1))
    store = RemoteStore(tmp_path / "log", 4_096, stream, "it", SystemClock())
    store.sync()
    offsets = [record.first for record in records_in(stream)]
    assert offsets == [*range(plain.earliest, 100)]
    store.close()


def test_starts_that_fail_set_nothing_aside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the folder has and the stream has not follows, however often it fails."""
    stream = ObviousStream(random.Random(1))

    def opened() -> RemoteStore:
        return RemoteStore(tmp_path / "log", 4_096, stream, "it", SystemClock())

    store = opened()
    store.append(*encode_all([{"n": 1}]), 7)
    store._let_go()  # as if it had been killed
    with monkeypatch.context() as patched:
        patched.setattr(writer_module.StreamWriter, "begin", _is_away)
        for _ in range(4):
            with pytest.raises(SienaError, match="no answer"):
                opened()
    store = opened()
    store.sync()
    assert [record.first for record in records_in(stream)] == [0]
    store.close()


def _is_away(*_: object) -> None:
    raise StreamError("there is no answer")


def test_a_stream_that_has_lost_all_gets_the_small_files_again(tmp_path: Path) -> None:
    stream = ObviousStream(random.Random(1))
    store = RemoteStore(tmp_path / "log", 4_096, stream, "it", SystemClock())
    (tmp_path / "log" / "cursors.state").write_bytes(b"some")
    store.want_states()
    store.append(*encode_all([{"n": 1}]), 7)
    store.sync()
    stream.messages.clear()
    store.append(*encode_all([{"n": 2}]), 7)
    store.sync()
    store.close()
    copy = RemoteStore(tmp_path / "copy", 4_096, stream, "it", SystemClock())
    assert copy.latest == 2
    assert (tmp_path / "copy" / "cursors.state").read_bytes() == b"some"
    copy.close()


class Rebooted(Files):
    """The files of a machine that has started anew."""

    def boot(self) -> str:
        return "another life"


@pytest.mark.parametrize("was_closed", [True, False])
def test_what_a_loss_of_power_took_is_got_back_where_it_was(
    tmp_path: Path, *, was_closed: bool
) -> None:
    """Before offsets are left out: else the stream would have more than the folder."""
    stream = ObviousStream(random.Random(1))
    folder = tmp_path / "log"
    store = RemoteStore(folder, 4_096, stream, "it", SystemClock())
    values = [{"n": n} for n in range(5)]
    for value in values:
        store.append(*encode_all([value]), 7)
    store.sync()
    if was_closed:
        store.close()
    else:
        store._let_go()
    (path,) = folder.glob("*.log")
    path.write_bytes(path.read_bytes()[:HEADER_BYTES])
    store = RemoteStore(folder, 4_096, stream, "it", SystemClock(), Rebooted())
    assert everything(store) == [encode(value) for value in values]
    store.append(*encode_all([{"n": 5}]), 7)
    store.sync()
    found = [b for record in records_in(stream) for b in record.all_blocks()]
    assert found == everything(store) == [encode({"n": n}) for n in range(6)]
    store.close()
