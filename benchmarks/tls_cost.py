"""What does TLS cost a broker, in processor time for each publication?

One broker, in a process of its own, has both listeners.  100 filters on 10 connections,
of which one matches each publication, get the same publications over plain connections
and over TLS, in turns; the time is that of the broker's process alone, so it hardly
matters what else the machine does.

    python benchmarks/tls_cost.py --rounds 5 --publications 200000
"""

import argparse
import json
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from siena.block import encode
from siena.broker.access.issuing import Authority
from siena.client import tls_context
from siena.protocol.address import Address, parse_address
from siena.protocol.control_frames import Connect, Subscribe
from siena.protocol.frames import Op, pack
from siena.protocol.handshake import PREFACE

CONNECTIONS, FILTERS = 10, 10
CHUNK = 256 * 1024
SETTINGS = """
name = "b1"
listen = ["127.0.0.1:0", "sienas://127.0.0.1:0"]
tls = { cert = "b1.pem", key = "b1.key", ca = "ca.pem" }
"""


def main() -> None:
    """Measure, and print a line for each round."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--publications", type=int, default=200_000)
    options = parser.parse_args()
    rates: dict[str, list[float]] = {"plain": [], "TLS": []}
    with tempfile.TemporaryDirectory() as name, broker(Path(name)) as (process, urls):
        tls = tls_context(Path(name) / "ca.pem")
        for number in range(options.rounds):
            for kind, url in zip(rates, urls, strict=True):
                address = parse_address(url)
                seconds = one_round(process, address, tls, options.publications)
                rates[kind].append(options.publications / seconds)
            plain, secure = (found[-1] for found in rates.values())
            print(
                f"round {number + 1}: plain {plain:,.0f}, TLS {secure:,.0f} "
                f"publications per second of the broker's processor: "
                f"{secure / plain:.0%}"
            )
    ratios = [s / p for p, s in zip(*rates.values(), strict=True)]
    low, high = min(ratios), max(ratios)
    print(
        f"TLS / plain: median {statistics.median(ratios):.0%}, {low:.0%} to {high:.0%}"
    )


@contextmanager
def broker(folder: Path) -> Iterator[tuple[int, list[str]]]:
    """A broker with both listeners: its process, and where it is."""
    Authority(folder).issue("b1")
    config = folder / "broker.toml"
    config.write_text(SETTINGS)
    command = [
        sys.executable,
        "-m",
        "siena",
        "serve",
        "--json",
        "--config",
        str(config),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield process.pid, json.loads(process.stdout.readline())["urls"]
        finally:
            process.terminate()


def one_round(process: int, address: Address, tls: ssl.SSLContext, total: int) -> float:
    """The seconds of the broker's processor for all of it."""
    keys = CONNECTIONS * FILTERS
    frames = (
        pack(Op.PUB, encode({"k": n % keys, "n": n, "text": "x" * 20}))
        for n in range(total)
    )
    data = memoryview(b"".join(frames))
    with ExitStack() as stack:
        readers = []
        for number in range(CONNECTIONS):
            reader = stack.enter_context(connected(address, tls))
            for at in range(FILTERS):
                reader.sendall(Subscribe(at, f"k = {number * FILTERS + at}").pack())
            read(reader, Op.SETTLED, FILTERS)
            readers.append(reader)
        writer = stack.enter_context(connected(address, tls))
        each = total // CONNECTIONS
        threads = [
            threading.Thread(target=read, args=(reader, Op.MSG, each))
            for reader in readers
        ]
        before = spent(process)
        for thread in threads:
            thread.start()
        for start in range(0, len(data), CHUNK):
            writer.sendall(data[start : start + CHUNK])
        for thread in threads:
            thread.join()
        return spent(process) - before


@contextmanager
def connected(address: Address, tls: ssl.SSLContext) -> Iterator[socket.socket]:
    """A connection that a broker has welcomed; it waits for those who read slowly."""
    with socket.create_connection(address.pair) as plain:
        found = plain
        if address.is_secure:
            found = tls.wrap_socket(plain, server_hostname=address.host)
        with found:
            while not found.recv(CHUNK).endswith(b"\n"):
                pass
            found.sendall(PREFACE + Connect(1, policy="block").pack())
            read(found, Op.WELCOME, 1)
            yield found


def read(reader: socket.socket, op: Op, count: int) -> None:
    """Read until so many frames of one kind have come."""
    waiting = b""
    while count:
        came = reader.recv(CHUNK)
        assert came, "the broker hung up"
        waiting += came
        at = 0
        while len(waiting) - at >= 5:
            size = int.from_bytes(waiting[at : at + 4], "little")
            if len(waiting) - at < 4 + size:
                break
            assert waiting[at + 4] == op, f"an operation {waiting[at + 4]}"
            count -= 1
            at += 4 + size
        waiting = waiting[at:]


def spent(process: int) -> float:
    """The seconds of processor that a process has had."""
    # In nanoseconds, where ticks would be a quarter of what is measured.
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in threads) / 1e9


if __name__ == "__main__":
    main()
