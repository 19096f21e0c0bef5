"""What does a long text cost, whatever the operands that it contains?

One notification of a megabyte, against filters whose operands are parts of each other,
or nearly occur in it, or do so everywhere.  Each text is new, so nothing of it is
remembered.  The target is 50 ms for each.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from random import Random
from string import ascii_lowercase

from siena.matching import COMPILED
from siena.matching.input.buffers import encode_all
from siena.matching.table import ForwardingTable
from siena.model import Constraint, Filter, Operator

TEXT_CHARACTERS = 1_048_000
NESTED = 4_096
MIXED = 65_535
TARGET_MS = 50.0

Texts = Callable[[Random], str]


def main() -> None:
    """Print of each case how many filters match, and how long it takes."""
    if not COMPILED:
        sys.exit("The kernels are not compiled: there is nothing to measure.")
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--runs", type=int, default=5)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--json", action="store_true", help="print one object")
    chosen = options.parse_args()
    random = Random(chosen.seed)
    result = {
        name: measure(filters, text, random, chosen.runs)
        for name, filters, text in cases(random)
    }
    if chosen.json:
        print(json.dumps(result))
        return
    for name, (matches, *times) in result.items():
        median = statistics.median(times)
        verdict = "within" if median <= TARGET_MS else "ABOVE"
        print(
            f"{name:<22} {matches:>6,.0f} match, {median:6.1f} ms of CPU time "
            f"({min(times):.1f} to {max(times):.1f}), {verdict} {TARGET_MS:.0f} ms"
        )


def cases(random: Random) -> Iterator[tuple[str, list[Filter], Texts]]:
    """Filters by what they do to an automaton, and texts that bring it out."""
    runs = ["a" * size for size in range(1, NESTED + 1)]
    yield "nested", [contains(run) for run in runs], of_one_letter
    yield (
        "nested, and a number",
        [contains(run, number=7) for run in runs],
        (of_one_letter),
    )
    nearly = [run[:-1] + "b" for run in runs]
    yield "nearly nested", [contains(run) for run in nearly], of_one_letter
    some = MIXED - 2 * NESTED
    words = drawn(random, ascii_lowercase, some)
    mixed = [*runs, *nearly, *words]
    yield "mixed", [contains(operand) for operand in mixed], of_words(words)
    yield (
        "mixed, and a number",
        [contains(operand, number=7) for operand in mixed],
        (of_words(words)),
    )
    two = [*runs, *nearly, *drawn(random, "ab", some)]
    yield (
        "mixed, of two letters",
        [contains(operand) for operand in two],
        of_two_letters,
    )


def drawn(random: Random, letters: str, count: int) -> list[str]:
    """Words by chance."""
    return [
        "".join(random.choices(letters, k=random.randint(8, 18))) for _ in range(count)
    ]


def contains(operand: str, number: int | None = None) -> Filter:
    """A filter on the text, and perhaps on the number beside it."""
    constraints = [Constraint("text", Operator.SUBSTRING, operand)]
    if number is not None:
        constraints.append(Constraint("number", Operator.EQ, number))
    return Filter(constraints)


def of_one_letter(random: Random) -> str:
    """One letter all over, but at one place."""
    at = random.randrange(TEXT_CHARACTERS)
    return "a" * at + "c" + "a" * (TEXT_CHARACTERS - at - 1)


def of_words(words: list[str]) -> Texts:
    """Words one behind the other, and a long run of one letter."""

    def make(random: Random) -> str:
        text = "".join(random.choices(words, k=TEXT_CHARACTERS // 8))
        return text[: TEXT_CHARACTERS - NESTED] + "a" * NESTED

    return make


def of_two_letters(random: Random) -> str:
    """Two letters by chance, and a long run of one."""
    return "".join(random.choices("ab", k=TEXT_CHARACTERS - NESTED)) + "a" * NESTED


def measure(
    filters: list[Filter], text: Texts, random: Random, runs: int
) -> list[float]:
    """How many filters match at the last, and the time of each run in ms."""
    table = ForwardingTable()
    for number, f in enumerate(filters):
        table.add(number, f)
    table.consolidate()
    table.match({})  # its first match compiles it
    matches, times = 0, []
    for _ in range(runs):
        blocks, offsets = encode_all([{"text": text(random), "number": 7}])
        start = time.process_time()
        (matches,) = table.match_buffer(blocks, offsets).counts.tolist()
        times.append(1000 * (time.process_time() - start))
    return [matches, *times]


if __name__ == "__main__":
    main()
