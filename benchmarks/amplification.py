"""What a few bytes of requests cost a broker: processor, memory, and others' patience.

Each shape was an attack once: 245 KB of subscriptions took 43 s, one pattern of 687 KB
8 to 15 s, 250 absent identities and 9 MB of publications 2.2 GB, and 60 000 filters
about the ends of texts 5 GB and 39 s.  A broker of its own process is sent each of them
by one client, while another one asks for a PONG again and again; it has a neighbour, so
that interests are compared.

    python benchmarks/amplification.py                     all shapes
    python benchmarks/amplification.py --shape suffixes --alone

Written are, of each shape: bytes that were sent; how many requests were answered and
how many refused; seconds until all were, and of the broker's processor; how much its
memory grew at most; and the longest that the other client waited for a PONG.
"""

import argparse
import asyncio
import contextlib
import os
import random
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from hostile import connect, processor_seconds
from siena.block import encode
from siena.protocol.control_frames import Connect, Error, Settled, Subscribe, unpack
from siena.protocol.frames import Op, Splitter, pack
from siena.protocol.pings import Ping
from siena.testing.in_process import ProcessBroker

# What the texts of subscriptions have together, where an attack is measured by that.
TEXT_BYTES = 245_000
# After so long the rest is not waited for.
SECONDS_MAX = 120.0

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Told(NamedTuple):
    """What became of requests."""

    sent_bytes: int
    answered: int
    refused: int


Shape = Callable[[str, int], Coroutine[Any, Any, Told]]


# --- Shapes -------------------------------------------------------------------------


def subscribing(texts: Callable[[], Iterator[str]]) -> Shape:
    """Subscribe to all of these, one after the other, without waiting."""

    async def attack(host: str, port: int) -> Told:
        reader, writer = await connect(host, port, Connect(1))
        frames = [Subscribe(n, text).pack() for n, text in enumerate(texts(), 1)]

        async def send() -> None:
            for frame in frames:
                writer.write(frame)
                await writer.drain()

        async with asyncio.TaskGroup() as group:
            group.create_task(send())
            answered, refused = await answers(reader, len(frames))
        return Told(sum(map(len, frames)), answered, refused)

    return attack


async def answers(reader: asyncio.StreamReader, count: int) -> tuple[int, int]:
    """How many of so many requests were done, and refused, before it took too long."""
    splitter, done, refused = Splitter(), 0, 0
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(SECONDS_MAX):
            while done + refused < count and (data := await reader.read(2**20)):
                for op, body in splitter.feed(data):
                    answer = unpack(op, body) if op in {Op.SETTLED, Op.ERR} else None
                    done += isinstance(answer, Settled)
                    refused += isinstance(answer, Error)
    return done, refused


def of_size(make: Callable[[int], str]) -> Callable[[], Iterator[str]]:
    """So many texts as are that long together."""

    def texts() -> Iterator[str]:
        size = number = 0
        while size < TEXT_BYTES:
            text = make(number)
            yield text
            size, number = size + len(text), number + 1

    return texts


def product(number: int) -> str:
    """1 024 filters in a few bytes."""
    values = ", ".join(str(32 * number + j) for j in range(32))
    return f"a in ({values}) and b in ({values})"


def alternatives(number: int) -> str:
    """As many filters as one text may have, one by one."""
    return " or ".join(f"x = {j + 999 * number}" for j in range(999))


def pattern(number: int) -> str:
    """A sequence of many steps."""
    return " then ".join(f"x{j} = {number}" for j in range(64))


def wide_pattern(steps: int) -> str:
    """A sequence of which each step is many filters."""
    step = "(" + " or ".join(f"x{j} = {j}" for j in range(900)) + ")"
    return " then ".join([step] * steps)


def like(number: int) -> str:
    """A filter that is compared with all that look like it."""
    rng = random.Random(number)
    return f'x like "*{rng.randrange(10**6)}*{rng.randrange(10**6)}?*"'


