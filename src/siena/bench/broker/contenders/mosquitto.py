"""mosquitto, for ``siena bench broker``: MQTT with a topic for each symbol."""

from pathlib import Path

from siena.bench.broker.contenders.contender import Contender, Wire, output
from siena.bench.broker.kernels import cutting
from siena.bench.broker.workload import Workload, symbol_name
from siena.errors import SienaError

SETTINGS = """\
listener {port} 127.0.0.1
allow_anonymous true
persistence false
set_tcp_nodelay true
max_queued_messages 0
max_queued_bytes 0
log_dest stderr
log_type error
"""
# Packets of MQTT 3.1.1, by the first byte.
CONNECT, CONNACK, PUBLISH, SUBSCRIBE, SUBACK = 0x10, 0x20, 0x30, 0x82, 0x90
TOPICS_AT_ONCE = 100


class Mosquitto(Contender):
    """MQTT 3.1.1, at most once."""

    name = "mosquitto"
    program = "mosquitto"
    package = "mosquitto"
    protocol = cutting.MQTT
    barrier = b"\xc0\x00"
    answer = b"\xd0\x00"

    def command(self, folder: Path, port: int) -> list[str]:
        """Without limits on its queues: a burst is not to be dropped."""
        settings = folder / "mosquitto.conf"
        settings.write_text(SETTINGS.format(port=port))
        return [self.find(), "-c", str(settings)]

    def version(self, port: int) -> str:  # noqa: ARG002 -- its program says it
        """It has no option that shows it alone; its help begins with it."""
        return output([self.find(), "-h"])

    def greet(self, wire: Wire) -> None:
        """CONNECT as a new client, never to be pinged."""
        wire.send(packet(CONNECT, text("MQTT") + b"\x04\x02\x00\x00" + text("")))
        if wire.take(4) != b"\x20\x02\x00\x00":
            raise SienaError("mosquitto refuses the connection")

    def subscribe(self, wire: Wire, workload: Workload, connection: int) -> None:
        """Each symbol once, many in one packet."""
        topics = workload.topics(connection)
        for start in range(0, len(topics), TOPICS_AT_ONCE):
            some = topics[start : start + TOPICS_AT_ONCE]
            filters = b"".join(text(symbol_name(topic)) + b"\x00" for topic in some)
            wire.send(packet(SUBSCRIBE, b"\x00\x01" + filters))
            # All granted, at most once.
            wanted = packet(SUBACK, b"\x00\x01" + bytes(len(some)))
            if wire.take(len(wanted)) != wanted:
                raise SienaError("mosquitto refuses a subscription")

    def publication(self, symbol: str, block: bytes) -> tuple[bytes, bytes]:
        """PUBLISH, its length and the topic."""
        whole = packet(PUBLISH, text(symbol) + block)
        return whole[: -len(block)], b""

    def other(self, data: bytes) -> int:
        """Nothing else is expected by a subscriber."""
        raise SienaError(f"mosquitto says what nobody asked for: {data[:16].hex(' ')}")


def packet(kind: int, body: bytes) -> bytes:
    """A packet; its length has seven bits in a byte, the lowest first.

    >>> packet(PUBLISH, bytes(200))[:3].hex(" ")
    '30 c8 01'
    """
    length, size = [], len(body)
    while size >= 128:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes([kind, *length, size]) + body


def text(value: str) -> bytes:
    """A string with its length before it."""
    data = value.encode()
    return len(data).to_bytes(2, "big") + data
