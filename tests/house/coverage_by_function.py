"""Which functions do fewer branches of than before the move?

    make coverage
    .venv/bin/coverage json -o build/coverage.json
    .venv/bin/python tests/house/coverage_by_function.py build/coverage.json

A function is known by its name and not by its module, for modules move; functions of
one name are taken together.  ``--write`` makes the table from which one is compared.
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

TABLE = Path(__file__).parent / "branches.tsv"


def branches_of(report: Path) -> dict[str, tuple[int, int]]:
    """By function: how many branches there are, and how many were taken."""
    totals: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for file in json.loads(report.read_text(encoding="utf-8"))["files"].values():
        for name, function in file["functions"].items():
            summary = function["summary"]
            totals[name][0] += summary["num_branches"]
            totals[name][1] += summary["covered_branches"]
    return {name: (there, taken) for name, (there, taken) in totals.items() if there}


def main(report: Path, *, write: bool) -> None:
    """Write the table, or name the functions of which a smaller part is covered."""
    now = branches_of(report)
    if write:
        lines = (f"{name}\t{a}\t{b}\n" for name, (a, b) in sorted(now.items()) if name)
        TABLE.write_text("".join(lines), encoding="utf-8")
        return
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        name, there, taken = line.split("\t")
        if name in now and now[name][1] / now[name][0] < int(taken) / int(there):
            print(f"{name}: {taken} of {there} before, now {now[name]}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), write="--write" in sys.argv)
