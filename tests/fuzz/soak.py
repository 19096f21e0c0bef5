r"""Churn without end: memory stays flat, tables go empty, and nothing leaks.

    PYTHONPATH=tests/support:tests .venv/bin/python -m fuzz.soak --minutes 60

Two linked brokers in processes of their own.  In each round clients come, subscribe to
interests that were never asked for before (points, ranges, prefixes, patterns), publish
to each other what a plain loop says must come, withdraw everything, and leave.  Then
both brokers must hold nothing, with as many files open as before; and over all rounds
their memory may not grow by more than 2 %.
"""

import argparse
import asyncio
import random
import statistics
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, NamedTuple

import siena
from siena.cli.common.contexts import Server
from siena.cli.common.observing import Observer
from siena.client.client import Client
from siena.clock import SystemClock
from siena.testing.in_process import ProcessBroker

CLOCK = SystemClock()
CLIENTS = 4
INTERESTS = 250
PUBLICATIONS = 100
GROWTH_MAX = 0.02
# Rounds in which tables and caches come to their size.
WARM = 0.3


class Wanted(NamedTuple):
    """An interest, and a test of the same that asks nobody."""

    text: str
    wants: Callable[[int, str], bool]


def wanted(rng: random.Random, n: int) -> Wanted:
    """An interest that was never asked for before."""
    name = f"s{n}-{rng.randrange(10**6)}"
    low, high = sorted(rng.sample(range(1_000), 2))
    match n % 4:
        case 0:
            return Wanted(f"s = {name}", lambda _x, s: s == name)
        case 1:
            return Wanted(
                f"x > {low} and x < {high} and s != {name}",
                lambda x, s: low < x < high and s != name,
            )
        case 2:
            return Wanted(f's >* "{name[:-1]}"', lambda _x, s: s.startswith(name[:-1]))
        case _:
            text = f"s = {name} and x > {low} then s = {name}"
            return Wanted(text, lambda _x, _s: False)


class Measure(NamedTuple):
    """What a round leaves behind, of one broker."""

    kilobytes: int
    files: int
    filters: int
    subscriptions: int


def _measure(broker: ProcessBroker) -> Measure:
    status = Path(f"/proc/{broker.pid}/status").read_text()
    kilobytes = int(status.split("VmRSS:")[1].split()[0])
    files = len(list(Path(f"/proc/{broker.pid}/fd").iterdir()))
    with Observer(Server(broker.url)) as observer:
        seen: dict[str, Any] = observer.look("counters")
    counters = seen["counters"]
    return Measure(kilobytes, files, seen["filters"], counters["subscriptions_now"])


async def _round(brokers: list[ProcessBroker], rng: random.Random) -> int:
    """One round; how many deliveries did not come, or came for nothing."""
    async with AsyncExitStack() as stack:
        clients: list[Client] = []
        for number in range(CLIENTS):
            broker = brokers[number % len(brokers)]
            connecting = siena.connect(broker.url)
            clients.append(await stack.enter_async_context(connecting))
        asked = []
        for client in clients:
            for _ in range(INTERESTS):
                each = wanted(rng, rng.randrange(10**9))
                asked.append((each, client.subscribe(each.text)))
        for _, subscription in asked:
            await subscription.settled()
        expected = 0
        for _ in range(PUBLICATIONS):
            x, s = rng.randrange(1_000), f"s{rng.randrange(10**9)}"
            expected += sum(each.wants(x, s) for each, _ in asked)
            await clients[0].publish(x=x, s=s)
        await clients[0].flush()
        got = 0
        deadline = CLOCK.elapsed() + 30
        while got < expected and CLOCK.elapsed() < deadline:
            for _, subscription in asked:
                while subscription.waiting:
                    await anext(subscription)
                    got += 1
            await asyncio.sleep(0.02)
        for _, subscription in asked:
            await subscription.close()
        return abs(expected - got)


async def soak(seconds: float, seed: int) -> bool:
    """Rounds until the time is over; whether all was well."""
    rng = random.Random(seed)
    measures: list[list[Measure]] = []
    wrong = 0
    with (
        ProcessBroker(["--accept-peers"]) as first,
        ProcessBroker(["--peer", first.url]) as second,
    ):
        brokers = [first, second]
        end = CLOCK.elapsed() + seconds
        while CLOCK.elapsed() < end or len(measures) < 4:
            wrong += await _round(brokers, rng)
            measures.append([_measure(broker) for broker in brokers])
            sizes = ", ".join(f"{m.kilobytes:,} KB" for m in measures[-1])
            print(f"round {len(measures)}: {sizes}", flush=True)
    return _judge(measures, wrong)


def _judge(measures: list[list[Measure]], wrong: int) -> bool:
    is_good = wrong == 0
    if wrong:
        print(f"✗ {wrong} deliveries too many or too few")
    warm = measures[int(len(measures) * WARM) :]
    for number in range(len(measures[0])):
        of_one = [each[number] for each in warm]
        third = max(1, len(of_one) // 3)
        begin = statistics.median(m.kilobytes for m in of_one[:third])
        last = statistics.median(m.kilobytes for m in of_one[-third:])
        growth = last / begin - 1
        left = of_one[-1].filters + of_one[-1].subscriptions
        files = of_one[-1].files - of_one[0].files
        fits = growth <= GROWTH_MAX and left == 0 and files <= 2
        is_good = is_good and fits
        print(
            f"{'✓' if fits else '✗'} broker {number + 1}: memory {growth:+.1%} over "
            f"{len(of_one)} rounds, {left} interests left, {files:+d} files"
        )
    return is_good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    sys.exit(not asyncio.run(soak(60 * chosen.minutes, chosen.seed)))


if __name__ == "__main__":
    main()
