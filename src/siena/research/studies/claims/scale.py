"""How far does it scale?  From simulated networks to a million sites.

x: sites.  y: links that a message crosses: a lone party's subscription, and a
notification for ten parties.  Points are simulated; lines are models fitted to them,
with the band in which a network of that size should be found, 95 times of 100.

*The models.*  A lone subscription in an acyclic network crosses every link, so it is
linear, and nothing is fitted.  The rest is fitted twice, as a power of the sites and as
a line in their logarithm; the one that leaves less unexplained is kept.  The model is
tried before it is used: fitted without the largest networks, it must find them within
its band.
"""

from collections.abc import Callable, Sequence
from math import exp, log, sqrt
from statistics import fmean
from typing import NamedTuple

from matplotlib.figure import Figure

from siena.research.studies.framework.claim import Answer, Claim, Select, decided
from siena.research.studies.framework.drawing import COLOURS, band, finish, line, panels
from siena.research.studies.framework.rows import Row, curve, number, where
from siena.research.studies.framework.spoils import constant, each, one, only
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.runs.scale import ROUTERS_MAX, measure

SITES = {
    "full": (100, 200, 400, 800, 1600, 3200, 6400, 12_800, 25_600),
    "quick": (100, 200, 400, 800, 1600, 3200),
    "test": (100, 200, 400),
}
TREES = ("least", "shortest")
PARTIES = 10
INTERNET = 1_000_000
QUANTITIES = {
    "hierarchical_subscription": "hs: a lone subscription",
    "hierarchical_notification": "hs: a notification for 10 parties",
    "acyclic_notification": "as: a notification for 10 parties",
}
# Of a normal distribution: 95 of 100 are within so many deviations.
WIDE = 1.96


def plan(size: Size, seeds: int) -> list[Row]:
    """Networks of all sizes, with two kinds of trees."""
    return [
        {"sites": sites, "tree": tree, "parties": PARTIES, "seed": seed}
        for sites in SITES[size]
        for tree in TREES
        for seed in among(seeds)
    ]


# --- The models -----------------------------------------------------------------


class Model(NamedTuple):
    """``a + b log x`` for y, or for its logarithm; with how far points are away."""

    is_power: bool
    a: float
    b: float
    deviation: float
    """Of points from the line."""
    at: float
    """The mean of all log x."""
    spread: float
    """The sum of squares around that mean."""
    points: int

    def value(self, x: float, deviations: float = 0.0) -> float:
        """What it says for x, or so many deviations beside it."""
        away = log(x) - self.at
        # Of a new point: its own, that of the mean, and that of the slope.
        error = self.deviation * sqrt(1 + 1 / self.points + away**2 / self.spread)
        found = self.a + self.b * log(x) + deviations * error
        return exp(found) if self.is_power else found

    def words(self) -> str:
        """As a formula."""
        if self.is_power:
            return f"{exp(self.a):.2g} N^{self.b:.2f}"
        return f"{self.a:.2g} + {self.b:.2g} ln N"


def fit(points: Sequence[tuple[float, float]]) -> Model:
    """The model that leaves less unexplained.

    >>> fit([(x, 3 + 2 * log(x)) for x in (10, 100, 1000)]).words()
    '3 + 2 ln N'
    >>> fit([(x, 3 * x**0.5) for x in (10, 100, 1000)]).words()
    '3 N^0.50'
    """
    models = [_fit(points, is_power=is_power) for is_power in (False, True)]
    return min(models, key=lambda model: _unexplained(model, points))


def _fit(points: Sequence[tuple[float, float]], *, is_power: bool) -> Model:
    xs = [log(x) for x, _ in points]
    ys = [log(y) if is_power else y for _, y in points]
    x, y = fmean(xs), fmean(ys)
    spread = sum((each - x) ** 2 for each in xs)
    b = sum((u - x) * (v - y) for u, v in zip(xs, ys, strict=True)) / spread
    a = y - b * x
    rest = sum((v - a - b * u) ** 2 for u, v in zip(xs, ys, strict=True))
    deviation = sqrt(rest / max(1, len(points) - 2))
    return Model(is_power, a, b, deviation, x, spread, len(points))


def _unexplained(model: Model, points: Sequence[tuple[float, float]]) -> float:
    return sum((y - model.value(x)) ** 2 for x, y in points)


def points_of(rows: Sequence[Row], name: str) -> list[tuple[float, float]]:
    """What was simulated, run by run."""
    return [(number(row, "sites"), number(row, name)) for row in rows]


# --- Claims ---------------------------------------------------------------------


def _routers(rows: Sequence[Row]) -> Answer:
    wrong = sum(row["agrees"] is not True for row in rows)
    return decided(not wrong, f"{len(rows) - wrong} of {len(rows)} networks")


