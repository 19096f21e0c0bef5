"""What one hostile client, or neighbour, costs others: their rate with and without it.

A broker of its own process is kept busy by publishers and subscribers who mean well,
and each kind of attack in turn comes and goes: rounds without and with it take turns.
Counted is what arrives at the honest subscribers in a second, by the clock; and for
each second of the processor that the broker takes, where other programs on the machine
count for little, but what a liar gets while nobody else wants it is counted as harm.

    python benchmarks/hostile.py                    all attacks
    python benchmarks/hostile.py --attack digests --rounds 5 --seconds 1

The broker has a core for itself where there are several, and a liar the lowest
priority: it would have a machine of its own.  What the machine itself does to the
figures, the first row shows, of a process that computes and sends nothing.

To want everything is no lie, and costs what it costs to deliver everything once more:
who announces it a million times is compared with a neighbour that does so once.

The figures are medians of the ratios of neighbouring rounds, with the least and the
greatest; 1.00 is no harm at all.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import multiprocessing
import os
import random
import statistics
import time
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

from siena.block import encode
from siena.broker.ids import number_of
from siena.messages import Stamp
from siena.protocol.control_frames import (
    Connect,
    Digest,
    Peer,
    Subscribe,
    Tell,
    Unsubscribe,
)
from siena.protocol.data_frames import Forwarded, pack_forward
from siena.protocol.frames import Op, pack
from siena.protocol.handshake import EXACT, PREFACE, RUNS, read_info
from siena.testing.in_process import ProcessBroker

# Honest publishers, each with a subscriber to what it publishes.
PAIRS = 4
# Publications in one write, each of about so many bytes.
BATCH, TEXT = 500, "x" * 80
# What a liar sends before it looks whether it is still welcome.
BURST = 200

Attack = Callable[[asyncio.TaskGroup, str, int], Coroutine[Any, Any, None]]
Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


# --- Attacks ------------------------------------------------------------------------


async def subscribe_and_cancel(group: asyncio.TaskGroup, host: str, port: int) -> None:
    """Filters that are compared with all others, coming and going."""
    rng = random.Random(1)
    reader, writer = await connect(host, port, Connect(1))
    drain(group, reader)
    for number in itertools.count(1):
        a, b = (rng.randrange(10**6) for _ in range(2))
        writer.write(Subscribe(number, f'text like "*{a}*{b}?*"').pack())
        if number > BURST:
            writer.write(Unsubscribe(number - BURST).pack())
        await writer.drain()


async def multiply_out(group: asyncio.TaskGroup, host: str, port: int) -> None:
    """Short texts that stand for very many filters, or for too many."""
    reader, writer = await connect(host, port, Connect(1))
    drain(group, reader)
    values = ", ".join(map(str, range(32)))
    for number in itertools.count(1):
        text = f"a in ({values}) and b in ({values}) and c = {number}"
        writer.write(Subscribe(number, text).pack())
        many = " or ".join(f"a{j} = {number} and b{j} = {j}" for j in range(10))
        writer.write(Subscribe(number, f"x any except ({many})").pack())
        await writer.drain()


async def publish_for_nobody(group: asyncio.TaskGroup, host: str, port: int) -> None:
    """Publications as fast as they are read."""
    reader, writer = await connect(host, port, Connect(1))
    drain(group, reader)
    frames = pack(Op.PUB, encode({"nobody": 1, "text": TEXT})) * BATCH
    while True:
        writer.write(frames)
        await writer.drain()


async def publish_garbage(group: asyncio.TaskGroup, host: str, port: int) -> None:
    """What is no notification, in frames as short as there are."""
    reader, writer = await connect(host, port, Connect(1))
    drain(group, reader)
    frames = pack(Op.PUB, b"\xc1") * BATCH
    while True:
        writer.write(frames)
        await writer.drain()


async def compute(group: asyncio.TaskGroup, host: str, port: int) -> None:  # noqa: ARG001
    """Nothing that the broker hears of."""
    while True:
        sum(range(100_000))
        await asyncio.sleep(0)


async def want_everything(group: asyncio.TaskGroup, host: str, port: int) -> None:
    """A neighbour that wants everything, and says so once."""
    reader, writer = await link(host, port)
    drain(group, reader)
    writer.write(Tell("subscribe", ["[]", None]).pack())
    await writer.drain()


async def announce_everything(group: asyncio.TaskGroup, host: str, port: int) -> None:
    """A neighbour that wants everything, in a million ways."""
    reader, writer = await link(host, port)
    drain(group, reader)
    for number in itertools.count():
        writer.write(Tell("subscribe", ["[]", None]).pack())
        writer.write(Tell("subscribe", [f"nobody > {number}", None]).pack())
        await writer.drain()


async def disagree(_: asyncio.TaskGroup, host: str, port: int) -> None:
    """A neighbour whose digests never agree, and that calls again at once."""
    while True:
        try:
            reader, writer = await link(host, port)
            for number in range(BURST):
                writer.write(Tell("subscribe", [f"nobody = {number}", None]).pack())
            writer.write(Digest(7, b"?" * 16).pack())
            await writer.drain()
            await asyncio.wait_for(reader.read(), 1)
            writer.close()
        except (OSError, TimeoutError, ValueError):
            await asyncio.sleep(0.001)


async def flood(group: asyncio.TaskGroup, host: str, port: int) -> None:
    """A neighbour that brings what nobody wants, with stamps of others."""
    reader, writer = await link(host, port)
    drain(group, reader)
    rng = random.Random(2)
    block = encode({"nobody": 1, "text": TEXT})
    while True:
        frames = []
        for _ in range(BURST):
            stamp = Stamp(rng.randrange(1, 2**60), 1, rng.randrange(2**40))
            frames.append(pack_forward(Forwarded(stamp, 1, 1.0, 9, 0, block)))
        writer.write(b"".join(frames))
        await writer.drain()


ATTACKS: dict[str, Attack] = {
    "nothing": compute,
    "subscriptions": subscribe_and_cancel,
    "products": multiply_out,
    "publications": publish_for_nobody,
    "garbage": publish_garbage,
    "announcements": announce_everything,
    "digests": disagree,
    "stamps": flood,
}


# What is there while the attack is not: what it would be if it were honest.
HONEST: dict[str, Attack] = {"announcements": want_everything}


async def connect(host: str, port: int, body: Connect) -> Streams:
    """A connection on which CONNECT was said."""
    reader, writer = await asyncio.open_connection(host, port, limit=2**22)
    read_info(await reader.readline())
    writer.write(PREFACE + body.pack())
    return reader, writer


async def link(host: str, port: int) -> Streams:
    """A link, as a broker asks for one."""
    peer = Peer(number_of("liar"), 1, "peer", features=[RUNS, EXACT])
    return await connect(host, port, Connect(1, name="liar", peer=peer))


def drain(group: asyncio.TaskGroup, reader: asyncio.StreamReader) -> None:
    """Read whatever comes, so that nobody waits for this one."""

    async def read() -> None:
        while await reader.read(2**20):
            pass

    group.create_task(read())


# --- Those who mean well ------------------------------------------------------------


async def mean_well(
    group: asyncio.TaskGroup,
    host: str,
    port: int,
    counts: Any,  # noqa: ANN401 -- an array that processes share
) -> None:
    """All honest publishers and subscribers."""
    for number in range(PAIRS):
        group.create_task(count(host, port, number, counts))
        group.create_task(publish(group, host, port, number))


async def publish(group: asyncio.TaskGroup, host: str, port: int, number: int) -> None:
    """An honest publisher."""
    reader, writer = await connect(host, port, Connect(1))
    drain(group, reader)
    frames = pack(Op.PUB, encode({"pair": number, "text": TEXT})) * BATCH
    while True:
        writer.write(frames)
        await writer.drain()


async def count(host: str, port: int, number: int, counts: Any) -> None:  # noqa: ANN401
    """An honest subscriber; how many bytes have come."""
    reader, writer = await connect(host, port, Connect(1))
    writer.write(Subscribe(1, f"pair = {number}").pack())
    while data := await reader.read(2**20):
        counts[number] += len(data)


def lie(attack: Attack, host: str, port: int) -> None:
    """The life of a liar, which gets what others leave of the processor."""
    os.nice(19)
    run(attack, host, port)


def run(make: Callable[..., Coroutine[Any, Any, None]], *arguments: object) -> None:
    """The life of one process."""

    async def live() -> None:
        async with asyncio.TaskGroup() as group:
            group.create_task(make(group, *arguments))

    with contextlib.suppress(KeyboardInterrupt, ExceptionGroup):
        asyncio.run(live())


# --- Measuring ----------------------------------------------------------------------


def processor_seconds(pid: int) -> float:
    """What a process has taken of the processor."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2]
    user, system = fields.split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def rates(pid: int, counts: Any, seconds: float) -> tuple[float, float]:  # noqa: ANN401
    """Bytes that arrive in a second: by the clock, and of the broker's processor."""
    came, taken, begun = sum(counts), processor_seconds(pid), time.perf_counter()
    time.sleep(seconds)
    bytes_more = sum(counts) - came
    of_processor = max(processor_seconds(pid) - taken, 1e-3)
    return bytes_more / (time.perf_counter() - begun), bytes_more / of_processor


