"""Many connections of one process: ``python crowd.py URL COUNT``.

Each subscribes to `n any`.  Says "held" when all do; after a line on its input it waits
until each has heard something, and says "heard"; after another it ends.
"""

import resource
import socket
import struct
import sys
from io import BufferedReader

from siena.protocol.address import read_address
from siena.protocol.control_frames import Connect, Subscribe
from siena.protocol.frames import Op
from siena.protocol.handshake import PREFACE


def hold(url: str, count: int) -> None:
    """Connect and subscribe so many times, and hear something each time."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    streams = []
    for _ in range(count):
        connection = socket.create_connection(read_address(url).pair)
        said = PREFACE + Connect(1).pack() + Subscribe(1, "n any").pack()
        connection.sendall(said)
        stream = connection.makefile("rb")
        stream.readline()
        wait_for(stream, Op.SETTLED)
        streams.append(stream)
    say("held")
    for stream in streams:
        wait_for(stream, Op.MSG)
    say("heard")


def say(word: str) -> None:
    """Say how far this is, and wait until somebody has heard it."""
    sys.stdout.write(f"{word}\n")
    sys.stdout.flush()
    sys.stdin.readline()


def wait_for(stream: BufferedReader, wanted: Op) -> None:
    """Read frames up to one of a kind."""
    op = None
    while op != wanted:
        length, op = struct.unpack("<IB", stream.read(5))
        stream.read(length - 1)


if __name__ == "__main__":
    hold(sys.argv[1], int(sys.argv[2]))
