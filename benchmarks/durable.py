"""What a publication costs a broker that has many durable subscriptions.

A broker with a log, in a process of its own, has one durable subscription or many, each
with a filter of its own and read by nobody at the moment.  Of what is published some
part is wanted by one of them.  Printed is the time of the processor that the broker
takes for each publication, round by round: one beside many.

    python benchmarks/durable.py --subscriptions 10000 --wanted 0.25

With ``--restart`` it is how long a broker takes, with so many subscriptions and a log
of ``--records``, from its start until it acknowledges a publication and delivers to a
durable subscription; once after it was ended, and once after it was killed.

    python benchmarks/durable.py --restart --subscriptions 10000 --records 1000000
"""

import argparse
import asyncio
import os
import random
import statistics
import tempfile
import time
from pathlib import Path

import siena
from siena.client.client import Client
from siena.testing.in_process import ProcessBroker

# Subscriptions that are made together, and publications in one call.
TOGETHER, BATCH = 200, 500
OTHERS = 10_000


def seconds_of(pid: int) -> float:
    """What a process has had of the processors."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def subscribe(client: Client, count: int) -> None:
    """Make durable subscriptions, and read none of them."""
    for first in range(0, count, TOGETHER):
        made = [
            client.subscribe(f"s = k{n} and x >= 0", durable=f"d{n}")
            for n in range(first, min(count, first + TOGETHER))
        ]
        for each in made:
            await each.settled()
        for each in made:
            await each.close()


async def cost(
    count: int, wanted: float, publications: int, rounds: int
) -> list[float]:
    """Microseconds for each publication, of each round."""
    rng = random.Random(1)
    found: list[float] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessBroker(["--log", folder]) as broker,
    ):
        async with siena.connect(broker.url) as client:
            await subscribe(client, count)
            for _ in range(rounds):
                events: list[dict[str, str | int]] = [
                    {"s": f"k{rng.randrange(count)}", "x": n}
                    if rng.random() < wanted
                    else {"s": f"z{rng.randrange(OTHERS)}", "x": n}
                    for n in range(publications)
                ]
                before = seconds_of(broker.pid)
                for first in range(0, publications, BATCH):
                    await client.publish_many(events[first : first + BATCH])
                    await client.flush()
                took = seconds_of(broker.pid) - before
                found.append(1e6 * took / publications)
    return found


def bytes_of(folder: str) -> int:
    """What the files of a folder have, together."""
    return sum(path.stat().st_size for path in Path(folder).iterdir())


async def restart(count: int, wanted: float, records: int) -> None:
    """Measure starts, and print."""
    rng = random.Random(1)
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessBroker(["--log", folder]) as broker,
    ):
        async with siena.connect(broker.url) as client:
            await subscribe(client, count)
            for first in range(0, records, BATCH):
                await client.publish_many(
                    [
                        {"s": f"k{rng.randrange(count)}", "x": n}
                        if rng.random() < wanted
                        else {"s": f"z{rng.randrange(OTHERS)}", "x": n}
                        for n in range(first, min(records, first + BATCH))
                    ]
                )
            await client.publish(s="k0", x=records, ack=True)
        size = bytes_of(folder)
        print(f"{records} records, {count} durable subscriptions, {size:,} bytes")
        for how, end in (("ended", broker.stop), ("killed", broker.kill)):
            end()
            begun = time.perf_counter()
            broker.start()
            ready = time.perf_counter() - begun
            async with siena.connect(broker.url) as client:
                await client.publish(s="none", ack=True)
                stored = time.perf_counter() - begun
                async with client.subscribe("s = k0 and x >= 0", durable="d0") as found:
                    await found.get()
                delivered = time.perf_counter() - begun
            print(
                f"{how}: ready after {ready:.2f} s, a receipt after {stored:.2f} s, "
                f"a delivery after {delivered:.2f} s; {seconds_of(broker.pid):.2f} s "
                "of a processor"
            )


def main() -> None:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--subscriptions", type=int, default=10_000)
    parser.add_argument("--wanted", type=float, default=0.25)
    parser.add_argument("--publications", type=int, default=150_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--restart", action="store_true")
    parser.add_argument("--records", type=int, default=1_000_000)
    chosen = parser.parse_args()
    if chosen.restart:
        counts = chosen.subscriptions, chosen.wanted, chosen.records
        asyncio.run(restart(*counts))
        return
    medians = []
    for count in (1, chosen.subscriptions):
        found = asyncio.run(
            cost(count, chosen.wanted, chosen.publications, chosen.rounds)
        )
        medians.append(statistics.median(found))
        each = ", ".join(f"{us:.2f}" for us in found)
        print(f"{count} durable: {medians[-1]:.2f} µs a publication ({each})")
    print(f"{medians[1] / medians[0]:.2f} times")


if __name__ == "__main__":
    main()
