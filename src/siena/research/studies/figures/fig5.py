"""Figure 5 of TR 2006/05: the disjunction advantage of sets of messages.

x: the messages of all predicates together, as a share of all messages there are
(n·k/|M|).  y: alpha.  Uniform predicates fall slowly, as the closed form says; where
few messages are wanted by many (Zipf), half is saved with a few per cent of them.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.framework.drawing import finish, formula, line, panels
from siena.research.studies.framework.rows import Row, curve, distinct, number, where
from siena.research.studies.framework.study import (
    Finding,
    Parameter,
    Size,
    Study,
    among,
)
from siena.research.studies.runs.disjunction import sets_of_messages

UNIVERSES = {"full": (10**4, 10**5, 10**6), "quick": (10**4, 10**5, 10**6)}
LOADS = (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
# Above these, drawing takes minutes and shows nothing new.
LOAD_MAX = {"full": 10.0, "quick": 1.0, "test": 0.5}
EXACT_LOAD_MAX, EXACT_UNIVERSE_MAX = 1.0, 10**5

# What our specification found (E.8.1): load, universe, alpha.
GOLDEN = {
    "zipf": {
        (0.02, 10**4): 0.674,
        (0.02, 10**5): 0.565,
        (0.02, 10**6): 0.486,
        (0.05, 10**4): 0.582,
        (0.05, 10**5): 0.489,
        (0.05, 10**6): 0.423,
        (0.1, 10**4): 0.512,
        (0.1, 10**5): 0.432,
        (0.1, 10**6): 0.375,
        (0.5, 10**4): 0.350,
        (0.5, 10**5): 0.300,
        (0.5, 10**6): 0.264,
        (1.0, 10**4): 0.281,
        (1.0, 10**5): 0.244,
        (1.0, 10**6): 0.217,
    },
    # The same in every universe.
    "zipf exact": {
        (load, universe): alpha
        for load, alpha in ((0.02, 0.90), (0.05, 0.77), (0.1, 0.67), (0.5, 0.44))
        for universe in (10**4, 10**5)
    },
}
TOLERANCE = 0.02


def plan(size: Size, seeds: int) -> list[Row]:
    """Every way of drawing, in every universe, at every load."""
    rows: list[Row] = []
    for universe in UNIVERSES.get(size, (10**4, 10**5)):
        for load in LOADS:
            if load > LOAD_MAX[size]:
                continue
            for drawing in ("uniform", "zipf", "zipf exact"):
                if drawing == "zipf exact" and (
                    load > EXACT_LOAD_MAX or universe > EXACT_UNIVERSE_MAX
                ):
                    continue
                rows += [
                    {
                        "universe": universe,
                        "load": load,
                        "drawing": drawing,
                        "seed": seed,
                    }
                    for seed in among(seeds)
                ]
    return rows


def check(rows: Sequence[Row]) -> list[Finding]:
    """T-E20, T-E21, T-E22, and the numbers of our specification."""
    return [_near_formula(rows), _half(rows), _below(rows), _golden(rows)]


def _near_formula(rows: Sequence[Row]) -> Finding:
    says = "uniform: alpha is within 1 % of the closed form"
    worst = 0.0
    for universe in distinct(rows, "universe"):
        own = where(rows, universe=int(universe), drawing="uniform")
        found = curve(own, "load", "alpha")
        expected = curve(own, "load", "expected")
        for load, alpha in found.items():
            worst = max(worst, abs(alpha / expected[load] - 1))
    return Finding("T-E20", says, worst <= 0.01, f"at most {worst:.2%} away")


def _half(rows: Sequence[Row]) -> Finding:
    says = "Zipf: five predicates of one message in a hundred each save about half"
    own = where(rows, drawing="zipf", load=0.05)
    if len(distinct(own, "universe")) < 3:
        return Finding("T-E21", says, None, "needs all three universes")
    means = curve(own, "universe", "alpha").values()
    alpha = sum(means) / 3
    return Finding("T-E21", says, 0.45 <= alpha <= 0.55, f"alpha is {alpha:.3f}")


def _below(rows: Sequence[Row]) -> Finding:
    says = "Zipf is below uniform everywhere"
    least = 1.0
    for universe in distinct(rows, "universe"):
        own = where(rows, universe=int(universe))
        uniform = curve(where(own, drawing="uniform"), "load", "alpha")
        zipf = curve(where(own, drawing="zipf"), "load", "alpha")
        least = min([least, *(uniform[load] - zipf[load] for load in zipf)])
    return Finding("T-E22", says, least > 0, f"by {least:.3f} or more")


def _golden(rows: Sequence[Row]) -> Finding:
    says = f"Zipf: the values of our specification, within {TOLERANCE}"
    worst = 0.0
    for drawing, values in GOLDEN.items():
        for (load, universe), alpha in values.items():
            own = where(rows, drawing=drawing, universe=universe, load=load)
            if own:
                found = curve(own, "load", "alpha")[load]
                worst = max(worst, abs(found - alpha))
    return Finding("E.8.1", says, worst <= TOLERANCE, f"at most {worst:.3f} away")


def draw(rows: Sequence[Row]) -> Figure:
    """Left: all loads.  Right: small ones, where the paper zooms in."""
    figure, (wide, zoomed) = panels(2)
    largest = max(distinct(rows, "universe"))
    uniform = where(rows, universe=int(largest), drawing="uniform")
    line(wide, curve(uniform, "load", "alpha"), "uniform", 6)
    formula(wide, curve(uniform, "load", "expected"), "uniform, closed form")
    for style, universe in enumerate(distinct(rows, "universe")):
        own = where(rows, universe=int(universe), drawing="zipf")
        name = f"Zipf, |M| = {universe:,.0f}"
        line(wide, curve(own, "load", "alpha"), name, style)
        small = [row for row in own if number(row, "load") <= 0.1]
        line(zoomed, curve(small, "load", "alpha"), name, style)
    exact = [
        row
        for row in where(rows, drawing="zipf exact", universe=10**4)
        if number(row, "load") <= 0.1
    ]
    line(zoomed, curve(exact, "load", "alpha"), "Zipf, sets of exact size", 4)
    x, y = "messages of all predicates / all messages (nk/|M|)", "alpha (1: no gain)"
    finish(wide, "All loads", x, y, log="x")
    finish(zoomed, "Small loads", x, y)
    zoomed.axhline(0.5, color="#888888", linewidth=0.8, linestyle=":")
    for axes in (wide, zoomed):
        axes.set_ylim(0, 1.05)
    return figure


STUDY = Study(
    name="fig5",
    title="Disjunction advantage, sets of messages",
    paper="TR 2006/05, figure 5",
    says="The more messages predicates have in common, the less a disjunction of them "
    "takes. Uniform predicates are the worst case; with Zipf's law, five predicates of "
    "one message in a hundred each save about half.",
    shape="Falling curves; Zipf far below uniform, and lower in larger universes.",
    parameters=(
        Parameter("messages |M|", "10⁴, 10⁵, 10⁶", "stated"),
        Parameter("exponent of Zipf", "1", "stated"),
        Parameter("messages in a predicate k", "|M|/100", "the paper's example"),
        Parameter("loads nk/|M|", "0.01 to 10", "the paper's axes, points are ours"),
        Parameter(
            "Zipf predicates",
            "n·k draws with replacement",
            "ours: the one of three variants that gives the stated number",
        ),
    ),
    run=sets_of_messages,
    plan=plan,
    check=check,
    draw=draw,
    seeds={"full": 10, "quick": 3, "test": 2},
    remark="How the paper draws Zipf predicates is not said. With sets of exact size "
    "only a quarter is saved at the stated point; that curve is drawn as well.",
)
