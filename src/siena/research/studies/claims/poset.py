"""What the poset of filters costs: the complexity that CU-CS-888-99 states.

x: filters in the poset.  y: filters that an addition compares with, and that a match
tests, searching from the roots as the papers do, beside a flat table that looks at all.
And: time to compare two filters, or a filter with a notification, by their sizes.
"""

from collections.abc import Sequence
from functools import partial
from math import log
from statistics import linear_regression

import numpy as np
from matplotlib.figure import Figure

from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    Decide,
    Select,
    Spoil,
    decided,
    undecided,
)
from siena.research.studies.framework.intervals import (
    Means,
    all_below,
    all_right,
    between,
    cells,
    curve_of,
    of_means,
    ratio,
)
from siena.research.studies.framework.rows import Row, curve, number, where
from siena.research.studies.framework.spoils import constant, copied, each, one, times
from siena.research.studies.framework.study import Parameter, Size, Study, among, listed
from siena.research.studies.reporting.drawing import finish, formula, line, panels
from siena.research.studies.runs.posets import NAMES, PRICE_MAX, PROBES, search

SHAPES = {
    "apart": "apart: none covers another",
    "nested": "nested: bands of prices",
    "W": f"W of {NAMES} names",
}
FILTERS = {
    "full": (50, 100, 200, 400, 800, 1600),
    "quick": (100, 200, 400),
    "test": (30, 60, 120),
}
CONSTRAINTS = (2, 4, 8, 16, 32)
# Exponents of counts and of times that are taken for the whole number.
COUNTED, TIMED = 0.1, 0.25
# Less is a saving that would pay for links.
WORTH = 0.5


def plan(size: Size, seeds: int) -> list[Row]:
    """Posets of three shapes, and pairs of filters."""
    rows: list[Row] = [
        {
            "part": "filters",
            "shape": shape,
            "filters": filters,
            "constraints": None,
            "seed": seed,
        }
        for filters in FILTERS[size]
        for shape in SHAPES
        for seed in among(seeds)
    ]
    rows += [
        {
            "part": "constraints",
            "shape": kind,
            "filters": None,
            "constraints": count,
            "seed": seed,
        }
        for kind in ("matching", "covering")
        for count in CONSTRAINTS
        for seed in among(seeds)
    ]
    return rows


# --- Claims ---------------------------------------------------------------------


def there(row: Row, column: str) -> float:
    """Filters that stand in a poset, on average, when something is looked for.

    Notifications are matched in posets of so many filters; then more are added to each.
    """
    grown = (PROBES - 1) / 2 if column == "compared" else 0
    return number(row, "filters") + grown


def _at_most_linear(column: str) -> Decide:
    def decide(rows: Sequence[Row]) -> Answer:
        known = cells(rows, ("there",), column)
        sizes = sorted(known, key=lambda case: number({"n": case[0]}, "n"))
        if len(sizes) < 3:
            return undecided("needs three sizes")
        xs = np.log([float(str(size)) for (size,) in sizes])
        away = xs - xs.mean()

        def slope(*means: Means) -> Means:
            found: Means = np.tensordot(away, np.log(means), axes=1) / (away**2).sum()
            return found

        found = of_means(slope, *(known[size] for size in sizes))
        return between(found, 0, 1 + COUNTED, f"exponent {found.words()}")

    return lambda rows: decide([{**r, "there": there(r, column)} for r in rows])


def _flat(rows: Sequence[Row]) -> Answer:
    """Nothing covers anything: both searches see all that is there."""
    away = 0.0
    for row in rows:
        for column, factor in (("compared", 2), ("tested", 1)):
            expected = factor * there(row, column)
            away = max(away, abs(number(row, column) - expected))
    return decided(away < 1e-9, f"{away:.2g} away at most, in {len(rows)} posets")


def _never_more(column: str, factor: int) -> Decide:
    """Than so many times all filters, in any single poset."""

    def decide(rows: Sequence[Row]) -> Answer:
        shares = [number(r, column) / (factor * there(r, column)) for r in rows]
        more = sum(share > 1 + 1e-9 for share in shares)
        words = f"{min(shares):.2f} to {max(shares):.2f} of it"
        words += f"; more in {more} of {len(rows)} posets"
        return decided(more == 0 < min(shares), words)

    return decide


