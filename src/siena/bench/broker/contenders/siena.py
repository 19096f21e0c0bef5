"""Our own broker, for ``siena bench broker``: it gets the interests themselves.

And once more with grants, to see what these cost: it knows 10 000 identities, and each
connection shows who it is.
"""

import sys
from importlib.metadata import version
from itertools import count
from pathlib import Path
from typing import ClassVar

from siena.bench.broker.contenders.contender import Contender, Wire
from siena.bench.broker.kernels import cutting
from siena.bench.broker.workload import Workload
from siena.broker.access.credentials import (
    Credentials,
    TokenRecord,
    save_credentials,
)
from siena.client.tokens import key_of, new_token
from siena.errors import SienaError
from siena.protocol.control_frames import Connect, Error, Lost, Subscribe, unpack
from siena.protocol.frames import (
    HEAD,
    HEAD_BYTES,
    LENGTH,
    LENGTH_BYTES,
    Frame,
    Op,
    pack,
)
from siena.protocol.handshake import PREFACE, VERSIONS, agree, read_info

# What each identity may: publish what is nobody else's, and hear all that has a price.
GRANTS = """
[access]
credentials = "credentials.json"
[access.roles.user]
publish = ["price > 0 and user absent", "user = ${identity}"]
subscribe = "price any"
"""


class Siena(Contender):
    """The frames of :mod:`siena.protocol`, through a socket and nothing else."""

    name = "siena"
    program = "siena"
    package = "siena-pubsub"
    protocol = cutting.SIENA
    by_topic = False
    barrier = pack(Op.PING, b"flushed")
    answer = pack(Op.PONG, b"flushed")

    def find(self) -> str:
        """The Python that runs this."""
        return sys.executable

    def command(self, folder: Path, port: int) -> list[str]:  # noqa: ARG002 -- it keeps nothing
        """The command that people type."""
        serve = ["-m", "siena", "serve", "--listen", f"127.0.0.1:{port}"]
        return [self.find(), *serve]

    def version(self, port: int) -> str:  # noqa: ARG002 -- its program says it
        """That of the package."""
        return f"siena {version('siena-pubsub')}"

    def greet(self, wire: Wire) -> None:
        """INFO, preface and CONNECT, WELCOME."""
        version = agree(VERSIONS, read_info(wire.line()).versions)
        wire.send(PREFACE + Connect(version).pack())
        expect(take_frame(wire), Op.WELCOME)

    def subscribe(self, wire: Wire, workload: Workload, connection: int) -> None:
        """All interests in one go; each is answered when it is in force."""
        rows = workload.rows(connection).tolist()
        wire.send(
            b"".join(
                Subscribe(number, workload.drawn.text(row)).pack()
                for number, row in enumerate(rows, start=1)
            )
        )
        for _ in rows:
            expect(take_frame(wire), Op.SETTLED)

    def publication(self, symbol: str, block: bytes) -> tuple[bytes, bytes]:  # noqa: ARG002 -- the block says it
        """The head of a PUB frame."""
        return pack(Op.PUB, block)[:HEAD_BYTES], b""

    def answers(self, data: bytes) -> tuple[int, bytes]:
        """Frame by frame: an ERR may hold anything."""
        count = 0
        while length := self.other(data):
            count += data[:length] == self.answer
            data = data[length:]
        return count, data

    def other(self, data: bytes) -> int:
        """A frame, unless it is LOST or ERR."""
        if len(data) < HEAD_BYTES:
            return 0
        end = LENGTH_BYTES + int(LENGTH.unpack_from(data)[0])
        if len(data) < end:
            return 0
        complain(Frame(data[LENGTH_BYTES], data[HEAD_BYTES:end]))
        return end


class GrantedSiena(Siena):
    """Our broker with grants for many: each connection is another identity."""

    name = "siena with grants"
    identities: ClassVar[int] = 10_000

    def __init__(self) -> None:
        # Of each identity, in the order in which they come.
        self._tokens = [new_token() for _ in range(self.identities)]
        self._next = count()

    def command(self, folder: Path, port: int) -> list[str]:
        """With settings, and a file of credentials, in its folder."""
        known = {}
        for number, token in enumerate(self._tokens):
            sha256 = key_of(token.proof).hex()
            record = TokenRecord(identity=f"u{number}", roles=("user",), sha256=sha256)
            known[token.number] = record
        save_credentials(folder / "credentials.json", Credentials(tokens=known))
        config = folder / "broker.toml"
        config.write_text(GRANTS)
        return [*super().command(folder, port), "--config", str(config)]

    def greet(self, wire: Wire) -> None:
        """The same, with a token."""
        version = agree(VERSIONS, read_info(wire.line()).versions)
        token = self._tokens[next(self._next) % self.identities].text
        wire.send(PREFACE + Connect(version, token=token).pack())
        expect(take_frame(wire), Op.WELCOME)


def take_frame(wire: Wire) -> Frame:
    """Wait for the next frame."""
    length, op = HEAD.unpack(wire.take(HEAD_BYTES))
    return Frame(op, wire.take(length - 1))


def expect(frame: Frame, op: Op) -> None:
    """Refuse a frame that is another one."""
    complain(frame)
    if frame.op != op:
        raise SienaError(f"siena: frame {frame.op:#x} came instead of {op.name}")


def complain(frame: Frame) -> None:
    """Say what a frame complains of, if it does."""
    if frame.op == Op.ERR:
        error = unpack(frame.op, frame.body)
        assert isinstance(error, Error)
        raise SienaError(f"siena complains: {error.text} (error {error.fault})")
    if frame.op == Op.LOST:
        lost = unpack(frame.op, frame.body)
        assert isinstance(lost, Lost)
        raise SienaError(f"siena has lost {lost.count} deliveries to a subscriber")
