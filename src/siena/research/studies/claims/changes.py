"""What do changes and faults cost, with covering and without?

x: subscriptions, in a tree of 32 brokers.  Left: messages between brokers when a client
wants something else.  Right: messages when a link breaks and comes back: what was told
over it is taken back everywhere, and told again.
The runs are those of :mod:`siena.research.studies.claims.merging`.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.claims.merging import WORKLOADS, of_way, plan as plan_all
from siena.research.studies.framework.drawing import finish, line, panels
from siena.research.studies.framework.rows import Row, curve, number, where
from siena.research.studies.framework.study import Finding, Parameter, Size, Study
from siena.research.studies.runs.interests import BROKERS, live

COVERING = ("no covering", "pairwise covering", "exact covering")


def plan(size: Size, seeds: int) -> list[Row]:
    """The runs without merging."""
    return [row for row in plan_all(size, seeds) if row["merging"] == "none"]


def check(rows: Sequence[Row]) -> list[Finding]:
    """Everything is restored; and what it costs."""
    wrong = [row for row in rows if not row["is_right"]]
    plain = of_way(rows, "no covering", workload="W")
    away = max(
        abs(number(row, "messages_per_change") - 2 * (BROKERS - 1)) for row in plain
    )
    return [
        Finding(
            "right",
            "after all changes and faults, everybody gets what it wants, once",
            not wrong,
            f"{len(rows) - len(wrong)} of {len(rows)} networks",
        ),
        Finding(
            "O(N)",
            "without covering, a change goes over every link, twice",
            away < 1e-9,
            f"{away:.2g} messages away from {2 * (BROKERS - 1)}",
        ),
        *(_saved(rows, workload) for workload in WORKLOADS),
    ]


def _saved(rows: Sequence[Row], workload: str) -> Finding:
    own = where(rows, workload=workload)
    says = f"{WORKLOADS[workload]}: covering saves messages, for changes and for faults"
    if not own:
        return Finding("saved", says, None, "not among the rows", is_gating=False)
    shares = {}
    for name in ("change", "fault"):
        with_it, without = (
            sum(number(row, f"messages_per_{name}") for row in of_way(own, way))
            for way in ("exact covering", "no covering")
        )
        shares[name] = 1 - with_it / without
    words = ", ".join(f"{share:.1%} for a {name}" for name, share in shares.items())
    is_so = all(share > 0 for share in shares.values())
    return Finding("saved", says, is_so, words, is_gating=False)


def draw(rows: Sequence[Row]) -> Figure:
    """Changes and faults, for each workload."""
    known = [name for name in WORKLOADS if where(rows, workload=name)]
    figure, axes = panels(2, len(known))
    for place, workload in enumerate(known):
        for offset, name in enumerate(("change", "fault")):
            each = axes[2 * place + offset]
            for style, way in enumerate(COVERING):
                own = of_way(rows, way, workload=workload)
                points = curve(own, "subscriptions", f"messages_per_{name}")
                line(each, points, way, style)
            event = {"change": "Another interest", "fault": "A broken link"}[name]
            title = f"{event}: {WORKLOADS[workload]}"
            finish(each, title, "subscriptions", "messages between brokers", log="x")
            each.set_ylim(bottom=0)
    return figure


STUDY = Study(
    name="changes",
    title="What changes and faults cost",
    paper="ours",
    says="Covering keeps interests from travelling; but when a covering one goes, "
    "those it covered must be told. The papers do not say what that comes to, nor what "
    "it costs when a link is lost.",
    shape="Covering at or below none; a fault costs more with more subscriptions.",
    parameters=(
        Parameter("network", "a random tree of 32 brokers", "ours"),
        Parameter("changes", "40 clients, one after the other", "ours"),
        Parameter("faults", "10 links break and come back, one by one", "ours"),
        Parameter("interests", "W-TR0605 of 10 names; flights of New York", "ours"),
    ),
    run=live,
    plan=plan,
    check=check,
    draw=draw,
    seeds={"full": 2, "quick": 1, "test": 1},
)
