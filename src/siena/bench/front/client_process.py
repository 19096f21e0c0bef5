"""A program that publishes or receives as fast as it can, and says what it cost.

``python -m siena.bench.front.client_process NAME publish|receive PORT COUNT`` prints
``ready`` when it is connected, and in the end the CPU seconds that it took.
"""

import asyncio
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

import msgspec

import siena
from siena.bench.front.quotes import quotes
from siena.errors import SienaError

INTEREST = "symbol = DIS"
SUBJECT = "DIS"


def _notes(count: int) -> list[dict[str, Any]]:
    return [quote.attributes for quote in quotes(count)]


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _ready() -> float:
    _say("ready")
    return time.process_time()


async def siena_publish(port: int, count: int) -> float:
    """Our client, one at a time."""
    notes = _notes(count)
    async with siena.connect(f"siena://127.0.0.1:{port}") as client:
        start = _ready()
        for note in notes:
            await client.publish(note)
        await client.flush()
        return time.process_time() - start


async def siena_receive(port: int, count: int) -> float:
    """Our client, one at a time."""
    async with siena.connect(f"siena://127.0.0.1:{port}") as client:
        wanted = await client.subscribe(INTEREST, count_max=count).settled()
        start = _ready()
        for number in range(count):
            found = await anext(wanted)
            if found["volume"] != number:
                raise SienaError(f"{found} came instead of number {number}")
        return time.process_time() - start


async def nats_publish(port: int, count: int) -> float:
    """The client of NATS, with the fastest payloads that there are."""
    import nats  # noqa: PLC0415 -- only if it is asked for

    notes, encode = _notes(count), msgspec.msgpack.Encoder().encode
    client = await nats.connect(f"nats://127.0.0.1:{port}")
    start = _ready()
    for note in notes:
        await client.publish(SUBJECT, encode(note))
    await client.flush()
    spent = time.process_time() - start
    await client.close()
    return spent


async def nats_receive(port: int, count: int) -> float:
    """The client of NATS, with a callback: its iterator takes twice as long."""
    import nats  # noqa: PLC0415 -- only if it is asked for

    decode = msgspec.msgpack.Decoder(dict[str, Any]).decode
    client = await nats.connect(f"nats://127.0.0.1:{port}")
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    number = 0

    async def hear(message: Any) -> None:  # noqa: ANN401 -- has no types
        nonlocal number
        found = decode(message.data)
        if found["volume"] != number:
            done.set_exception(SienaError(f"{found} came instead of {number}"))
        number += 1
        if number == count:
            done.set_result(None)

    await client.subscribe(
        SUBJECT, cb=hear, pending_msgs_limit=-1, pending_bytes_limit=-1
    )
    await client.flush()
    start = _ready()
    await done
    spent = time.process_time() - start
    await client.close()
    return spent


def blocking_publish(port: int, count: int) -> float:
    """Our client without await."""
    notes = _notes(count)
    with siena.connect(f"siena://127.0.0.1:{port}") as client:
        start = _ready()
        for note in notes:
            client.publish(note)
        client.flush()
        return time.process_time() - start


def blocking_receive(port: int, count: int) -> float:
    """Our client without await."""
    with siena.connect(f"siena://127.0.0.1:{port}") as client:
        wanted = client.subscribe(INTEREST, count_max=count).settled()
        start = _ready()
        for number, found in zip(range(count), wanted, strict=False):
            if found["volume"] != number:
                raise SienaError(f"{found} came instead of number {number}")
        return time.process_time() - start


Program = Callable[[int, int], float | Coroutine[Any, Any, float]]
PROGRAMS: dict[tuple[str, str], Program] = {
    ("siena", "publish"): siena_publish,
    ("siena", "receive"): siena_receive,
    ("blocking", "publish"): blocking_publish,
    ("blocking", "receive"): blocking_receive,
    ("nats", "publish"): nats_publish,
    ("nats", "receive"): nats_receive,
}


def main(name: str, task: str, port: int, count: int) -> None:
    """Do it, and print what it cost."""
    work = PROGRAMS[name, task](port, count)
    _say(str(work if isinstance(work, float) else asyncio.run(work)))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