def _less_than_a_list(column: str, of_list: float, limit: float) -> Decide:
    """What a search looks at, over what a flat table does, in the largest posets."""

    def decide(rows: Sequence[Row]) -> Answer:
        largest = max(number(row, "filters") for row in rows)
        own: list[Row] = [
            {**row, "all": of_list * number(row, "held")}
            for row in where(rows, filters=int(largest))
        ]
        looked, flat = (cells(own, ("shape",), name) for name in (column, "all"))
        margins = {str(shape): ratio(looked[shape,], flat[shape,]) for (shape,) in flat}
        said = ", ".join(f"{shape} {part.words()}" for shape, part in margins.items())
        answer = all_below(margins, limit)
        return answer._replace(found=f"{said} of {largest:,.0f} filters")

    return decide


def _time(exponent: int) -> Decide:
    def decide(rows: Sequence[Row]) -> Answer:
        points = curve(rows, "constraints", "microseconds", min)
        xs, ys = ([log(x) for x in of] for of in (points, points.values()))
        slope = linear_regression(xs, ys).slope
        words = (
            f"exponent {slope:.2f}; {points[max(points)]:.0f} µs with {max(points):.0f}"
        )
        return decided(slope <= exponent + TIMED, words)

    return decide


def _of(*shapes: str) -> Select:
    return lambda rows: [row for row in rows if row["shape"] in shapes]


def _posets(rows: Sequence[Row]) -> list[Row]:
    return where(rows, part="filters")


def _power(exponent: float) -> Spoil:
    return each(lambda r: {c: there(r, c) ** exponent for c in ("compared", "tested")})


_cubes = each(lambda r: {"microseconds": number(r, "constraints") ** 3})
_plain = each(lambda r: {"microseconds": number(r, "constraints")})
_one_more = each(lambda r: {"compared": number(r, "compared") + 1})
CLAIMS = (
    Claim(
        "agree",
        "the poset in brokers has the filters and the links that the search finds, and "
        "a search matches what a list does",
        "all filters and their predecessors, in every single poset",
        partial(all_right, column="agrees", what="posets"),
        {"one differs": one(constant("agrees", False))},
        of=_posets,
        about="all posets",
    ),
    Claim(
        "flat",
        "where no filter covers another, a poset is a list: an addition compares with "
        "all filters twice, and a match tests all",
        "comparisons and tests in every single poset: exactly so",
        _flat,
        {"one more": _one_more, "fewer tests": constant("tested", 1.0)},
        of=_of("apart"),
        about="filters apart",
    ),
    *(
        Claim(
            "bound",
            f"{what}, whatever the filters are",
            f"{column} over {words}, in every single poset: at most 1",
            _never_more(column, factor),
            {
                "ten times as many in one": one(times(column, 10)),
                "none": constant(column, 0),
            },
            {"in proportion": _power(1)},
            of=_posets,
            about="all posets",
            why="Of the filters that were found below the new one, on several ways, "
            "some may be below each other, and all pairs are compared once more. "
            "Where bands overlap, these are many.",
            is_gating=False,
        )
        for what, column, words, factor in (
            (
                "an addition compares with no filter more than twice",
                "compared",
                "twice the filters that are there",
                2,
            ),
            ("a match tests no filter twice", "tested", "the filters", 1),
        )
    ),
    *(
        Claim(
            name,
            f"{words}: {what} at most in proportion to the filters",
            f"exponent over all sizes, by least squares, of {x}, with its 95 % "
            f"interval: at most {1 + COUNTED}",
            _at_most_linear(column),
            {"with their square": _power(2), "as R^1.2": _power(1.2)},
            {"in proportion": _power(1)},
            of=_of(shape),
            about=shape,
        )
        for shape, words in SHAPES.items()
        for name, what, column, x in (
            (
                "O(R n m)",
                "comparisons of an addition grow",
                "compared",
                "the filters that are there when one is added",
            ),
            ("O(R (n+m))", "tests of a match grow", "tested", "the filters"),
        )
    ),
    Claim(
        "saves",
        "where filters cover each other, an addition compares with less than half of "
        "what it would in a list",
        "comparisons over twice the filters, in the largest posets, with the 95 % "
        f"interval: below {WORTH}",
        _less_than_a_list("compared", 2, WORTH),
        {"all of them": each(lambda r: {"compared": 2 * number(r, "held")})},
        {"few of them": constant("compared", 1.0)},
        of=_of("nested", "W"),
        about="nested, and W",
        why="Bands overlap more often than one contains another: most are looked at "
        "on the way down.",
        is_gating=False,
    ),
    Claim(
        "saves",
        "where filters cover each other, a match tests less than half of them",
        "tests over filters, in the largest posets, with the 95 % interval: below "
        f"{WORTH}",
        _less_than_a_list("tested", 1, WORTH),
        {"all of them": copied("tested", "held")},
        {"few of them": constant("tested", 1.0)},
        of=_of("nested", "W"),
        about="nested, and W",
        why="A match tests whatever stands below a filter that matches, and wide "
        "filters match often.",
        is_gating=False,
    ),
    Claim(
        "O(n+m)",
        "a filter and a notification of n names each: time grows as n at most",
        "slope of the logarithms of least times and sizes, by least squares: at most "
        f"{1 + TIMED}",
        _time(1),
        {"as the cube": _cubes},
        {"as n": _plain},
        of=_of("matching"),
        about="matching, 2 to 32 constraints",
        is_gating=False,
    ),
    Claim(
        "O(n m)",
        "two filters of n constraints on one name each: time grows as the square of n "
        "at most",
        "slope of the logarithms of least times and sizes, by least squares: at most "
        f"{2 + TIMED}",
        _time(2),
        {"as the cube": _cubes},
        {"as n": _plain},
        of=_of("covering"),
        about="covering, 2 to 32 constraints",
        is_gating=False,
    ),
)


