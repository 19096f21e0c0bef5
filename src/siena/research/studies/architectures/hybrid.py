"""What general and hybrid architectures cost, beside a hierarchy and acyclic peers.

x: interested parties.  y: the cost of a subscription, of a notification, and what
brokers hold of each other's interests.  CU-CS-888-99 describes general and hybrid
architectures, and simulates neither.
"""

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    decided,
    having,
)
from siena.research.studies.framework.intervals import (
    all_below,
    cells,
    curve_of,
    ratio,
)
from siena.research.studies.framework.rows import Row, number, where
from siena.research.studies.framework.spoils import constant, one, only, times
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import (
    finish,
    from_zero,
    line,
    panels,
    two_views,
)
from siena.research.studies.runs.hybrid import PUBLICATIONS, carry

WAYS = (
    "hierarchical",
    "acyclic",
    "general",
    "hierarchies in a mesh",
    "joined meshes",
)
HYBRIDS = WAYS[3:]
MANY = 100
PARTIES = {
    "full": (1, 3, 10, 30, MANY, 300),
    "quick": (1, 10, MANY),
    "test": (1, MANY),
}
# A price that decides: chosen before the first run.
PRICE = 0.5


def plan(size: Size, seeds: int) -> list[Row]:
    """Five ways to join the same networks, with few and with many parties."""
    return [
        {"way": way, "parties": parties, "seed": seed}
        for parties in PARTIES[size]
        for way in WAYS
        for seed in among(seeds)
    ]


# --- Claims ---------------------------------------------------------------------


def _right(rows: Sequence[Row]) -> Answer:
    wrong = sum(number(row, "missing") + number(row, "twice") for row in rows)
    wanted = sum(number(row, "parties") * PUBLICATIONS for row in rows)
    words = f"{wrong:,.0f} missing or twice of {wanted:,.0f}"
    return decided(wrong == 0 < wanted, words)


class Comparison(NamedTuple):
    """Ways of which some are said to cost less than another one."""

    column: str
    parties: int
    cheap: tuple[str, ...]
    dear: str
    limit: float = 1.0
    """Of what the dear one costs."""

    def decide(self, rows: Sequence[Row]) -> Answer:
        """Whether they do, by more than chance explains."""
        own = where(rows, parties=self.parties)
        known = cells(own, ("way",), self.column)
        margins = {way: ratio(known[way,], known[self.dear,]) for way in self.cheap}
        said = ", ".join(f"{way} {margin.words()}" for way, margin in margins.items())
        answer = all_below(margins, self.limit)
        return answer._replace(found=f"{said} of {self.dear}")

    def is_about(self, row: Row) -> bool:
        """Whether a row is one of those that are compared."""
        return row["parties"] == self.parties and row["way"] in {*self.cheap, self.dear}


def _claim(name: str, says: str, compared: Comparison, why: str = "") -> Claim:
    return Claim(
        name,
        says,
        "ratio of means, with its 95 % bootstrap interval over the seeds: below "
        f"{compared.limit:g}",
        compared.decide,
        {"all cost the same": constant(compared.column, 7.0)},
        {
            "some cost next to nothing": only(
                lambda row: row["way"] in compared.cheap, times(compared.column, 1e-3)
            )
        },
        of=having(compared.is_about),
        about=f"{', '.join([*compared.cheap, compared.dear])}; parties: "
        f"{compared.parties}",
        why=why,
        is_gating=False,
        seeds_min=5,
    )


