"""Content-based routing beside the ways of today: what does which workload cost?

x: what subscribers want.  y: links that a notification crosses, what brokers are told,
and what clients throw away; a mark for each way.  Counted, for all ways on the same
trees with the same publications; production routers carry the smaller ones and must
come to the same counts.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from siena.research.schemes.ways import WAYS
from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    Decide,
    Select,
    decided,
    having,
    weakest,
)
from siena.research.studies.framework.intervals import Samples, between, ratio
from siena.research.studies.framework.rows import Row, integer, number, text, where
from siena.research.studies.framework.spoils import constant, copied, one, times
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import COLOURS, MARKS, finish, panels
from siena.research.studies.runs.ways import WORKLOADS, compare

SUBSCRIBERS = {"full": (200, 2000), "quick": (200, 1000), "test": (60,)}
BROKERS = {"full": 100, "quick": 50, "test": 12}
PUBLICATIONS = {"full": 200, "quick": 100, "test": 40}
# As many, much less, hardly less: thresholds that were chosen before the first run.
AS_MANY, MUCH_LESS, HARDLY_LESS = 1.05, 0.5, 0.9
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


# --- Claims ---------------------------------------------------------------------


def _same(rows: Sequence[Row]) -> Answer:
    same = sum(
        row["router_links"] == row["content_links"]
        and row["router_entries"] == row["content_entries"]
        for row in rows
    )
    return decided(same == len(rows), f"{same} of {len(rows)} runs")


def _ratio(above: str, below: str, low: float, high: float) -> Decide:
    """Whether a column is so many times another one, in every case."""

    def decide(rows: Sequence[Row]) -> Answer:
        answers = []
        for workload, subscribers in _cases(rows):
            own = where(rows, workload=workload, subscribers=subscribers)
            part = ratio(_by_seed(own, above), _by_seed(own, below))
            words = f"{workload}, {subscribers:,.0f} subscribers: {part.value:.2f}"
            answers.append(between(part, low, high, words))
        words = "; ".join(answer.found for answer in answers)
        return weakest(*answers)._replace(found=words)

    return decide


def _cases(rows: Sequence[Row]) -> list[tuple[str, float]]:
    return list(
        dict.fromkeys(
            (text(row, "workload"), number(row, "subscribers")) for row in rows
        )
    )


def _by_seed(rows: Sequence[Row], name: str) -> Samples:
    return {integer(row, "seed"): number(row, name) for row in rows}


def _about(*workloads: str) -> Select:
    return having(lambda row: row["workload"] in workloads)


# How columns are compared.
_RATIO = "ratio of means with its 95 % interval"
CLAIMS = (
    Claim(
        "routers",
        "production routers cross the links that are counted, and are told as much",
        "links and entries: equal in every run with up to 200 subscribers",
        _same,
        {
            "one link more": one(times("router_links", 1.01)),
            "one entry more": one(times("router_entries", 1.01)),
        },
        of=having(lambda row: row["router_links"] is not None),
        about="up to 200 subscribers",
    ),
    Claim(
        "topics",
        "where one attribute says it all, subjects cross as many links as content",
        f"links of subjects over links of content, {_RATIO}: at most {AS_MANY}",
        _ratio("subject_links", "content_links", 0, AS_MANY),
        {"twice as many": times("subject_links", 2)},
        of=_about("symbol"),
        about="one symbol each",
        is_gating=False,
    ),
    Claim(
        "ranges",
        "with bands of prices, subjects cross more links than content",
        f"links of subjects over links of content, {_RATIO}: at least {AS_MANY}",
        _ratio("subject_links", "content_links", AS_MANY, float("inf")),
        {"a hundredth": times("subject_links", 0.01)},
        of=_about("symbol and band", "band"),
        about="bands, with a symbol and without",
        is_gating=False,
    ),
    Claim(
        "nested",
        "where interests contain each other, brokers are told much less by covering",
        f"entries with covering over entries without, {_RATIO}: at most {MUCH_LESS}",
        _ratio("content_entries", "flat_entries", 0, MUCH_LESS),
        {"no saving": times("content_entries", 100)},
        of=_about("band", "class"),
        about="bands, and classes",
        is_gating=False,
    ),
    Claim(
        "separate",
        "where an equality separates interests, covering hardly saves anything",
        f"entries with covering over entries without, {_RATIO}: at least {HARDLY_LESS}",
        _ratio("content_entries", "flat_entries", HARDLY_LESS, 1.0),
        {"a tenth": times("content_entries", 0.1)},
        {"as many": copied("content_entries", "flat_entries")},
        of=_about("symbol", "symbol and band"),
        about="one symbol, with a band and without",
        why="With many subscribers to a popular symbol, wide bands cover narrow ones.",
        is_gating=False,
    ),
    Claim(
        "consumers",
        "consumers that filter throw away more than they keep",
        f"thrown away over delivered, {_RATIO}: at least 1",
        _ratio("consumer_wasted", "deliveries", 1.0, float("inf")),
        {"nothing": constant("consumer_wasted", 0)},
        about="all workloads",
        is_gating=False,
    ),
)

# --- Drawing --------------------------------------------------------------------


def draw(rows: Sequence[Row]) -> Figure:
    """For the most subscribers: links, entries and waste, by workload and way."""
    most = max(number(row, "subscribers") for row in rows)
    own = where(rows, subscribers=most)
    figure, axes = panels(3, 2)
    measures = (
        ("links", "publications", "links crossed by a notification"),
        ("octets", "publications", "bytes on links for a notification"),
        ("entries", "brokers", "entries told to a broker"),
        ("wasted", "deliveries", "thrown away for each delivery"),
    )
    for axis, (name, per, words) in zip(axes, measures, strict=False):
        for style, way in enumerate(WAYS):
            _marks(axis, own, f"{way}_{name}", per, style)
        finish(axis, f"{most:,.0f} subscribers: {words}", "", words)
        axis.set_yscale("symlog", linthresh=1 if name != "wasted" else 0.01)
        top = axis.get_ylim()[1]
        # No mark on an edge: those at 0 are whole, a little above the axis.
        axis.set_ylim(-0.15 * (1 if name != "wasted" else 0.01), 3 * top)
        _label(axis)
    _bars(axes[4], own, "entries", "content", "flat")
    finish(axes[4], "Does covering pay?", "", "entries with covering / without")
    _bars(axes[5], own, "links", "content", "subject")
    finish(axes[5], "Does content pay?", "", "links by content / by subjects")
    return figure


def _bars(
    axes: Axes, rows: Sequence[Row], measure: str, one_way: str, other: str
) -> None:
    """What one way takes of what another does, for each workload; 1 saves nothing."""
    for place, workload in enumerate(WORKLOADS):
        own = where(rows, workload=workload)
        names = (f"{one_way}_{measure}", f"{other}_{measure}")
        part = ratio(*(_by_seed(own, name) for name in names))
        ends = [[part.value - part.low], [part.high - part.value]]
        axes.bar([place], [part.value], 0.6, yerr=ends, color=COLOURS[0])
        axes.text(place, part.high, f"{part.value:.2f}", ha="center", va="bottom")
    axes.axhline(1, color="#000000", linewidth=0.8)
    axes.set_ylim(0, 1.1)
    _label(axes)


def _label(axes: Axes) -> None:
    """Workloads below the axis, the longer ones on two lines."""
    words = [name.replace(" and ", "\nand ") for name in WORKLOADS]
    axes.set_xticks(range(len(WORKLOADS)), words, fontsize=7)


def _marks(axes: Axes, rows: Sequence[Row], name: str, per: str, style: int) -> None:
    for place, workload in enumerate(WORKLOADS):
        own = where(rows, workload=workload)
        if not any(number(row, per) for row in own):
            continue
        mean = ratio(_by_seed(own, name), _by_seed(own, per))
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
    shape="Content is lowest in links; where one attribute says it all, subjects are "
    "as low; key expressions lie between.",
    caption="Links that a notification crosses, bytes of it on them, entries that "
    "neighbours tell a broker, and notifications that clients throw away for each "
    "delivery, by what subscribers want (below the axis) and by the way in which "
    "notifications are brought; y linear near 0 and logarithmic above. Last, for "
    "architects: what covering leaves of the entries, and content of the links that "
    "subjects take, where 1 means that nothing is saved.",
    parameters=(
        Parameter("network", "spanning tree of a Barabási-Albert network", "ours"),
        Parameter("symbols", "500, Zipf; 60 classes on three levels", "ours"),
        Parameter("bands", "up to a quarter of all prices", "ours"),
        Parameter("subject", "class (3 tokens), exchange, symbol", "ours"),
        Parameter("key expression", "the same, currency, kind", "ours"),
        Parameter("log", "at one broker; a topic for each first level", "ours"),
        Parameter("sizes", "of a way's own messages and heads: not counted", "ours"),
    ),
    run=compare,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 5, "quick": 5, "test": 2},
    bands="Marks are means over the seeds, with their 95 % bootstrap intervals.",
)