def suffixes() -> Iterator[str]:
    """60 000 filters about the ends of texts."""
    for number in range(60_000):
        yield f'x ends with "{number:012}"'


async def absent(host: str, port: int) -> Told:
    """250 identities that want everything and leave, and 9 MB for them."""
    for number in range(250):
        reader, writer = await connect(host, port, Connect(1, identity=f"i{number}"))
        writer.write(Subscribe(1, "[]").pack())
        await answers(reader, 1)
        writer.close()
    reader, writer = await connect(host, port, Connect(1))
    frames = pack(Op.PUB, encode({"text": "x" * 980})) * 9_000
    writer.write(frames + Ping(b"all").pack())
    splitter = Splitter()
    while not any(op == Op.PONG for op, _ in splitter.feed(await reader.read(2**16))):
        pass
    return Told(len(frames), 9_000, 0)


SHAPES: dict[str, Shape] = {
    "products": subscribing(of_size(product)),
    "alternatives": subscribing(of_size(alternatives)),
    "patterns": subscribing(of_size(pattern)),
    "likes": subscribing(of_size(like)),
    "pattern of 687 KB": subscribing(lambda: iter([wide_pattern(60)])),
    "pattern of 64 KB": subscribing(lambda: iter([wide_pattern(5)])),
    "absent": absent,
    "suffixes": subscribing(suffixes),
}


# --- Measuring ----------------------------------------------------------------------


def memory_bytes(pid: int) -> int:
    """The memory of a process."""
    pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


async def watch(
    host: str, port: int, pid: int, is_over: asyncio.Event
) -> list[tuple[float, int]]:
    """Ask for a PONG again and again: how long each took, and the memory then."""
    reader, writer = await connect(host, port, Connect(1))
    seen: list[tuple[float, int]] = []
    splitter = Splitter()
    while not is_over.is_set():
        begun = time.perf_counter()
        writer.write(Ping(b"x").pack())
        while not any(
            op == Op.PONG for op, _ in splitter.feed(await reader.read(2**16))
        ):
            pass
        seen.append((time.perf_counter() - begun, memory_bytes(pid)))
        await asyncio.sleep(0.005)
    return seen


def measure(name: str, *, is_alone: bool) -> str:
    """One shape, against a broker of its own."""

    async def replay(host: str, port: int, pid: int) -> str:
        is_over = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(watch(host, port, pid, is_over))
            await asyncio.sleep(0.2)
            before = memory_bytes(pid)
            taken, begun = processor_seconds(pid), time.perf_counter()
            told = await SHAPES[name](host, port)
            seconds = time.perf_counter() - begun
            await asyncio.sleep(0.5)  # for what was put off
            is_over.set()
        seen = watching.result()
        grown = max(memory for _, memory in seen) - before
        return (
            f"{name:18} {told.sent_bytes / 1e3:8.0f} KB  {told.answered:6} done  "
            f"{told.refused:6} refused  {seconds:6.1f} s  "
            f"{processor_seconds(pid) - taken:6.1f} s processor  "
            f"{grown / 1e6:6.0f} MB  PONG {max(s for s, _ in seen) * 1e3:6.0f} ms"
        )

    def place(url: str) -> tuple[str, int]:
        host, _, port = url.removeprefix("siena://").rpartition(":")
        return host, int(port)

    with contextlib.ExitStack() as stack:
        options = []
        if not is_alone:
            neighbour = stack.enter_context(ProcessBroker(["--accept-peers"]))
            options = ["--peer", neighbour.url]
        broker = stack.enter_context(ProcessBroker(options))
        if not is_alone:
            time.sleep(1)  # until there is the link
        return asyncio.run(replay(*place(broker.url), broker.pid))


def main() -> None:
    """Measure, and print a line for each shape."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shape", choices=[*SHAPES, "all"], default="all")
    parser.add_argument("--alone", action="store_true", help="without a neighbour")
    options = parser.parse_args()
    for name in SHAPES if options.shape == "all" else [options.shape]:
        print(measure(name, is_alone=options.alone), flush=True)


if __name__ == "__main__":
    main()
