"""A run: faults one after the other, and in between proof that all is well again."""

import asyncio
import random
import shutil
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from siena.clock import SystemClock
from siena.testing.chaos.cast import BROKERS, Cast
from siena.testing.chaos.faults import FAULTS, STARTING
from siena.testing.chaos.ledger import QUIET, TROUBLED, Outcome, Report

# What is watched at a time, to see whether everything comes; and how long it may take.
PROBE_SECONDS = 0.5
ARRIVAL_SECONDS = 2.0
# After this much nothing is expected to recover any more.
GIVE_UP_SECONDS = 120.0


@dataclass(frozen=True)
class Plan:
    """What a run does."""

    seconds: float = 20.0
    seed: int = 1
    faults: Sequence[str] = tuple(FAULTS)
    fault_s: float = 3.0
    rate: float = 20.0  # publications a second, of each publisher
    recover_s: float = 10.0
    pulse_s: float = 0.5
    acked: bool = False  # whether publishers wait for the disk
    durable: bool = False  # and subscribers read what is acknowledged, from logs
    faults_max: int | None = None
    together: int = 1  # so many at once


async def run(plan: Plan, tell: Callable[[str], None] = lambda _text: None) -> Report:
    """Run it, and end all that was started."""
    rng = random.Random(plan.seed)
    clock = SystemClock()
    folder = Path(tempfile.mkdtemp(prefix="siena-chaos-"))
    begun = clock.elapsed()
    outcomes: list[Outcome] = []
    try:
        cast = Cast(
            *(folder, rng, plan.rate, plan.pulse_s),
            acked=plan.acked,
            durable=plan.durable,
        )
        async with cast:
            tell(f"{BROKERS} brokers run, logs in {folder}")
            await cast.begin()
            await _recover(cast, clock)
            faults = _order(plan, rng)
            end = clock.elapsed() + plan.seconds
            for name in faults[: plan.faults_max]:
                if clock.elapsed() >= end:
                    break
                names = [name, *_others(plan, name, rng)]
                outcomes.append(await _one(cast, plan, names, rng, clock))
                tell(_line(outcomes[-1]))
            cast.ledger.state = TROUBLED
            if plan.durable:
                cast.hush()
                await _all_arrived(cast)
            await _all_quiet_arrived(cast)
        ledger = cast.ledger
        if plan.acked or plan.durable:
            cast.read_stores()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return Report.of(
        ledger,
        outcomes,
        seed=plan.seed,
        seconds=clock.elapsed() - begun,
        recover_s=plan.recover_s,
    )


def _order(plan: Plan, rng: random.Random) -> list[str]:
    """Every fault once, in an order of chance, and so on."""
    order: list[str] = []
    while len(order) < 10_000:
        order += rng.sample(list(plan.faults), len(plan.faults))
    return order


def _others(plan: Plan, name: str, rng: random.Random) -> list[str]:
    """What happens at the same time; of those that start a broker one."""
    others = sorted(set(plan.faults) - {name} - STARTING)
    return rng.sample(others, min(plan.together - 1, len(others)))


def _line(outcome: Outcome) -> str:
    took = outcome.recovered_s
    how = "not recovered" if took is None else f"recovered {took:.1f} s after its end"
    return f"{outcome.fault}, for {outcome.lasted_s:.1f} s: {how}"


async def _one(
    cast: Cast, plan: Plan, names: list[str], rng: random.Random, clock: SystemClock
) -> Outcome:
    """A quiet moment, a fault or some, and what follows until all comes again."""
    cast.ledger.state = QUIET
    await asyncio.sleep(1.0)
    # What comes now may be under way when the fault begins.
    cast.ledger.state = TROUBLED
    await _all_quiet_arrived(cast)
    begun = clock.elapsed()
    lasting = [rng.uniform(0.5, 1.0) * plan.fault_s for _ in names]
    said = await asyncio.gather(
        *(FAULTS[n](cast, rng, s) for n, s in zip(names, lasting, strict=True))
    )
    what = " and ".join(said)
    over = clock.elapsed()
    recovered = await _recover(cast, clock)
    took = None if recovered is None else max(0.0, recovered - over)
    return Outcome(what, over - begun, took)


async def _all_quiet_arrived(cast: Cast) -> bool:
    """Wait until all has come that was published while all was well."""
    for _ in range(100):
        if not any(cast.ledger.missing(QUIET).values()):
            return True
        await asyncio.sleep(0.1)
    return False


async def _all_arrived(cast: Cast) -> None:
    """Wait until all has come that was acknowledged, or nothing more comes."""
    for _ in range(int(GIVE_UP_SECONDS / 0.1)):
        if not any(cast.ledger.missing().values()):
            return
        await asyncio.sleep(0.1)


async def _recover(cast: Cast, clock: SystemClock) -> float | None:
    """Wait until everything that is published comes; since when it does."""
    give_up = clock.elapsed() + GIVE_UP_SECONDS
    while clock.elapsed() < give_up:
        since, first = clock.elapsed(), cast.marks()
        await asyncio.sleep(PROBE_SECONDS)
        last = cast.marks()
        if any(a == b for a, b in zip(first, last, strict=True)):
            continue  # a publisher is stuck
        keys = {
            (publisher, number)
            for publisher in range(len(first))
            for number in range(first[publisher], last[publisher])
        }
        until = clock.elapsed() + ARRIVAL_SECONDS
        while clock.elapsed() < until:
            if not _missing_of(cast, keys):
                return since
            await asyncio.sleep(0.05)
    return None


def _missing_of(cast: Cast, keys: set[tuple[int, int]]) -> bool:
    ledger = cast.ledger
    return any(
        key not in found.keys and found.wants(ledger.published[key][0])
        for found in ledger.subscribers.values()
        for key in keys
    )
