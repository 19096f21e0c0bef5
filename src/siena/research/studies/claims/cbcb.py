"""CBCB over time: the evaluation of INFOCOM 2004, as far as it is known.

Six drawings, of which the paper has one each.  x: virtual time, or brokers.  y: missing
deliveries while advertisements spread; useless messages, memory, advertisements and
requests while interests change; requests against the size of the network.  Set-up:
C.6 of our specification, from the makefile of the authors' simulator.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from siena.research.studies.claims.cbcb_claims import (
    ASKING,
    CHANGES,
    CLAIMS,
    asking,
    control,
    fn,
    fp,
    over,
    rate,
    requests,
)
from siena.research.studies.framework.intervals import (
    Interval,
    curve_of,
)
from siena.research.studies.framework.rows import (
    Cell,
    Row,
    distinct,
    integer,
    where,
)
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import finish, formula, line, panels
from siena.research.studies.runs.cbcb import DEFAULTS, over_time

HOUR = 3600
SPREADING = {"full": (50, 100, 200), "quick": (25, 50), "test": (10,)}
# Of all publishers together, in a second.
PUBLICATIONS = 100
# Between two publications of a publisher.
PUBLICATION_S = {"changing": 30.0, "memory": 10.0}
CHANGING = {"full": (25, 2 * HOUR), "quick": (16, HOUR + 1200), "test": (8, HOUR)}
MEMORY = {"full": (50, HOUR + 1800), "quick": (16, HOUR), "test": (6, HOUR)}
ADVERTISING = {"full": (50, 2400), "quick": (25, 1800), "test": (8, 1200)}
SCALE = {
    "full": (50, 100, 200, 400, 800),
    "quick": (25, 50, 100),
    "test": (10, 20),
}
# Above this, one seed: what is counted hardly depends on it.
SCALE_SEEDS = 100
REQUEST_S = 600


def plan(size: Size, seeds: int) -> list[Row]:
    """The five parts."""
    rows: list[Row] = []
    for seed in among(seeds):
        rows += _spreading(size, seed)
        for part, sizes in (("changing", CHANGING), ("memory", MEMORY)):
            brokers, duration = sizes[size]
            rows += [
                _row(
                    part,
                    seed,
                    brokers=brokers,
                    duration_s=duration,
                    sample_s=240,
                    publication_s=PUBLICATION_S[part],
                    change_s=600.0,
                    request_s=None if every is None else float(every),
                    messages_min=after,
                )
                for every, after in ASKING.values()
                # The paper's memory has no counting of messages, nor 480 s.
                if part == "changing" or (after == 0 and every != 480)
            ]
        brokers, duration = ADVERTISING[size]
        rows += [
            _row(
                "advertising",
                seed,
                brokers=brokers,
                duration_s=duration,
                sample_s=300,
                publication_s=30.0,
                change_s=float(every),
                batch_s=200.0,
            )
            for every in CHANGES.values()
        ]
        rows += [
            _row(
                "scale",
                seed,
                brokers=brokers,
                duration_s=1800,
                sample_s=1800,
                publication_s=60.0,
                change_s=None,
                request_s=float(REQUEST_S),
                filters_min=1,
                filters_max=1,
            )
            for brokers in SCALE[size]
            if seed == 1 or brokers <= SCALE_SEEDS
        ]
    return rows


def _spreading(size: Size, seed: int) -> list[Row]:
    return [
        _row(
            "spreading",
            seed,
            brokers=brokers,
            duration_s=4,
            sample_s=0.25,
            publication_s=0.2 * brokers / PUBLICATIONS,
            change_s=None,
            prunes=prunes,
        )
        for brokers in SPREADING[size]
        for prunes in (False, True)
    ]


def _row(part: str, seed: int, **others: Cell) -> Row:
    return {"part": part, **DEFAULTS, **others, "seed": seed}


# --- Drawings -------------------------------------------------------------------


def draw(rows: Sequence[Row]) -> Figure:
    """Six drawings."""
    figure, axes = panels(2, 3)
    negatives, positives, memory, advertised, asked, size = axes
    _draw_spreading(negatives, rows)
    for style, way in enumerate(ASKING):
        own = asking(rows, "changing", way)
        line(positives, _by_minute(over(own, fp)), way, style)
        if way != "no requests":
            line(asked, _by_minute(over(own, requests)), way, style)
        held = asking(rows, "memory", way)
        if held:
            in_kib = over(held, lambda s: s.table_bytes / 1024)
            line(memory, _by_minute(in_kib), way, style)
    for style, (words, every) in enumerate(CHANGES.items()):
        own = where(rows, part="advertising", change_s=float(every))
        line(advertised, _by_minute(over(own, control)), words, style)
    minutes = "minutes"
    brokers = {
        part: max(integer(row, "brokers") for row in where(rows, part=part))
        for part in ("changing", "memory", "advertising")
    }
    n = brokers["changing"]
    finish(positives, f"False positives, {n} brokers", minutes, "useless messages, %")
    finish(asked, f"Requests and replies, {n} brokers", minutes, "packets in 240 s")
    n = brokers["memory"]
    finish(memory, f"Memory, {n} brokers", minutes, "all tables, KiB")
    n = brokers["advertising"]
    title = f"Advertisements, {n} brokers, batched"
    finish(advertised, title, minutes, "control packets, % of all")
    for each_ in (positives, asked, memory, advertised):
        each_.set_ylim(bottom=0)
    _draw_scale(size, rows)
    return figure


def _draw_spreading(axes: Axes, rows: Sequence[Row]) -> None:
    own = where(rows, part="spreading")
    for style, brokers in enumerate(distinct(own, "brokers")):
        same = where(own, brokers=int(brokers))
        points = over(where(same, prunes=False), fn)
        line(axes, points, f"{brokers:.0f} brokers", style)
    largest = int(max(distinct(own, "brokers")))
    pruned = over(where(own, brokers=largest, prunes=True), fn)
    line(axes, pruned, f"{largest} brokers, pruned as in the paper", 4)
    finish(axes, "False negatives", "seconds", "deliveries not made, %")
    axes.set_ylim(bottom=0)


def _draw_scale(axes: Axes, rows: Sequence[Row]) -> None:
    own = [{**row, "rate": rate(row)} for row in where(rows, part="scale")]
    points = curve_of(own, "brokers", "rate")
    line(axes, points, "counted", 0)
    expected = {n: 2 * n * (n - 1) / REQUEST_S for n in points}
    formula(axes, expected, "2 n (n - 1) / 600 s")
    title = "Requests and replies, every 600 s"
    finish(axes, title, "brokers", "packets a second", log="xy")


def _by_minute(points: dict[float, Interval]) -> dict[float, Interval]:
    return {time / 60: value for time, value in points.items()}


STUDY = Study(
    name="cbcb",
    title="CBCB over time",
    paper="INFOCOM 2004 (CBCB)",
    says="While advertisements spread, messages are lost, and then no more. As "
    "interests change, tables grow and messages go where nobody wants them; requests "
    "bound both, at a price that grows with the network.",
    shape="Falling to zero; a rise without requests and saw-teeth with them; more "
    "packets with more changes; the square of the brokers.",
    caption="A network of brokers that speak CBCB, over virtual time: deliveries not "
    "made while advertisements spread; messages that reach a broker in vain while "
    "interests change; memory of all tables; advertisements as a share of all packets; "
    "requests and replies; and the latter against the number of brokers, where both "
    "axes are logarithmic. Curves differ by how, or how often, brokers ask or "
    "interests change.",
    parameters=(
        Parameter(
            "networks", "BRITE's power law, 2 links for a new broker", "makefile"
        ),
        Parameter(
            "publishers, subscribers", "20 % and 75 % of the brokers", "makefile"
        ),
        Parameter("interests", "W-SSBG, 0 to 19 filters; scale: 1 filter", "makefile"),
        Parameter("false negatives", "50, 100, 200 brokers; 4 s of 60 s", "makefile"),
        Parameter("false positives", "25 brokers; 2 h of 6 h", "makefile"),
        Parameter("publications", "every 30 s; memory: 10 s, scale: 60 s", "makefile"),
        Parameter("requests over time", "25 brokers of 100; 2 h of 1.5 h", "ours"),
        Parameter("useless", "neither delivered nor sent on, not unmatched", "ours"),
        Parameter("message statistics", "not drawn: they are of the workload", "ours"),
        Parameter("changes of interest", "every 600 s for each subscriber", "ours"),
        Parameter("memory", "50 brokers; 1.5 h of 3 h", "makefile"),
        Parameter(
            "advertisements", "50 brokers of 100; 40 min of 90; every 200 s", "makefile"
        ),
        Parameter("scale", "50 to 800 brokers, requests every 600 s", "makefile"),
        Parameter("delay", "1 ms for a unit of BRITE's plane of 1,000", "ours"),
    ),
    run=over_time,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 2, "quick": 1, "test": 1},
    remark="The plotted values of the paper are not at hand: only shapes are compared. "
    "Runs are shorter than the paper's where nothing new happens later, and interests "
    "change less often than its default of 30 s, with which tables of these filters "
    "are full at once. A message counts as useless where it is neither delivered nor "
    "sent on; some are even with exact tables, because tables know no sources.",
)