CLAIMS = (
    Claim(
        "right",
        "all parties get every notification once, however brokers are joined",
        "notifications missing or delivered twice, in every single run: none",
        _right,
        {
            "one is missing": one(constant("missing", 1)),
            "one comes twice": one(constant("twice", 1)),
        },
    ),
    _claim(
        "shortest",
        "one party: a notification costs less in a general network than in an acyclic "
        "one",
        Comparison("notification_cost", 1, ("general",), "acyclic"),
        why="Stubs hang on one link, and within them ways on the least spanning tree "
        "are hardly longer.",
    ),
    _claim(
        "price",
        f"{MANY} parties: a subscription costs less than half as much in an acyclic "
        "network as in a general one",
        Comparison("subscription_cost", MANY, ("acyclic",), "general", PRICE),
    ),
    _claim(
        "hybrid",
        f"{MANY} parties: a subscription costs less than half as much in both hybrids "
        "as in a general network",
        Comparison("subscription_cost", MANY, HYBRIDS, "general", PRICE),
    ),
    _claim(
        "hybrid",
        "one party: a notification costs less where hierarchies hang on a mesh than in "
        "one hierarchy",
        Comparison("notification_cost", 1, ("hierarchies in a mesh",), "hierarchical"),
    ),
    *(
        _claim(
            "hybrid",
            f"{parties} {'party' if parties == 1 else 'parties'}: a subscription costs "
            "less in one hierarchy than where hierarchies hang on a mesh",
            Comparison(
                "subscription_cost",
                parties,
                ("hierarchical",),
                "hierarchies in a mesh",
            ),
        )
        for parties in (1, MANY)
    ),
    _claim(
        "held",
        f"{MANY} parties: brokers hold fewer interests of each other in an acyclic "
        "network than in a general one",
        Comparison("entries", MANY, ("acyclic",), "general"),
    ),
)


# --- Drawing --------------------------------------------------------------------


def draw(rows: Sequence[Row]) -> Figure:
    """Subscriptions and notifications in both views, and what brokers hold."""
    figure, axes = panels(3, 2)
    columns = {
        "subscription_cost": "A subscription",
        "notification_cost": "A notification",
    }
    draws = [partial(_draw, rows=rows, column=column) for column in columns]
    x = "interested parties"
    titles = list(columns.values())
    two_views([*axes[:2], *axes[3:5]], draws, titles, x, "cost of links crossed")
    for each, column, title, y in (
        (axes[2], "entries", "Interests held of neighbours", "for each broker"),
        (axes[5], "subscription_messages", "A subscription", "messages"),
    ):
        _draw(each, rows, column)
        finish(each, title, x, y, log="x")
        from_zero(each)
    return figure


def _draw(axes: Axes, rows: Sequence[Row], column: str) -> None:
    for style, way in enumerate(WAYS):
        line(axes, curve_of(where(rows, way=way), "parties", column), way, style)


STUDY = Study(
    name="hybrid",
    title="What general and hybrid architectures cost",
    paper="CU-CS-888-99, section 5.1 (architectures); ours",
    says="A general network has the shortest ways and others when something fails; "
    "hybrids combine architectures, so that each part has what suits it. The paper "
    "simulates neither.",
    shape="The general network costs most for subscriptions: every broker with a party "
    "tells all others. Hierarchies in a mesh cost more than one hierarchy, up to twice "
    "as much, because each root tells all others, and less than all else; a lone "
    "party's notification costs less there, because it need not go to one root.",
    caption="Cost of links that messages cross, for each subscription and for each "
    "notification, against the number of parties, all of which want the same: a "
    "hierarchy, an acyclic and a general network, and two hybrids, hierarchies below "
    "the transit sites that are a mesh, and stubs that are meshes joined without a "
    "cycle; y linear above and logarithmic below. Right: interests that brokers hold "
    "of their neighbours, and messages for a subscription.",
    parameters=(
        Parameter("network", "transit-stub, 100 sites", "as figures 26 to 33"),
        Parameter("trees", "least spanning trees; root at a transit site", "ours"),
        Parameter("parties", "anywhere, one after the other", "as the paper"),
        Parameter("notifications", f"{PUBLICATIONS}, from anywhere", "ours"),
        Parameter("link states", "told before, not counted", "ours"),
    ),
    run=carry,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 20, "quick": 5, "test": 2},
    remark="In a general network an interest is told once for each broker that has it, "
    "because each is the root of a tree of its own: what covering saves elsewhere, it "
    "can save here only where the trees agree (our specification, B.6).",
)
