"""Gryphon: does its search visit less than all subscriptions, and send less?

Left: nodes of the search tree that an event visits, against subscriptions; 10
attributes of 5 values each.  Right: messages for an event in a network of 20 brokers,
by link matching and by flooding, against how many attributes a subscription tests.
"""

from collections.abc import Sequence
from itertools import pairwise
from math import log

from matplotlib.figure import Figure

from siena.research.studies.framework.drawing import finish, formula, line, panels
from siena.research.studies.framework.rows import Row, curve, where
from siena.research.studies.framework.study import (
    Finding,
    Parameter,
    Size,
    Study,
    among,
)
from siena.research.studies.runs.networks import gryphon

SUBSCRIPTIONS = {
    "full": (100, 300, 1000, 3000, 10_000, 30_000),
    "quick": (100, 300, 1000, 3000),
    "test": (100, 400),
}
TESTS = {"full": (1, 2, 3, 4, 5), "quick": (1, 2, 3, 4), "test": (1, 3)}


def plan(size: Size, seeds: int) -> list[Row]:
    """One matcher of many sizes, and one network with subscriptions of all kinds."""
    rows: list[Row] = []
    for seed in among(seeds):
        rows += [
            {"part": "visits", "subscriptions": n, "tests": None, "seed": seed}
            for n in SUBSCRIPTIONS[size]
        ]
        rows += [
            {"part": "links", "subscriptions": None, "tests": tests, "seed": seed}
            for tests in TESTS[size]
        ]
    return rows


def check(rows: Sequence[Row]) -> list[Finding]:
    """T-D2, T-D3, T-D11, T-D12."""
    visits = curve(where(rows, part="visits"), "subscriptions", "visits")
    links = where(rows, part="links")
    sent = curve(links, "tests", "messages")
    flooded = curve(links, "tests", "flooded")
    ratios = {tests: sent[tests] / flooded[tests] for tests in sent}
    first, last = min(visits), max(visits)
    slope = log(visits[last] / visits[first]) / log(last / first)
    work = curve(links, "tests", "visits")
    central = curve(links, "tests", "central_visits")
    constants = [work[tests] / central[tests] for tests in work]
    wrong = [row for row in rows if not row["agrees"]]
    steps = [after / before for before, after in pairwise(ratios.values())]
    return [
        Finding(
            "T-D2",
            "the tree finds what a loop finds, and links are those on paths to it",
            not wrong,
            f"{len(rows) - len(wrong)} of {len(rows)} runs",
        ),
        Finding(
            "T-D3",
            "visits grow less than subscriptions (exponent below 1)",
            slope < 1,
            f"exponent {slope:.2f}",
        ),
        Finding(
            "T-D12",
            "link matching sends no more than flooding, and ever less with more tests",
            max(ratios.values()) <= 1 and all(step < 1 for step in steps),
            ", ".join(f"{t:.0f} tests: {r:.0%}" for t, r in ratios.items()),
        ),
        Finding(
            "T-D12",
            "all brokers together visit a small multiple of what one matcher does",
            max(constants) < 20,
            f"{min(constants):.1f} to {max(constants):.1f} times",
            is_gating=False,
        ),
    ]


def draw(rows: Sequence[Row]) -> Figure:
    """Visits, and messages."""
    figure, (left, right) = panels(2)
    visits = curve(where(rows, part="visits"), "subscriptions", "visits")
    line(left, visits, "search tree", 0)
    formula(left, {n: n for n in visits}, "all subscriptions")
    finish(left, "One matcher", "subscriptions", "visits per event", log="xy")
    links = where(rows, part="links")
    line(right, curve(links, "tests", "flooded"), "flooding", 1)
    line(right, curve(links, "tests", "messages"), "link matching, match-first", 0)
    x = "attributes that a subscription tests"
    finish(right, "20 brokers, 5 subscriptions each", x, "messages per event")
    right.set_ylim(bottom=0)
    return figure


STUDY = Study(
    name="gryphon",
    title="Gryphon's search tree and link matching",
    paper="Aguilera et al., PODC 1999; Banavar et al., ICDCS 1999",
    says="Matching takes less than time proportional to the subscriptions. Link "
    "matching sends as little as if all destinations were known (match-first), where "
    "flooding sends everything everywhere.",
    shape="Left: below the diagonal, and ever further. Right: falling, far below.",
    parameters=(
        Parameter("attributes, values", "10, 5", "T-D3; ICDCS'99 from memory"),
        Parameter("tests of a subscription", "1 to 10 (left)", "ours"),
        Parameter("network", "20 brokers, 29 links, 5 subscriptions each", "ours"),
        Parameter("events", "200", "ours"),
    ),
    run=gryphon,
    plan=plan,
    check=check,
    draw=draw,
    seeds={"full": 5, "quick": 2, "test": 1},
    remark="The paper's exponent has a closed form that we do not have; slopes are "
    "measured, not compared.",
)
