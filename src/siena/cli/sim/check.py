"""``siena sim check``: does any world do what it must not?"""

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Annotated

import typer

from siena.sim.check import Outcome, try_world

# A process gets so many worlds at a time: it is worth its while, and progress shows.
WORLDS_AT_A_TIME = 10


def sim_check(
    *,
    worlds: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="How many worlds to try.")
    ] = 200,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the first.")] = 0,
    jobs: Annotated[
        int, typer.Option(min=1, max=256, help="How many processes try them.")
    ] = 1,
) -> None:
    """Try random worlds against the oracle.

    Every world follows from its seed: an architecture, a network, options, clients,
    what they ask for, links that break and brokers that crash.  For each that does what
    it must not do, the command that shows it again is printed.  The exit code is 1 if
    there was one.

    \b
    Examples:
      siena sim check --worlds 500
      siena sim check --worlds 1 --seed 8123
    """  # noqa: D301 -- Typer needs the backspace itself
    shows_progress = sys.stderr.isatty()
    violations = 0
    for done, outcome in enumerate(_outcomes(seed, worlds, jobs), start=1):
        if outcome.violation is not None:
            violations += 1
            print(f"seed {outcome.seed}: {outcome.description}")
            print(f"  {outcome.violation}")
            print(f"  siena sim check --worlds 1 --seed {outcome.seed}", flush=True)
        if shows_progress:
            print(f"\r{done:,} worlds", end="", file=sys.stderr, flush=True)
    end = "\r" if shows_progress else ""
    print(f"{end}{worlds} worlds, {violations} violations")
    if violations:
        raise typer.Exit(1)


def _outcomes(seed: int, worlds: int, jobs: int) -> Iterator[Outcome]:
    seeds = range(seed, seed + worlds)
    if jobs == 1:
        yield from map(try_world, seeds)
        return
    with ProcessPoolExecutor(min(jobs, os.cpu_count() or 1)) as pool:
        yield from pool.map(try_world, seeds, chunksize=WORLDS_AT_A_TIME)
