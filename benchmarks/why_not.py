"""How long does a broker take to say why a notification reaches whom, and not whom?

One broker, in a process of its own, has so many subscriptions on ten connections, of
four shapes.  Notifications are then asked about over HTTP, one after the other: the
processor time is that of the broker's process, the other what the client waits.  The
index is made when the console's page is opened, which is told apart from the first
question; then some subscriptions come and go before every other, as they do.  Another
connection pings the broker all the time: so long do others wait meanwhile.

    python benchmarks/why_not.py --subscriptions 100000 --questions 30
"""

import argparse
import asyncio
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import httpx

import siena
from siena.client import Client

CONNECTIONS = 10
# Subscriptions that come, and go, before each question.
CHANGED = 20
NANOSECOND = 1e-9
QUIET_SECONDS = 2
PINGING = """
import json, sys, threading, time
import siena
ended = threading.Event()
def wait(): sys.stdin.readline(); ended.set()
threading.Thread(target=wait, daemon=True).start()
waits = []
with siena.connect(sys.argv[1]) as client:
    print(flush=True)
    while not ended.is_set():
        start = time.perf_counter()
        client.flush()
        waits.append(time.perf_counter() - start)
        time.sleep(0.001)
print(json.dumps(waits))
"""


def main() -> None:
    """Measure, and print a line for each part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subscriptions", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=30)
    options = parser.parse_args()
    with broker() as (process, said):
        asyncio.run(measure(process, said, options))


@contextmanager
def broker() -> Iterator[tuple[int, dict[str, object]]]:
    """A broker with HTTP; its process and where it is."""
    command = [sys.executable, "-m", "siena", "serve", "--json"]
    command += ["--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as found:
        assert found.stdout is not None
        try:
            yield found.pid, json.loads(found.stdout.readline())
        finally:
            found.terminate()


def seconds_of(process: int) -> float:
    """The processor time that a process has used, of all its threads."""
    threads = Path(f"/proc/{process}/task").glob("*/schedstat")
    spent = (int(each.read_text(encoding="ascii").split()[0]) for each in threads)
    return NANOSECOND * sum(spent)


def filter_of(draw: random.Random, number: int) -> str:
    """One of four shapes: points, users, prefixes and ranges."""
    match number % 4:
        case 0:
            symbol, price = draw.randrange(5_000), draw.randrange(1_000)
            return f"symbol = S{symbol} and price > {price} and volume > {number}"
        case 1:
            return f"user = u{number} and level > {draw.randrange(10)}"
        case 2:
            return f'path >* "/a/{number}/" and method in (get, put)'
        case _:
            low = draw.randrange(5_000)
            return f"price > {low} and price < {low + draw.randrange(1, 2_000)}"


async def measure(
    process: int, said: dict[str, object], options: argparse.Namespace
) -> None:
    """Subscribe, ask, and tell."""
    url, http = said["urls"][0], str(said["http"])  # type: ignore[index]
    async with AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(siena.connect(url))
            for _ in range(CONNECTIONS)
        ]
        await _measure(process, clients, url, http, options)


async def _measure(
    process: int,
    clients: list[Client],
    url: str,
    http: str,
    options: argparse.Namespace,
) -> None:
    draw = random.Random(1)
    held = []  # a handle that is forgotten is closed
    share = options.subscriptions // CONNECTIONS
    for place, client in enumerate(clients):
        texts = [filter_of(draw, place * share + at) for at in range(share)]
        held += [client.subscribe(text) for text in texts]
        await held[-1].settled()
    async with httpx.AsyncClient(base_url=http, trust_env=False, timeout=120) as asking:

        async def ask(level: int) -> tuple[float, float, dict[str, object]]:
            notification = {
                "symbol": f"S{draw.randrange(5_000)}", "price": draw.randrange(7_000),
                "volume": draw.randrange(options.subscriptions), "user": "u5",
                "level": level, "path": "/a/6/x", "method": "get",
            }  # fmt: skip
            return await post("why", {"notification": json.dumps(notification)})

        async def post(
            name: str, body: dict[str, str]
        ) -> tuple[float, float, dict[str, object]]:
            used, start = seconds_of(process), time.perf_counter()
            answer = (await asking.post(f"/api/{name}", json=body)).json()
            waited = time.perf_counter() - start
            return seconds_of(process) - used, waited, answer

        with pinging(url) as quiet:
            await asyncio.sleep(QUIET_SECONDS)
        with pinging(url) as meanwhile:
            used, waited, answer = await post("prepare", {})
        print(
            f"the page is opened, and the index made: {used:.2f} s of processor, "
            f"{waited:.2f} s waited; {answer['filters']:,} filters"
        )
        print(f"pings while nothing is asked: {spread(quiet)}")
        print(f"pings while it is made: {spread(meanwhile)}")
        used, waited, answer = await ask(0)
        print(
            f"first question: {1_000 * used:.1f} ms of processor, "
            f"{1_000 * waited:.1f} ms waited, {answer['milliseconds']:.1f} by itself"
        )
        rows = []
        with pinging(url) as meanwhile:
            for number in range(options.questions):
                new = [
                    clients[0].subscribe(filter_of(draw, draw.randrange(10**6)))
                    for _ in range(CHANGED)
                ]
                await new[-1].settled()
                for each in new:
                    await each.close()
                rows.append(await ask(number % 10))
        print(f"pings during the other questions: {spread(meanwhile)}")
    columns = {"processor": [r[0] for r in rows], "waited": [r[1] for r in rows]}
    for name, column in columns.items():
        print(f"{name}: {spread(column)}")


@contextmanager
def pinging(url: str) -> Iterator[list[float]]:
    """Ask for signs of life, in a process of its own; how long each took."""
    waits: list[float] = []
    command = [sys.executable, "-c", PINGING, url]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as found:
        assert found.stdout is not None
        found.stdout.readline()  # it has begun
        yield waits
        out, _ = found.communicate("end\n")
    waits += json.loads(out)


def spread(seconds: list[float]) -> str:
    """In milliseconds, and how many there were."""
    found = sorted(1_000 * each for each in seconds)
    p99 = found[int(len(found) * 0.99)]
    return (
        f"median {statistics.median(found):.1f} ms, p99 {p99:.1f}, "
        f"{found[0]:.1f} to {found[-1]:.1f}, of {len(found):,}"
    )


if __name__ == "__main__":
    main()
