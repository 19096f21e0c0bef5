"""What figures 6 and 7 of TR 2006/05 have in common: alpha of sets of filters.

x: the number of predicates.  y: alpha.  Each is one filter of W-TR0605; covered ones
are dropped, as the pairwise rule has it.  For each number several sets are drawn, and
their least, 5th percentile, median, 95th percentile and greatest alpha shown.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from statistics import median

from matplotlib.figure import Figure

from siena.research.studies.framework.drawing import COLOURS, band, finish, line, panels
from siena.research.studies.framework.rows import Row, curve, quantile, where
from siena.research.studies.framework.study import Finding, Parameter, Size, among

SIZES = {
    "full": (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 6500, 7000, 7500, 10_000),
    "quick": (10, 50, 100, 200, 500, 1000, 2000, 5000, 6500, 7500),
    "test": (50, 200, 1000),
}
# Medians may rise by so much from one point to the next: they are of few sets.
NOISE = 0.03

PARAMETERS = (
    Parameter("constraints in a filter", "1 to 6: 10, 40, 30, 10, 5, 5 %", "stated"),
    Parameter("operators of strings", "= 40 %, six others 10 % each", "stated"),
    Parameter("operators of integers", "= 40, < 25, > 25, != 10 %", "stated"),
    Parameter("words", "200, weight 1/rank", "200 stated, weights ours"),
    Parameter("names in a filter", "distinct", "ours, as the authors' generator"),
    Parameter("sets for each point", "the seeds", "not stated"),
    Parameter("reduction", "pairwise covering", "stated"),
)

Scenario = tuple[int, str]
"""How many names there are, and how popular they are."""


def plan_of(scenarios: Sequence[Scenario], size: Size, seeds: int) -> list[Row]:
    """Every scenario with every number of predicates."""
    return [
        {"names": names, "names_are": are, "predicates": predicates, "seed": seed}
        for predicates in SIZES[size]
        for names, are in scenarios
        for seed in among(seeds)
    ]


def own(rows: Sequence[Row], scenario: Scenario) -> list[Row]:
    """The rows of a scenario."""
    return where(rows, names=scenario[0], names_are=scenario[1])


def title(scenario: Scenario) -> str:
    """In words."""
    return f"{scenario[0]:,} names, {scenario[1].replace('zipf', 'Zipf')}"


def alphas(
    rows: Sequence[Row],
    scenario: Scenario,
    join: Callable[[Sequence[float]], float] = median,
) -> dict[float, float]:
    """The medians, or others, by number of predicates."""
    return curve(own(rows, scenario), "predicates", "alpha", join)


def decreasing(rows: Sequence[Row], scenarios: Sequence[Scenario]) -> Finding:
    """T-E23."""
    worst = 0.0
    for scenario in scenarios:
        medians = list(alphas(rows, scenario).values())
        rises = [b - a for a, b in pairwise(medians)]
        worst = max([worst, *rises])
    says = f"alpha falls with the number of predicates (medians, within {NOISE})"
    return Finding("T-E23", says, worst <= NOISE, f"rises by {worst:.3f} at most")


def shrinking(rows: Sequence[Row], scenarios: Sequence[Scenario]) -> Finding:
    """T-E25."""
    says = "sets of 5,000 predicates are three times as alike as sets of 200"
    found = []
    for scenario in scenarios:
        least, most = alphas(rows, scenario, min), alphas(rows, scenario, max)
        if not {200, 5000} <= least.keys():
            return Finding("T-E25", says, None, "needs 200 and 5,000 predicates")
        wide, narrow = most[200] - least[200], most[5000] - least[5000]
        found.append((scenario, narrow, wide))
    words = "; ".join(f"{title(s)}: {n:.3f} and {w:.3f}" for s, n, w in found)
    return Finding("T-E25", says, all(n < w / 3 for _, n, w in found), words)


def above_half(rows: Sequence[Row], scenarios: Sequence[Scenario]) -> Finding:
    """T-E26."""
    highest = [
        (most, scenario, predicates)
        for scenario in scenarios
        for predicates, most in alphas(rows, scenario, max).items()
        if predicates < 100
    ]
    says = "below 100 predicates no scenario saves half in all of its sets"
    if not highest:
        return Finding("T-E26", says, None, "needs fewer than 100 predicates")
    most, scenario, predicates = min(highest)
    words = f"{title(scenario)}: up to {most:.2f} with {predicates:.0f} predicates"
    return Finding("T-E26", says, most > 0.5, words)


def draw_of(rows: Sequence[Row], scenarios: Sequence[Scenario]) -> Figure:
    """One drawing for each scenario."""
    figure, axes = panels(len(scenarios))
    for style, (each, scenario) in enumerate(zip(axes, scenarios, strict=True)):
        band(each, alphas(rows, scenario, min), alphas(rows, scenario, max), style)
        fifth = alphas(rows, scenario, partial(quantile, share=0.05))
        last = alphas(rows, scenario, partial(quantile, share=0.95))
        band(each, fifth, last, style)
        line(each, alphas(rows, scenario), "median", style)
        for points, label in ((fifth, "5 % and 95 % of sets"), (last, None)):
            xs, ys = list(points), list(points.values())
            colour = COLOURS[style]
            each.plot(xs, ys, label=label, color=colour, linewidth=0.8, linestyle="--")
        each.fill_between([], [], [], color=COLOURS[style], alpha=0.15, label="all")
        finish(each, title(scenario), "predicates", "alpha (1: no gain)", log="x")
        each.set_ylim(0, 1.05)
    return figure
