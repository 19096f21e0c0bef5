"""Content-based routing beside the ways of today: what does which workload cost?

x: what subscribers want.  y: links that a notification crosses, what brokers are told,
and what clients throw away; a mark for each way.  Counted, for all ways on the same
trees with the same publications; production routers carry the smaller ones and must
come to the same counts.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from siena.research.schemes.ways import WAYS
from siena.research.studies.covering.ways_claims import CLAIMS, by_seed
from siena.research.studies.framework.intervals import ratio
from siena.research.studies.framework.rows import (
    Row,
    distinct,
    number,
    where,
)
from siena.research.studies.framework.study import Parameter, Size, Study, among, listed
from siena.research.studies.reporting.drawing import (
    COLOURS,
    MARKS,
    Plain,
    finish,
    panels,
)
from siena.research.studies.runs.ways import WORKLOADS, compare

SUBSCRIBERS = {"full": (200, 2000), "quick": (200, 1000), "test": (60,)}
BROKERS = {"full": 100, "quick": 50, "test": 12}
PUBLICATIONS = {"full": 200, "quick": 100, "test": 40}
TITLES = {
    "content": "content, with covering",
    "flat": "content, without covering",
    "subject": "subjects with wildcards (as NATS)",
    "keys": "key expressions (as Zenoh)",
    "consumer": "topics, filtered by consumers (as Kafka)",
    "flooding": "flooding",
}


def plan(size: Size, seeds: int) -> list[Row]:
    """Every workload, with few and with many subscribers."""
    return [
        {
            "workload": workload,
            "brokers": BROKERS[size],
            "subscribers": subscribers,
            "publications": PUBLICATIONS[size],
            "seed": seed,
        }
        for subscribers in SUBSCRIBERS[size]
        for workload in WORKLOADS
        for seed in among(seeds)
    ]


# --- Drawing --------------------------------------------------------------------


def draw(rows: Sequence[Row]) -> Figure:
    """Links, bytes, entries and waste, for few subscribers and for many; and ratios."""
    sizes = [int(size) for size in distinct(rows, "subscribers")]
    columns = max(len(sizes), len(RATIOS))
    figure, axes = panels(columns, len(MEASURES) + 1)
    for row, (name, per, words) in enumerate(MEASURES):
        of_sizes = axes[row * columns :][: len(sizes)]
        for axis in axes[row * columns :][len(sizes) : columns]:
            axis.set_visible(False)
        for axis, size in zip(of_sizes, sizes, strict=True):
            own = where(rows, subscribers=size)
            for style, way in enumerate(WAYS):
                _marks(axis, own, f"{way}_{name}", per, style)
            finish(axis, f"{size:,} subscribers: {words}", "", words)
            axis.set_yscale("symlog", linthresh=_linear(name))
            axis.yaxis.set_major_formatter(FuncFormatter(lambda y, _: Plain.words(y)))
            _label(axis)
        # The same axis, so that few and many are compared at a glance.
        top = max(axis.get_ylim()[1] for axis in of_sizes)
        for axis in of_sizes:
            # No mark on an edge: those at 0 are whole, a little above the axis.
            axis.set_ylim(-0.15 * _linear(name), 3 * top)
    for axis, (name, way, other, title, words) in zip(
        axes[-columns:], RATIOS, strict=False
    ):
        for place, size in enumerate(sizes):
            own = where(rows, subscribers=size)
            at = (place - (len(sizes) - 1) / 2) * BAR
            _bars(axis, own, (f"{way}_{name}", f"{other}_{name}"), at, place)
        axis.axhline(1, color="#000000", linewidth=0.8)
        axis.set_ylim(0, 1.15)
        finish(axis, title, "", f"{name} {words}")
        _label(axis)
    return figure


MEASURES = (
    ("links", "publications", "links crossed by a notification"),
    ("octets", "publications", "bytes on links for a notification"),
    ("entries", "brokers", "entries told to a broker"),
    ("wasted", "deliveries", "thrown away for each delivery"),
)
# What is compared for architects: of which way, with which.
RATIOS = (
    ("entries", "content", "flat", "Does covering pay?", "with covering / without"),
    ("links", "content", "subject", "Does content pay?", "of content / of subjects"),
)
# How wide a bar is, of the place that a workload has.
BAR = 0.38


def _linear(measure: str) -> float:
    """Up to where an axis is linear; above it is logarithmic."""
    return 0.01 if measure == "wasted" else 1


def _bars(
    axes: Axes, rows: Sequence[Row], names: tuple[str, str], at: float, style: int
) -> None:
    """What one way takes of what another does, for each workload; 1 saves nothing."""
    for place, workload in enumerate(WORKLOADS):
        own = where(rows, workload=workload)
        if not own:
            continue
        part = ratio(*(by_seed(own, name) for name in names))
        ends = [[part.value - part.low], [part.high - part.value]]
        subscribers = f"{number(own[0], 'subscribers'):,.0f} subscribers"
        axes.bar(
            [place + at],
            [part.value],
            BAR,
            yerr=ends,
            color=COLOURS[style],
            label=subscribers if place == 0 else None,
        )
        words = f"{part.value:.2f}"
        axes.text(place + at, part.high, words, ha="center", va="bottom", fontsize=7)


def _label(axes: Axes) -> None:
    """Workloads below the axis, the longer ones on two lines."""
    words = [name.replace(" and ", "\nand ") for name in WORKLOADS]
    axes.set_xticks(range(len(WORKLOADS)), words, fontsize=7)


def _marks(axes: Axes, rows: Sequence[Row], name: str, per: str, style: int) -> None:
    for place, workload in enumerate(WORKLOADS):
        own = where(rows, workload=workload)
        if not any(number(row, per) for row in own):
            continue
        mean = ratio(by_seed(own, name), by_seed(own, per))
        at = place + (style - len(WAYS) / 2) * 0.08
        axes.errorbar(
            [at],
            [mean.value],
            yerr=[[mean.value - mean.low], [mean.high - mean.value]],
            label=TITLES[WAYS[style]] if place == 0 else None,
            marker=MARKS[style],
            color=COLOURS[style],
            markerfacecolor="none",
            markersize=6,
            linewidth=1,
            linestyle="",
        )


STUDY = Study(
    name="ways",
    title="Content-based routing beside the ways of today",
    paper="ours",
    says="No paper compares them so: subjects as in NATS, key expressions as in Zenoh, "
    "topics that consumers filter as with Kafka, and flooding, on the same trees.",
    shape="Content is lowest in links and bytes; where one attribute says it all, "
    "subjects are as low in links; key expressions lie between.",
    caption="Links that a notification crosses, bytes on them of it and of the "
    "subject, key or topic that is written beside it, entries that neighbours tell a "
    "broker, and notifications that clients throw away for each delivery, by what "
    "subscribers want (below the axis) and by the way in which notifications are "
    "brought; left for few subscribers and right for many; y linear near 0 and "
    "logarithmic above. Last, for architects: what covering leaves of the entries, and "
    "content of the links that subjects take, where 1 means that nothing is saved.",
    parameters=(
        Parameter(
            "network",
            f"spanning tree of a Barabási-Albert network, {BROKERS['full']} brokers",
            "ours",
        ),
        Parameter(
            "subscribers", f"{listed(SUBSCRIBERS['full'])}, at random brokers", "ours"
        ),
        Parameter("publications", f"{PUBLICATIONS['full']}, at random brokers", "ours"),
        Parameter("symbols", "500, Zipf; 60 classes on three levels", "ours"),
        Parameter("bands", "up to a quarter of all prices", "ours"),
        Parameter("subject", "class (3 tokens), exchange, symbol", "ours"),
        Parameter("key expression", "the same, currency, kind", "ours"),
        Parameter("log", "at one broker; a topic for each first level", "ours"),
        Parameter("bytes", "of the block, and of its subject, key or topic", "ours"),
        Parameter("not counted", "heads of messages, and messages of routing", "ours"),
    ),
    run=compare,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 5, "quick": 5, "test": 2},
    remark="That content crosses the fewest links and carries the fewest bytes, and "
    "that key expressions lie between, follows from what the ways are: content goes "
    "where something wants it and nowhere else, a key expression or a subject stands "
    "for all that its filter selects, and either is written beside the notification. "
    "Those claims check the counts; what was not known before is how much, and with "
    "which interests.",
    bands="Marks are means over the seeds, with their 95 % bootstrap intervals.",
)