@contextlib.contextmanager
def present(attack: Attack | None, where: tuple[str, int]) -> Iterator[None]:
    """A liar, or who is there in its place, for as long as it takes."""
    context = multiprocessing.get_context("spawn")
    other = context.Process(target=lie, args=(attack, *where), daemon=True)
    if attack is not None:
        other.start()
        time.sleep(1)  # until it has started
    try:
        yield
    finally:
        if attack is not None:
            other.kill()
            other.join()


def measure(name: str, rounds: int, seconds: float) -> dict[str, object]:
    """One attack, with and without in turns."""
    context = multiprocessing.get_context("spawn")
    cores = sorted(os.sched_getaffinity(0))
    with ProcessBroker(["--accept-peers"]) as broker:
        if len(cores) > 1:
            os.sched_setaffinity(broker.pid, cores[:1])
            os.sched_setaffinity(0, cores[1:])  # and what is started from here
        host, _, port = broker.url.removeprefix("siena://").rpartition(":")
        where = host, int(port)
        counts = context.Array("Q", PAIRS, lock=False)
        arguments = (mean_well, *where, counts)
        honest = context.Process(target=run, args=arguments, daemon=True)
        honest.start()
        while not all(counts):
            time.sleep(0.05)

        def rates_with(attack: Attack | None) -> tuple[float, float]:
            with present(attack, where):
                return rates(broker.pid, counts, seconds)

        ratios: list[tuple[float, ...]] = []
        before = rates_with(HONEST.get(name))
        for _ in range(rounds):
            during = rates_with(ATTACKS[name])
            after = rates_with(HONEST.get(name))
            around = [statistics.mean(pair) for pair in zip(before, after, strict=True)]
            ratios.append(tuple(d / a for d, a in zip(during, around, strict=True)))
            before = after
        honest.kill()
        honest.join()
    os.sched_setaffinity(0, cores)
    by_clock, of_processor = ([*each] for each in zip(*ratios, strict=True))
    return {
        "attack": name,
        "rounds": rounds,
        "by the clock": _summary(by_clock),
        "of the processor": _summary(of_processor),
    }


def _summary(ratios: list[float]) -> dict[str, float]:
    median = statistics.median(ratios)
    return {"median": median, "least": min(ratios), "greatest": max(ratios)}


def main() -> None:
    """Measure, and print a line for each attack."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--attack", choices=[*ATTACKS, "all"], default="all")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for name in ATTACKS if options.attack == "all" else [options.attack]:
        found = measure(name, options.rounds, options.seconds)
        if options.json:
            print(json.dumps(found), flush=True)
        else:
            shown = [
                "{} {median:.2f} ({least:.2f} to {greatest:.2f})".format(what, **each)
                for what, each in found.items()
                if isinstance(each, dict)
            ]
            print(f"{name:15} {', '.join(shown)}", flush=True)


if __name__ == "__main__":
    main()
