"""RabbitMQ, for ``siena bench broker``: a queue for each connection, bound to symbols.

AMQP 0-9-1: a frame is a type, a channel, a length, what it holds, and an end mark; a
method is a frame with two numbers that name it, and its arguments.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from struct import pack, unpack_from

from siena.bench.broker.contenders.contender import Contender, Wire
from siena.bench.broker.kernels import cutting
from siena.bench.broker.processes import end, free_port
from siena.bench.broker.workload import Workload, symbol_name
from siena.errors import SienaError

SETTINGS = """\
listeners.tcp.1 = 127.0.0.1:{port}
log.console = true
log.console.level = error
log.file = false
"""
# What its scripts are in, where the one on the PATH asks for another user.
SCRIPTS = Path("/usr/lib/rabbitmq/bin")

# What a client begins with.
GREETING = b"AMQP\x00\x00\x09\x01"
# Frames.
METHOD, HEADER, BODY, END_MARK = 1, 2, 3, b"\xce"
# Methods.
START, START_OK, TUNE, TUNE_OK = (10, 10), (10, 11), (10, 30), (10, 31)
OPEN, OPEN_OK = (10, 40), (10, 41)
CHANNEL_OPEN, CHANNEL_OPEN_OK = (20, 10), (20, 11)
DECLARE, DECLARE_OK, BIND, BIND_OK = (50, 10), (50, 11), (50, 20), (50, 21)
QOS, QOS_OK, CONSUME, CONSUME_OK = (60, 10), (60, 11), (60, 20), (60, 21)
PUBLISH = (60, 40)

EXCHANGE = "amq.direct"
CHANNEL = 1
# A body must fit in one frame: our notifications are short.
FRAME_BYTES = 131_072
EMPTY_TABLE = bytes(4)
# Bits of arguments.
EXCLUSIVE_AND_TEMPORARY = b"\x0c"
NO_ACKNOWLEDGEMENTS = b"\x02"


def short(value: str) -> bytes:
    """A string with its length in one byte."""
    return bytes([len(value)]) + value.encode()


def frame(kind: int, content: bytes, channel: int = CHANNEL) -> bytes:
    """A frame.

    >>> frame(BODY, b"x").hex(" ")
    '03 00 01 00 00 00 01 78 ce'
    """
    return pack(">BHI", kind, channel, len(content)) + content + END_MARK


def method(which: tuple[int, int], arguments: bytes = b"", channel: int = 1) -> bytes:
    """A method's frame."""
    return frame(METHOD, pack(">HH", *which) + arguments, channel)


class RabbitMQ(Contender):
    """Nothing is persistent, and nothing is acknowledged."""

    name = "rabbitmq"
    program = "rabbitmq-server"
    package = "rabbitmq-server"
    protocol = cutting.AMQP
    # A question that is answered in turn, and changes nothing.
    barrier = method(QOS, bytes(7))
    answer = method(QOS_OK)

    def find(self) -> str:
        """Its own script, where there is one."""
        found, own = super().find(), SCRIPTS / self.program
        return str(own) if own.exists() else found

    @contextmanager
    def companion(self, folder: Path, port: int) -> Iterator[None]:  # noqa: ARG002 -- it has its own
        """The name server of Erlang, which would otherwise be left behind."""
        names = free_port()
        (folder / "epmd").write_text(str(names))
        command = ["epmd", "-port", str(names), "-address", "127.0.0.1"]
        process = subprocess.Popen(  # noqa: S603 -- from the PATH, as the server is
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield
        finally:
            end(process)

    def command(self, folder: Path, port: int) -> list[str]:
        """Its settings are in the environment and in a file."""
        (folder / "rabbitmq.conf").write_text(SETTINGS.format(port=port))
        (folder / "enabled_plugins").write_text("[].\n")
        return [self.find()]

    def environment(self, folder: Path, port: int) -> dict[str, str]:
        """Its own node, with all files in the folder."""
        return {
            "HOME": str(folder),
            "ERL_EPMD_PORT": (folder / "epmd").read_text(),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"siena-bench-{port}@localhost",
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_CONF_ENV_FILE": str(folder / "no-environment-file"),
            "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "enabled_plugins"),
            "RABBITMQ_MNESIA_BASE": str(folder),
            "RABBITMQ_LOG_BASE": str(folder),
            "RABBITMQ_PID_FILE": str(folder / "pid"),
        }

    def version(self, port: int) -> str:
        """What it says when it greets: its own command would leave epmd behind."""
        wire = Wire(port)
        wire.send(GREETING)
        properties = _expect(wire, START)
        wire.socket.close()
        _, _, behind = properties.partition(b"\x07versionS")
        (size,) = unpack_from(">I", behind)
        return f"RabbitMQ {behind[4 : 4 + size].decode()}"

    def greet(self, wire: Wire) -> None:
        """Log in as the guest that it knows, and open a channel."""
        wire.send(GREETING)
        _expect(wire, START)
        login = b"\x00guest\x00guest"
        answer = EMPTY_TABLE + short("PLAIN") + pack(">I", len(login)) + login
        wire.send(method(START_OK, answer + short("en_US"), 0))
        _expect(wire, TUNE)
        # One channel, and no heartbeats.
        wire.send(method(TUNE_OK, pack(">HIH", CHANNEL, FRAME_BYTES, 0), 0))
        wire.send(method(OPEN, short("/") + short("") + b"\x00", 0))
        _expect(wire, OPEN_OK)
        wire.send(method(CHANNEL_OPEN, short("")))
        _expect(wire, CHANNEL_OPEN_OK)

    def subscribe(self, wire: Wire, workload: Workload, connection: int) -> None:
        """A queue of its own, bound to each symbol once."""
        wire.send(
            method(
                DECLARE, bytes(2) + short("") + EXCLUSIVE_AND_TEMPORARY + EMPTY_TABLE
            )
        )
        answer = _expect(wire, DECLARE_OK)
        queue = answer[1 : 1 + answer[0]].decode()
        topics = workload.topics(connection)
        for topic in topics:
            where = short(queue) + short(EXCHANGE) + short(symbol_name(topic))
            wire.send(method(BIND, bytes(2) + where + b"\x00" + EMPTY_TABLE))
        for _ in topics:
            _expect(wire, BIND_OK)
        what = short(queue) + short("") + NO_ACKNOWLEDGEMENTS + EMPTY_TABLE
        wire.send(method(CONSUME, bytes(2) + what))
        _expect(wire, CONSUME_OK)

    def publication(self, symbol: str, block: bytes) -> tuple[bytes, bytes]:
        """The method, a header with the length, and the block as a frame."""
        where = short(EXCHANGE) + short(symbol)
        header = pack(">HHQH", PUBLISH[0], 0, len(block), 0)
        body = frame(BODY, block)
        before = method(PUBLISH, bytes(2) + where + b"\x00") + frame(HEADER, header)
        return before + body[: -len(block) - 1], END_MARK

    def other(self, data: bytes) -> int:
        """Nothing else is expected by a subscriber."""
        raise SienaError(f"rabbitmq says what nobody asked for: {data[:16].hex(' ')}")


def _expect(wire: Wire, which: tuple[int, int]) -> bytes:
    """The arguments of the method that must come now."""
    kind, _, size = unpack_from(">BHI", wire.take(7))
    content = wire.take(size + 1)
    if kind != METHOD or unpack_from(">HH", content) != which:
        raise SienaError(f"rabbitmq: frame {content[:60]!r} came instead of {which}")
    return content[4:-1]
