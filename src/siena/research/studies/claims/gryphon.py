"""Gryphon: does its search visit less than all subscriptions, and send less?

Left: nodes of the search tree that an event visits, against subscriptions; 10
attributes of 5 values each.  Right: messages for an event in a network of 20 brokers,
by link matching and by flooding, against how many attributes a subscription tests.
"""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import log

import numpy as np
from matplotlib.figure import Figure

from siena.research.studies.framework.claim import Answer, Claim, Select
from siena.research.studies.framework.intervals import (
    all_below,
    all_right,
    between,
    cells,
    curve_of,
    of_means,
    ratio,
)
from siena.research.studies.framework.rows import Cell, Row, distinct, number, where
from siena.research.studies.framework.spoils import constant, copied, each, one
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import (
    finish,
    formula,
    from_zero,
    line,
    panels,
    ticks_at,
)
from siena.research.studies.runs.networks import gryphon

SUBSCRIPTIONS = {
    "full": (100, 300, 1000, 3000, 10_000, 30_000),
    "quick": (100, 300, 1000, 3000),
    "test": (100, 400),
}
BROKERS = 20
# Of what a matcher at every broker would visit; less is worth the trouble.
WORTH = 0.5
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


# --- Claims ---------------------------------------------------------------------


def _sublinear(rows: Sequence[Row]) -> Answer:
    known = cells(rows, ("subscriptions",), "visits")
    first, last = min(known), max(known)
    decades = log(int(str(last[0])) / int(str(first[0])))
    slope = of_means(lambda a, b: np.log(b / a) / decades, known[first], known[last])
    return between(slope, -1, 1, f"exponent {slope.words()}")


def _fewer_messages(rows: Sequence[Row]) -> Answer:
    sent = cells(rows, ("tests",), "messages")
    flooded = cells(rows, ("tests",), "flooded")
    margins = {
        f"{_tests(t)}: of flooding": ratio(sent[t,], flooded[t,]) for (t,) in sent
    }
    ordered = sorted(int(str(t)) for (t,) in sent)
    for one_, other in pairwise(ordered):
        margins[f"{_tests(other)}: of {one_}"] = ratio(sent[other,], sent[one_,])
    return all_below(margins)


def _tests(count: Cell) -> str:
    return "1 test" if count == 1 else f"{count} tests"


def _work(rows: Sequence[Row]) -> Answer:
    work = cells(rows, ("tests",), "visits")
    central = cells(rows, ("tests",), "central_visits")
    constants = {_tests(t): ratio(work[t,], central[t,]) for (t,) in work}
    said = ", ".join(f"{case} {of.words('.1f')}" for case, of in constants.items())
    return all_below(constants, WORTH * BROKERS)._replace(found=f"times: {said}")


def _part(part: str) -> Select:
    return lambda rows: where(rows, part=part)


CLAIMS = (
    Claim(
        "T-D2",
        "the tree finds what a loop finds, and links are those on paths to it",
        "every single run",
        partial(all_right, column="agrees", what="runs"),
        {"one run does not": one(constant("agrees", False))},
    ),
    Claim(
        "T-D3",
        "visits grow less than subscriptions (exponent below 1)",
        "exponent between the fewest and the most subscriptions, with its 95 % "
        "interval",
        _sublinear,
        {
            "more than all are": each(
                lambda r: {"visits": number(r, "subscriptions") ** 1.2}
            )
        },
        of=_part("visits"),
        about="one matcher, by subscriptions",
    ),
    Claim(
        "T-D12",
        "link matching sends less than flooding, and ever less with more tests",
        "ratio of means, with its 95 % bootstrap interval: below 1 in every case",
        _fewer_messages,
        {
            "it floods": copied("messages", "flooded"),
            "tests do not matter": constant("messages", 7.0),
        },
        of=_part("links"),
        about="20 brokers, by tests of a subscription",
    ),
    Claim(
        "T-D12",
        f"all {BROKERS} brokers together visit less than {WORTH * BROKERS:g} times "
        "what one matcher does",
        "ratio of means, with its 95 % bootstrap interval: below "
        f"{WORTH * BROKERS:g} in every case",
        _work,
        {
            "each visits as much": each(
                lambda r: {"visits": BROKERS * number(r, "central_visits")}
            )
        },
        {"one does the work": copied("visits", "central_visits")},
        of=_part("links"),
        about="20 brokers, by tests of a subscription",
        leaves_open="The papers say that it is little, and not how much. No broker "
        f"visits more than one matcher, so {BROKERS} times would be met by all that "
        "there is: half of it is our limit.",
        is_gating=False,
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """Visits, and messages."""
    figure, (left, right) = panels(2)
    visits = curve_of(where(rows, part="visits"), "subscriptions", "visits")
    line(left, visits, "search tree", 0)
    formula(left, {n: n for n in visits}, "all subscriptions")
    finish(left, "One matcher", "subscriptions", "visits per event", log="xy")
    links = where(rows, part="links")
    line(right, curve_of(links, "tests", "flooded"), "flooding", 1)
    line(right, curve_of(links, "tests", "messages"), "link matching, match-first", 0)
    x = "attributes that a subscription tests"
    finish(right, "20 brokers, 5 subscriptions each", x, "messages per event")
    from_zero(right)
    ticks_at(right, distinct(links, "tests"))
    return figure


STUDY = Study(
    name="gryphon",
    title="Gryphon's search tree and link matching",
    paper="Aguilera et al., PODC 1999; Banavar et al., ICDCS 1999",
    says="Matching takes less than time proportional to the subscriptions. Link "
    "matching sends as little as if all destinations were known (match-first), where "
    "flooding sends everything everywhere.",
    shape="Left: below the diagonal, and ever further. Right: falling, far below.",
    caption="Left: nodes of a search tree that an event visits against subscriptions, "
    "both logarithmic; 10 attributes of 5 values. Right: messages for an event in a "
    "network of 20 brokers with 5 subscriptions each, by flooding and by link "
    "matching, against the attributes that a subscription tests.",
    parameters=(
        Parameter("attributes, values", "10, 5", "T-D3; ICDCS'99 from memory"),
        Parameter("tests of a subscription", "1 to 10 (left)", "ours"),
        Parameter("network", "20 brokers, 29 links, 5 subscriptions each", "ours"),
        Parameter("events", "200", "ours"),
    ),
    run=gryphon,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 5, "quick": 2, "test": 1},
    remark="The paper's exponent has a closed form that we do not have; slopes are "
    "measured, not compared.",
)
