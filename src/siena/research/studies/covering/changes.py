"""What do changes and faults cost, with covering and without?

x: subscriptions, in a tree of 32 brokers.  Left: messages between brokers when a client
wants something else.  Right: messages when a link breaks and comes back: what was told
over it is taken back everywhere, and told again.
The runs are those of :mod:`siena.research.studies.covering.merging`.
"""

from collections.abc import Sequence
from functools import partial

from matplotlib.figure import Figure

from siena.research.studies.covering.merging import (
    CHANGES,
    CHANGES_PAIRWISE,
    NOT_ALL,
    PUBLICATIONS,
    SUBSCRIPTIONS,
    WORKLOADS,
    in_all,
    of_way,
    plan as plan_all,
)
from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    Decide,
    Select,
    Spoil,
    decided,
)
from siena.research.studies.framework.intervals import (
    all_right,
    between,
    curve_of,
    of_means,
)
from siena.research.studies.framework.rows import Row, distinct, integer, number, where
from siena.research.studies.framework.spoils import constant, one, only, times
from siena.research.studies.framework.study import Parameter, Size, Study, listed
from siena.research.studies.reporting.drawing import (
    finish,
    from_zero,
    line,
    panels,
    ticks_at,
)
from siena.research.studies.runs.interests import BROKERS, FAULTS, live

# Less than this would not pay for comparing filters.
LEAST = 0.02
COVERING = ("no covering", "exact covering")


# That every client gets what it wants is asked of the pairwise rule as well, which
# decides nothing else: so many seeds are enough for it.
PAIRWISE_SEEDS = 5


def plan(size: Size, seeds: int) -> list[Row]:
    """The runs without merging."""
    return [
        row
        for row in plan_all(size, seeds)
        if row["merging"] == "none"
        if row["covering"] != "pairwise" or integer(row, "seed") <= PAIRWISE_SEEDS
    ]


# --- Claims ---------------------------------------------------------------------


def _every_link(rows: Sequence[Row]) -> Answer:
    links = BROKERS - 1
    wrong, shared = 0, 0
    for row in rows:
        missing = 2 * links - number(row, "messages_per_change")
        # An interest that another client has stops where that one is told: on the way
        # it may meet it at the first broker or at the last.
        may_miss = links * integer(row, "shared_in_changes") / integer(row, "changes")
        wrong += not -1e-9 < missing < may_miss + 1e-9
        shared += integer(row, "shared_in_changes")
    changes = sum(integer(row, "changes") for row in rows)
    return decided(
        not wrong,
        f"{len(rows) - wrong} of {len(rows)} runs: {2 * links} messages for a change, "
        f"and fewer only for {shared} of {2 * changes:,} interests given up or taken, "
        "which another client has as well",
    )


def _saved(event: str) -> Decide:
    """How much less is sent with covering, all numbers of subscriptions together."""

    def decide(rows: Sequence[Row]) -> Answer:
        with_it, without = (
            in_all(of_way(rows, way), f"messages_per_{event}")
            for way in ("exact covering", "no covering")
        )
        share = of_means(lambda a, b: 1 - a / b, with_it, without)
        words = f"{share.words('.1%')} fewer messages for a {event}"
        return between(share, LEAST, NOT_ALL, words)

    return decide


def _workload(workload: str) -> Select:
    return lambda rows: where(rows, workload=workload)


def _alike(event: str) -> Spoil:
    return constant(f"messages_per_{event}", 62.0)


CLAIMS = (
    Claim(
        "right",
        "after all changes and faults, every client gets what it wants, once",
        "what clients got against a flat list of filters, in every single run",
        partial(all_right, column="is_right", what="networks"),
        {"one is wrong": one(constant("is_right", False))},
    ),
    Claim(
        "O(N)",
        "without covering, a change goes over every link, twice, but for what "
        "another client wants as well",
        "messages for a change, in every single run: twice the links, and exactly so "
        "where no interest given up or taken is another client's, too",
        _every_link,
        {
            "half of them": times("messages_per_change", 0.5),
            "a little less": times("messages_per_change", 0.9),
            "more": times("messages_per_change", 1.01),
        },
        of=lambda rows: of_way(rows, "no covering", workload="W"),
        about="W, no covering",
    ),
    *(
        Claim(
            "saved",
            f"{WORKLOADS[workload]}: covering saves {LEAST:.0%} of the messages for a "
            f"{event}, or more",
            "share of messages saved, all sizes together, with its 95 % interval over "
            f"the seeds: above {LEAST:.0%}",
            _saved(event),
            {
                "both send as much": _alike(event),
                "covering sends nothing": only(
                    lambda r: r["covering"] == "exact",
                    constant(f"messages_per_{event}", 0),
                ),
            },
            {
                "half is saved": only(
                    lambda r: r["covering"] == "exact",
                    times(f"messages_per_{event}", 0.4),
                )
            },
            of=_workload(workload),
            about=f"{workload}, exact covering against none",
            why="These interests are narrow, and few of them cover another.",
            is_gating=False,
            seeds_min=3,
        )
        for workload in WORKLOADS
        for event in ("change", "fault")
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """Changes and faults, for each workload."""
    known = [name for name in WORKLOADS if where(rows, workload=name)]
    figure, axes = panels(2, len(known))
    for place, workload in enumerate(known):
        for offset, name in enumerate(("change", "fault")):
            each = axes[2 * place + offset]
            for style, way in enumerate(COVERING):
                own = of_way(rows, way, workload=workload)
                points = curve_of(own, "subscriptions", f"messages_per_{name}")
                line(each, points, way, style)
            event = {"change": "Another interest", "fault": "A broken link"}[name]
            title = f"{event}: {WORKLOADS[workload]}"
            finish(each, title, "subscriptions", "messages between brokers", log="x")
            ticks_at(each, distinct(rows, "subscriptions"))
            from_zero(each)
    return figure


STUDY = Study(
    name="changes",
    title="What changes and faults cost",
    paper="ours",
    says="Covering keeps interests from travelling; but when a covering one goes, "
    "those it covered must be told. The papers do not say what that comes to, nor what "
    "it costs when a link is lost.",
    shape="Covering at or below none; a fault costs more with more subscriptions.",
    caption="Messages between the 32 brokers of a tree when a client wants something "
    "else (left), and when a link breaks and comes back (right), against the number of "
    "subscriptions; without covering, and with the exact rule.",
    parameters=(
        Parameter("network", "a random tree of 32 brokers", "ours"),
        Parameter(
            "changes",
            f"{CHANGES['full']} clients, one after the other; with the pairwise rule "
            f"{CHANGES_PAIRWISE}, of {PAIRWISE_SEEDS} seeds",
            "ours",
        ),
        Parameter("faults", f"{FAULTS} links break and come back, one by one", "ours"),
        Parameter("subscriptions", listed(SUBSCRIPTIONS["full"]), "ours"),
        Parameter("W", "W-TR0605 with 10 names; joined: each with the next", "ours"),
        Parameter("flights", "14 kinds of travellers; flights of January", "ours"),
        Parameter(
            "publications",
            f"{PUBLICATIONS['full']} before and after, at random brokers",
            "ours",
        ),
    ),
    run=live,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 10, "quick": 3, "test": 1},
    remark="Runs with the pairwise rule are among the rows and not in the figure: they "
    "have fewer changes, after which other links break, so that they cannot be laid "
    "beside the others. What brokers are told by either rule is compared, in the same "
    "networks, in the study merging.",
)
