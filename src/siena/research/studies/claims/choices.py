"""What the papers leave open: would figures 26 to 31 look different?

Each column is another choice: the tree that brokers are joined by, the root of the
hierarchy, what links cost, how long messages take, how many sites there are.  Each
line is a claim of the papers, checked as it is for the figures.  Right: how much more
the hierarchy costs than the acyclic network in all, and how much less for a lone
party's subscription.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from siena.research.studies.figures import fig26, fig27, fig28, fig29
from siena.research.studies.figures.architecture_figures import (
    ARCHITECTURES,
    PAPER,
    PARAMETERS,
    costs,
    every,
    with_cost_per,
)
from siena.research.studies.framework.drawing import COLOURS, finish, table_of_verdicts
from siena.research.studies.framework.rows import Row, number, where
from siena.research.studies.framework.study import (
    Finding,
    Parameter,
    Size,
    Study,
    among,
)
from siena.research.studies.runs.architectures import DEFAULTS, parameters
from siena.research.studies.runs.choices import decide

# What is decided otherwise; nothing, at first.
CHOICES: dict[str, dict[str, str | int]] = {
    "as in the figures": {},
    "shortest paths": {"tree": "shortest"},
    "root at the centre": {"root": "centre"},
    "root anywhere": {"root": "anywhere"},
    "equal link costs": {"costs": "equal"},
    "latency 1": {"latency": 1},
    "latency 100": {"latency": 100},
    "500 sites": {"sites": 500},
    "1,000 sites": {"sites": 1000},
}
OBJECTS = {"full": (1, 10, 1000), "quick": (1, 10), "test": (1, 10)}
PARTIES = {"full": (1, 10, 100, 1000), "quick": (1, 10, 100, 1000), "test": (1, 100)}
# Where every message is exchanged.
OBJECTS_MAX = 10
PARTIES_MAX = {"full": 1000, "quick": 100, "test": 100}
TINY = ("as in the figures", "latency 100")


def plan(size: Size, seeds: int) -> list[Row]:
    """All choices, one at a time."""
    return [
        {
            **parameters(name, objects, parties, seed, **_known(choice)),
            "choice": words,
            "latency": choice.get("latency", 0),
        }
        for words, choice in CHOICES.items()
        if size != "test" or words in TINY
        for objects in OBJECTS[size]
        if "latency" not in choice or objects <= OBJECTS_MAX
        for parties in PARTIES[size]
        if "latency" not in choice or parties <= PARTIES_MAX[size]
        for name in ARCHITECTURES
        # The centre is one broker: nothing in it takes time.
        if not ("latency" in choice and name == "ce")
        for seed in among(seeds)
    ]


def _known(choice: dict[str, str | int]) -> dict[str, str | int]:
    return {name: value for name, value in choice.items() if name in DEFAULTS}


# --- Claims ---------------------------------------------------------------------


def verdicts(rows: Sequence[Row]) -> dict[str, dict[str, bool | None]]:
    """For each choice, what became of the claims of figures 26 to 29."""
    found: dict[str, dict[str, bool | None]] = {}
    for choice in CHOICES:
        own = where(rows, choice=choice)
        if not own:
            continue
        # Figure 27 has no centralised service, and its claims are not about it.
        findings = fig27.check([row for row in own if row["architecture"] != "ce"])
        if where(own, architecture="ce"):
            findings += [*fig26.check(own), *fig28.check(own), *fig29.check(own)]
        column: dict[str, bool | None] = {}
        for finding in findings:
            before = column.get(finding.claim, True)
            column[finding.claim] = None if before is None else finding.holds and before
        found[choice] = column
    return found


def check(rows: Sequence[Row]) -> list[Finding]:
    """What must not depend on choices, and what does."""
    return [_order(rows), _lone_party(rows), *_others(rows)]


def _order(rows: Sequence[Row]) -> Finding:
    """With many parties and objects."""
    margins = {}
    for choice in CHOICES:
        own = where(rows, choice=choice)
        known = [number(row, "objects") for row in own]
        if not known:
            continue
        found = costs(own, int(max(known)))
        most = max(found["as"])
        margins[f"{choice}: as, hs"] = found["as"][most] / found["hs"][most]
        if "ce" in found and most >= 1000:
            margins[f"{choice}: hs, ce"] = found["hs"][most] / found["ce"][most]
    says = "most objects and parties: as costs less than hs, and hs less than ce"
    return every("order", says, margins)


def lone(rows: Sequence[Row], choice: str) -> dict[str, float]:
    """What a lone party's subscription costs, by architecture."""
    own = where(rows, choice=choice, parties=1, objects=1)
    each = with_cost_per(own, "subscription_cost", "subscriptions")
    found = costs(each, value="each")
    return {name: found[name][1] for name in ("hs", "as")}


