"""Do all matchers say the same of real flights, and how fast is ``siena sift``?

The flights that left New York in 2013, a line each, are sifted through subscriptions by
``siena sift``, once for each matcher: all flights by the engine and by counting, the
first thousands by the others.  Their outputs are compared line by line, and the first
difference ends the run.  Rates are those that the command reports, with its reading,
its printing and the building of its index.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from itertools import islice, zip_longest
from pathlib import Path
from typing import NamedTuple

SIENA = Path(sys.executable).with_name("siena")
FAST = ("engine", "counting")
SLOW = ("tree", "poset", "reference")


class Run(NamedTuple):
    """One matcher, what it printed, and how it went."""

    matcher: str
    answers: Path
    summary: str
    seconds: float


class DisagreementError(Exception):
    """Two matchers say different things of one flight."""


def main() -> None:
    """Print a line for each matcher, and whether they agree."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--flights", type=int, help="all, unless told otherwise")
    options.add_argument("--first", type=int, default=5_000, help="for slow matchers")
    options.add_argument("--subscriptions", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=1)
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), chosen.subscriptions, chosen.seed)
        flights = bench.write_flights(chosen.flights)
        first = bench.write_first(chosen.first)
        engine, *others = [bench.sift(matcher, flights) for matcher in FAST]
        others += [bench.sift(matcher, first) for matcher in SLOW]
        lines = [compare(engine.answers, run.answers) for run in others]
    print(f"agree: {lines[0]:,} flights {' and '.join(FAST)}, ", end="")
    print(f"the first {min(lines):,} also {', '.join(SLOW)}")


class Bench:
    """A folder with flights, subscriptions and answers."""

    def __init__(self, folder: Path, subscriptions: int, seed: int) -> None:
        self.folder = folder
        self.wanted = folder / "subscriptions.ndjson"
        count = str(subscriptions)
        write(self.wanted, "flights", "--subscriptions", count, "--seed", str(seed))

    def write_flights(self, limit: int | None) -> Path:
        """So many flights, or all."""
        path = self.folder / "flights.ndjson"
        write(path, "flights", *([] if limit is None else ["--limit", str(limit)]))
        return path

    def write_first(self, count: int) -> Path:
        """The first of these flights."""
        path = self.folder / "first.ndjson"
        with (self.folder / "flights.ndjson").open() as flights, path.open("w") as file:
            file.writelines(islice(flights, count))
        return path

    def sift(self, matcher: str, flights: Path) -> Run:
        """The answers of one matcher; says at once how it went."""
        answers = self.folder / f"{matcher}.ndjson"
        start = time.perf_counter()
        options = ("-s", self.wanted, "--json", "--matcher", matcher)
        summary = write(answers, "sift", flights, *options)
        run = Run(matcher, answers, summary, time.perf_counter() - start)
        print(f"{run.matcher:10}{run.seconds:7.1f} s   {run.summary}", flush=True)
        return run


def write(path: Path, *arguments: str | Path) -> str:
    """Write what ``siena`` prints to a file; what it says besides is returned."""
    with path.open("wb") as file:
        command: list[str | Path] = [SIENA, *arguments]
        done = subprocess.run(
            command, stdout=file, stderr=subprocess.PIPE, check=False, text=True
        )
    if done.returncode:
        sys.exit(done.stderr)
    return done.stderr.strip()


def compare(all_answers: Path, first_answers: Path) -> int:
    """How many lines the second has, all of which the first begins with.

    Raises:
        DisagreementError: with the first lines that differ.
    """
    count = 0
    with all_answers.open() as ours, first_answers.open() as theirs:
        expected = list(theirs)
        for said, wanted in zip_longest(islice(ours, len(expected)), expected):
            if said != wanted:
                raise DisagreementError(
                    f"{all_answers.stem} says {said}{first_answers.stem} says {wanted}"
                )
            count += 1
    return count


if __name__ == "__main__":
    main()