def _predicted(rows: Sequence[Row]) -> Answer:
    largest = max(number(row, "sites") for row in rows)
    known = [row for row in rows if number(row, "sites") < largest]
    inside = 0
    for name in QUANTITIES:
        model = fit(points_of(known, name))
        low, high = (model.value(largest, d) for d in (-WIDE, WIDE))
        mean = fmean(number(row, name) for row in where(rows, sites=int(largest)))
        inside += low <= mean <= high
    words = f"{inside} of {len(QUANTITIES)} within the band, at {largest:,.0f} sites"
    return decided(inside == len(QUANTITIES), words)


def _tree(tree: str) -> Select:
    return lambda rows: where(rows, tree=tree)


def _power(row: Row) -> Row:
    noise = 1 + 0.1 * (number(row, "seed") % 2)
    return {name: noise * number(row, "sites") ** 0.5 for name in QUANTITIES}


CLAIMS = (
    Claim(
        "agree",
        "production routers send what is counted on the trees",
        "messages of two notifications, in every single network: equal",
        _routers,
        {"one does not": one(constant("agrees", False))},
        of=lambda rows: [r for r in rows if number(r, "sites") <= ROUTERS_MAX],
        about=f"networks of up to {ROUTERS_MAX} sites, which routers were asked about",
    ),
    *(
        Claim(
            "predict",
            f"{tree} trees: fitted without them, the models predict the largest "
            f"networks",
            "mean of the largest networks within the band in which 95 of 100 networks "
            "should be, for each of three quantities",
            _predicted,
            {
                "the largest are far off": only(
                    lambda r: number(r, "sites") in {400, 25_600},
                    each(lambda _: dict.fromkeys(QUANTITIES, 1e6)),
                )
            },
            {"all are a power": each(_power)},
            of=_tree(tree),
            about=f"{tree} trees",
            why="The models are too simple: nothing can be said about larger networks.",
            is_gating=False,
        )
        for tree in TREES
    ),
)


# --- Drawing --------------------------------------------------------------------


def draw(rows: Sequence[Row]) -> Figure:
    """One drawing for each kind of tree."""
    figure, axes = panels(2)
    for drawing, tree in zip(axes, TREES, strict=True):
        own = where(rows, tree=tree)
        xs = _ladder(min(number(row, "sites") for row in own))
        everywhere: dict[float, float] = {x: x - 1 for x in xs}
        drawing.plot(
            xs,
            list(everywhere.values()),
            color=COLOURS[3],
            linewidth=1,
            label="as: a lone subscription (all links)",
        )
        for style, (name, title) in enumerate(QUANTITIES.items()):
            model = fit(points_of(own, name))
            _model(drawing.plot, xs, model, COLOURS[style])
            low = {x: max(1.0, model.value(x, -WIDE)) for x in xs}
            band(drawing, low, {x: model.value(x, WIDE) for x in xs}, style)
            line(drawing, curve(own, "sites", name), title, style)
            drawing.lines[-1].set_linestyle("none")
        title = {"least": "Least spanning tree", "shortest": "Shortest paths"}[tree]
        finish(drawing, title, "sites", "links crossed", log="xy")
        drawing.axvline(INTERNET, color="#999999", linewidth=0.8, linestyle=":")
    return figure


def _model(
    plot: Callable[..., object], xs: Sequence[float], model: Model, colour: str
) -> None:
    plot(xs, [model.value(x) for x in xs], color=colour, linestyle="--", linewidth=1)


def _ladder(first: float) -> list[float]:
    steps = 40
    factor = (2 * INTERNET / first) ** (1 / steps)
    return [first * factor**i for i in range(steps + 1)]


STUDY = Study(
    name="scale",
    title="To a million sites",
    paper="ours; CU-CS-888-99 asks for internet scale and simulates 100 sites",
    says="A service for the internet must scale to it. The paper argues with O(N) and "
    "O(log N), from simulations of 100 sites.",
    shape="Points on dashed lines; the band grows to the right of the last point.",
    caption="Links that a message crosses against the number of sites: a lone party's "
    "subscription, and a notification for ten parties, in a hierarchy (hs) and an "
    "acyclic network (as). Both axes are logarithmic.",
    parameters=(
        Parameter("networks", "transit-stub, domains of 100 sites", "as figures 26-33"),
        Parameter("sites", "100 to 25,600 simulated; 1,000,000 extrapolated", "ours"),
        Parameter("parties", "10 at random sites, 50 draws in each network", "ours"),
        Parameter("model", "power or logarithm, whichever fits better", "ours"),
        Parameter("band", "95 % of new networks, if errors are normal", "ours"),
    ),
    run=measure,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 10, "quick": 3, "test": 2},
    remark="An extrapolation by a factor of 40 says what follows if nothing changes on "
    "the way: domains of the same size and kind, joined each to each. On the least "
    "spanning tree paths grow as a power of the domains, on shortest paths hardly: "
    "a hierarchy should be built on the latter.",
)
