"""Faults: each happens to a running network, lasts, and is over when it returns."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path

from siena.testing.chaos.cast import BROKERS, Cast

Fault = Callable[[Cast, random.Random, float], Awaitable[str]]

# How slow a slow way is.
DELAY_SECONDS = 0.2
# By how much a clock jumps: somewhat, and beyond what any broker waits for.
JUMPS_SECONDS = (-4 * 86_400.0, -60.0, 60.0, 4 * 86_400.0)


async def kill(cast: Cast, rng: random.Random, seconds: float) -> str:
    """A broker is killed (SIGKILL), and started again."""
    number = rng.randrange(BROKERS)
    await asyncio.to_thread(cast.brokers[number].kill)
    await asyncio.sleep(seconds)
    await cast.start(number)
    return f"b{number} killed"


async def kill_all(cast: Cast, rng: random.Random, seconds: float) -> str:
    """All brokers are killed at once."""
    for broker in cast.brokers:
        broker.kill()
    await asyncio.sleep(min(seconds, 1.0))
    for number in rng.sample(range(BROKERS), BROKERS):  # all at once would be slow
        await cast.start(number)
    return "all killed"


async def end(cast: Cast, rng: random.Random, seconds: float) -> str:
    """A broker is ended in good order (SIGTERM), and started again."""
    number = rng.randrange(BROKERS)
    await asyncio.to_thread(cast.brokers[number].stop)
    await asyncio.sleep(min(seconds, 1.0))
    await cast.start(number)
    return f"b{number} ended"


async def freeze(cast: Cast, rng: random.Random, seconds: float) -> str:
    """A broker is stopped in its tracks (SIGSTOP)."""
    number = rng.randrange(BROKERS)
    if not cast.brokers[number].is_running:  # another fault has it
        return f"b{number} was not there to be frozen"
    cast.brokers[number].freeze()
    try:
        await asyncio.sleep(seconds)
    finally:
        if cast.brokers[number].is_running:
            cast.brokers[number].thaw()
    return f"b{number} frozen"


async def partition(cast: Cast, rng: random.Random, seconds: float) -> str:
    """Nothing passes between two halves, and no process is told."""
    side = set(rng.sample(range(BROKERS), rng.choice((1, 2))))
    cut = [link for link in cast.links if (link[0] in side) != (link[1] in side)]
    for link in cut:
        cast.proxies[link].hold()
    try:
        await asyncio.sleep(seconds)
    finally:
        for link in cut:
            cast.proxies[link].let()
    return f"partition of {', '.join(f'b{n}' for n in sorted(side))}"


async def reset(cast: Cast, rng: random.Random, seconds: float) -> str:
    """A link is reset, some times in a row."""
    link = rng.choice(cast.links)
    for _ in range(3):
        cast.proxies[link].reset()
        await asyncio.sleep(min(seconds / 3, 0.5))
    return f"resets between b{link[0]} and b{link[1]}"


async def delay(cast: Cast, rng: random.Random, seconds: float) -> str:
    """A link is slow."""
    link = rng.choice(cast.links)
    cast.proxies[link].delay_s = DELAY_SECONDS
    try:
        await asyncio.sleep(seconds)
    finally:
        cast.proxies[link].delay_s = 0.0
    return f"delay between b{link[0]} and b{link[1]}"


async def truncate(cast: Cast, rng: random.Random, seconds: float) -> str:
    """A broker is killed, and the end of its log is cut off."""
    number = rng.randrange(BROKERS)
    await asyncio.to_thread(cast.brokers[number].kill)
    path = _last_file(cast.log_of(number))
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.truncate(rng.randrange(size // 2, size + 1))
    await asyncio.sleep(min(seconds, 1.0))
    await cast.start(number)
    return f"b{number} killed, its log cut off"


async def flip(cast: Cast, rng: random.Random, seconds: float) -> str:
    """A broker is killed, and a bit of its log flips."""
    number = rng.randrange(BROKERS)
    await asyncio.to_thread(cast.brokers[number].kill)
    path = _last_file(cast.log_of(number))
    before = cast.read_store(number)
    data = bytearray(path.read_bytes())
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    path.write_bytes(data)
    named = cast.name_damage(number, before)
    await asyncio.sleep(min(seconds, 1.0))
    await cast.start(number)
    return f"b{number} killed, a bit of its log flipped, which names {named}"


async def full_disk(cast: Cast, rng: random.Random, seconds: float) -> str:
    """The log of a broker can be written no further (RLIMIT_FSIZE)."""
    number = rng.randrange(BROKERS)
    size = _last_file(cast.log_of(number)).stat().st_size
    cast.limit_file_size(number, size)
    try:
        await asyncio.sleep(seconds)
    finally:
        cast.limit_file_size(number, None)
    return f"disk of b{number} full"


async def kill_client(cast: Cast, rng: random.Random, seconds: float) -> str:
    """A client is killed (SIGKILL), and begins again; with --durable."""
    if cast.mortals is None:
        return "no client to be killed"
    who = cast.mortals.kill(rng)
    await asyncio.sleep(min(seconds, 1.0))
    return f"{who} killed"


async def clock(cast: Cast, rng: random.Random, seconds: float) -> str:
    """The clock of a broker jumps, and is set right again."""
    number, jump = rng.randrange(BROKERS), rng.choice(JUMPS_SECONDS)
    cast.move_clock(number, jump)
    try:
        await asyncio.sleep(seconds)
    finally:
        cast.move_clock(number, 0.0)
    return f"clock of b{number} wrong by {jump:+,.0f} s"


def _last_file(folder: Path) -> Path:
    return max(folder.glob("*.log"))


# What destroys what a disk had, and cannot be noticed: a log whose end was cut off
# between two records is one where nothing was published since.  So what was
# acknowledged is lost without a word, and no promise holds but those of best effort.
UNNOTICED = {"truncate"}
# Those after which a broker is started: one of them at a time.
STARTING = {"kill", "kill-all", "end", "truncate", "flip"}

FAULTS: dict[str, Fault] = {
    "kill": kill,
    "kill-all": kill_all,
    "end": end,
    "freeze": freeze,
    "partition": partition,
    "reset": reset,
    "delay": delay,
    "truncate": truncate,
    "flip": flip,
    "full-disk": full_disk,
    "clock": clock,
    "kill-client": kill_client,
}
