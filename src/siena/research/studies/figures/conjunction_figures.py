"""What figures 6 and 7 of TR 2006/05 have in common: alpha of sets of filters.

x: the number of predicates.  y: alpha.  Each is one filter of W-TR0605; covered ones
are dropped, as the pairwise rule has it.  For each number several sets are drawn, and
their least, 5th percentile, median, 95th percentile and greatest alpha shown.
"""

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from statistics import median

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    decided,
    having,
    undecided,
)
from siena.research.studies.framework.rows import Row, curve, number, quantile, where
from siena.research.studies.framework.spoils import constant, each, only
from siena.research.studies.framework.study import Parameter, Size, among
from siena.research.studies.reporting.drawing import COLOURS, band, finish, line, panels

SIZES = {
    "full": (10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 6500, 7000, 7500, 10_000),
    "quick": (10, 50, 100, 200, 500, 1000, 2000, 5000, 6500, 7500),
    "test": (50, 200, 1000, 5000, 6500, 7500),
}
# Medians may rise by so much from one point to the next: they are of few sets.
NOISE = 0.03
# And must fall by so much from one end to the other: less would be no advantage.
FALL = 0.1

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


# --- Claims ---------------------------------------------------------------------


def decreasing(scenarios: Sequence[Scenario]) -> Claim:
    """T-E23."""

    def decide(rows: Sequence[Row]) -> Answer:
        rises, falls = [], []
        for scenario in scenarios:
            medians = list(alphas(rows, scenario).values())
            rises += [b - a for a, b in pairwise(medians)]
            falls.append(1 - medians[-1] / medians[0])
        words = f"rises by {max(rises):.3f} at most, falls by {min(falls):.0%} or more"
        return decided(max(rises) <= NOISE and min(falls) >= FALL, words)

    return Claim(
        "T-E23",
        "alpha falls with the number of predicates",
        f"medians of sets: no rise by more than {NOISE} from one number to the next, "
        f"and a fall by {FALL:.0%} or more from the least to the greatest, in every "
        f"scenario",
        decide,
        {
            "alpha rises": each(lambda r: {"alpha": number(r, "predicates")}),
            "alpha is constant": constant("alpha", 0.7),
        },
        about="all sets of the figure",
    )


def shrinking(scenarios: Sequence[Scenario]) -> Claim:
    """T-E25."""

    def decide(rows: Sequence[Row]) -> Answer:
        found = []
        for scenario in scenarios:
            least, most = alphas(rows, scenario, min), alphas(rows, scenario, max)
            if not {200, 5000} <= least.keys():
                return undecided("needs 200 and 5,000 predicates")
            wide, narrow = most[200] - least[200], most[5000] - least[5000]
            found.append((scenario, narrow, wide))
        words = "; ".join(f"{title(s)}: {n:.3f} and {w:.3f}" for s, n, w in found)
        return decided(all(0 < n < w / 3 for _, n, w in found), words)

    return Claim(
        "T-E25",
        "sets of 5,000 predicates are three times as alike as sets of 200",
        "greatest less least alpha of all sets with 5,000, and with 200 predicates: "
        "less than a third",
        decide,
        {
            "large sets differ": only(
                lambda r: r["predicates"] == 5000,
                each(lambda r: {"alpha": number(r, "seed") / 8}),
            ),
            "large sets are all the same": only(
                lambda r: r["predicates"] == 5000, constant("alpha", 0.1)
            ),
            "all sets are equal": constant("alpha", 0.7),
        },
        of=having(lambda r: r["predicates"] in {200, 5000}),
        about="sets of 200 and of 5,000 predicates",
        seeds_min=5,
    )


def above_half(scenarios: Sequence[Scenario]) -> Claim:
    """T-E26."""

    def decide(rows: Sequence[Row]) -> Answer:
        highest = [
            (most, scenario, predicates)
            for scenario in scenarios
            for predicates, most in alphas(rows, scenario, max).items()
            if predicates < 100
        ]
        if not highest:
            return undecided("needs fewer than 100 predicates")
        most, scenario, predicates = min(highest)
        words = f"{title(scenario)}: up to {most:.2f} with {predicates:.0f} predicates"
        return decided(most > 0.5, words)

    return Claim(
        "T-E26",
        "below 100 predicates no scenario saves half in all of its sets",
        "greatest alpha of all sets of a scenario and number of predicates: above 0.5",
        decide,
        {"all save more": constant("alpha", 0.4)},
        of=having(lambda r: number(r, "predicates") < 100),
        about="sets of fewer than 100 predicates",
    )


def draw_of(rows: Sequence[Row], scenarios: Sequence[Scenario]) -> Figure:
    """Each scenario with a linear axis, as printed, and a logarithmic one."""
    figure, axes = panels(len(scenarios), 2)
    for place, scenario in enumerate(scenarios):
        for log, at in (("", place), ("x", len(scenarios) + place)):
            _draw(axes[at], rows, scenario, place)
            words = title(scenario) + (": the same, x logarithmic" if log else "")
            finish(axes[at], words, "predicates", "alpha (1: no gain)", log=log)
            axes[at].set_ylim(0, 1.05)
    return figure


def _draw(axes: Axes, rows: Sequence[Row], scenario: Scenario, style: int) -> None:
    """The median of sets, most of them, and all of them."""
    band(axes, alphas(rows, scenario, min), alphas(rows, scenario, max), style)
    fifth = alphas(rows, scenario, partial(quantile, share=0.05))
    last = alphas(rows, scenario, partial(quantile, share=0.95))
    band(axes, fifth, last, style)
    line(axes, alphas(rows, scenario), "median", style)
    colour = COLOURS[style]
    for points, label in ((fifth, "5 % and 95 % of sets"), (last, None)):
        xs, ys = list(points), list(points.values())
        axes.plot(xs, ys, label=label, color=colour, linewidth=0.8, linestyle="--")
    axes.fill_between([], [], [], color=colour, alpha=0.15, label="all sets")