def _lone_party(rows: Sequence[Row]) -> Finding:
    margins = {}
    for choice in CHOICES:
        if where(rows, choice=choice):
            own = lone(rows, choice)
            margins[choice] = 2 * own["hs"] / own["as"]
    says = "one party: a subscription costs twice as much in as than in hs, or more"
    return every("lone", says, margins)


def _others(rows: Sequence[Row]) -> list[Finding]:
    found = verdicts(rows)
    base = found["as in the figures"]
    findings = []
    for choice, column in found.items():
        tried = {claim for claim, holds in column.items() if holds is not None}
        same = {claim for claim in tried if column[claim] == base[claim]}
        other = ", ".join(sorted(tried - same)) or "none"
        words = f"{len(same)} of {len(tried)}; otherwise: {other}"
        says = f"{choice}: claims of figures 26 to 29 come out as in the figures"
        findings.append(Finding("choice", says, same == tried, words, is_gating=False))
    return findings


# --- Drawing --------------------------------------------------------------------


def draw(rows: Sequence[Row]) -> Figure:
    """Claims by choices, and two ratios."""
    figure = Figure(figsize=(10.4, 7.4), layout="constrained")
    grid = figure.add_gridspec(2, 2, height_ratios=(1.5, 1))
    table_of_verdicts(figure.add_subplot(grid[0, :]), verdicts(rows))
    in_all, alone = figure.add_subplot(grid[1, 0]), figure.add_subplot(grid[1, 1])
    known = [choice for choice in CHOICES if where(rows, choice=choice)]
    ratios = {}
    for choice in known:
        found = costs(where(rows, choice=choice), 10)
        ratios[choice] = found["hs"][100] / found["as"][100]
    _bars(in_all, ratios)
    finish(in_all, "10 objects, 100 parties", "total cost, hs / as", "")
    lonely = {}
    for choice in known:
        own = lone(rows, choice)
        lonely[choice] = own["as"] / own["hs"]
    _bars(alone, lonely)
    finish(alone, "A lone party", "cost of a subscription, as / hs", "")
    return figure


def _bars(axes: Axes, values: dict[str, float]) -> None:
    axes.barh(list(values), list(values.values()), color=COLOURS[0], height=0.6)
    axes.invert_yaxis()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, axis="x", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)


STUDY = Study(
    name="choices",
    title="What the papers leave open, decided otherwise",
    paper=f"{PAPER}, figures 26 to 29 and 31; ours",
    says="The paper does not say which trees join its servers, where the root is, what "
    "links cost, or how long messages take; it mentions 500 and 1,000 sites.",
    shape="Most squares say what the first column says; the bars point the same way.",
    parameters=(
        Parameter("objects", "1, 10, 1,000; with latency 1, 10", "stated; ours"),
        Parameter("parties", "1, 10, 100, 1,000", "stated"),
        Parameter("latency", "of a link, in units of the scenario", "ours"),
        Parameter("larger networks", "5 and 10 transit domains of 100 sites", "ours"),
        *PARAMETERS,
    ),
    run=decide,
    plan=plan,
    check=check,
    draw=draw,
    seeds={"full": 3, "quick": 2, "test": 1},
    remark="Larger networks are saturated later, so claims that speak of a number of "
    "parties (as F27d) come out otherwise there: the numbers are those of "
    "100 sites. With latency, production routers exchange every message.",
)