# --- Drawing --------------------------------------------------------------------


def draw(rows: Sequence[Row]) -> Figure:
    """Comparisons, tests, and times."""
    figure, (added, matched, taken) = panels(3)
    posets = _posets(rows)
    for axes, column, factor in ((added, "compared", 2), (matched, "tested", 1)):
        for style, (shape, words) in enumerate(SHAPES.items()):
            own: list[Row] = [
                {**row, "there": there(row, column)}
                for row in where(posets, shape=shape)
            ]
            line(axes, curve_of(own, "there", column), words, style)
        sizes = sorted({there(row, column) for row in posets})
        words = "a flat table" if factor == 1 else "a flat table, both ways"
        formula(axes, {n: factor * n for n in sizes}, words)
    finish(
        added,
        "An addition",
        "filters that are there",
        "comparisons of filters",
        log="xy",
    )
    finish(matched, "A match", "filters", "filters tested", log="xy")
    kinds = {
        "matching": "a filter, a notification",
        "covering": "two filters, one name",
    }
    for style, (kind, words) in enumerate(kinds.items()):
        points = curve(where(rows, shape=kind), "constraints", "microseconds", min)
        line(taken, points, words, style)
        power = 1 if kind == "matching" else 2
        last = max(points)
        law = {n: points[last] * (n / last) ** power for n in points}
        formula(taken, law, f"as n{'' if power == 1 else '²'}")
    title = "A comparison, least time"
    finish(taken, title, "constraints or attributes, n", "µs", log="xy")
    return figure


STUDY = Study(
    name="poset",
    title="What the poset costs",
    paper="CU-CS-888-99, section 5.1",
    says="A filter is tested with a notification in O(n+m) and compared with another "
    "in O(nm); of R filters in a flat table a notification is tested with all and an "
    "addition compared with all. A poset has to look at fewer, if filters cover each "
    "other.",
    shape="Filters that are apart on the line of a flat table, the others below it.",
    caption="Filters that an addition compares with, and that a match tests, against "
    "the filters in a poset that is searched from its roots: filters none of which "
    "covers another, bands of prices, and W-TR0605. Right: least processor time to "
    "test a filter with a notification, and to compare two filters, against their "
    "sizes, with lines of slope 1 and 2. All axes are logarithmic.",
    parameters=(
        Parameter("filters", listed(FILTERS["full"]), "ours"),
        Parameter("constraints in a filter", listed(CONSTRAINTS), "ours: times"),
        Parameter("bands", f"two bounds on one name, of 0 to {PRICE_MAX}", "ours"),
        Parameter("W", f"W-TR0605 with {NAMES} names, equally likely", "ours"),
        Parameter("additions, matches", f"{PROBES} in each poset", "ours"),
        Parameter("covering", "pairwise, as the paper's", "stated"),
        Parameter("search", "from the roots, breadth first", "stated"),
    ),
    run=search,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 5, "quick": 3, "test": 2},
    remark="Additions go into posets that grow by them: the filters that are there are "
    "those of the row and half of the additions. The poset in brokers does not search "
    "so: it has indexes, and looks at filters only that share conditions with the new "
    "one; here it is asked for the links alone. Times are of one machine; only their "
    "slopes are compared.",
    is_timed=True,
)
