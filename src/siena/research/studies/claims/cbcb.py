"""CBCB over time: the evaluation of INFOCOM 2004, as far as it is known.

Eight drawings.  x: virtual time, brokers, or predicates.  y: missing deliveries while
advertisements spread; useless messages, memory, advertisements and requests while
interests change; requests against the size of the network, twice; and how many
predicates messages match.  Set-up: C.6 of our specification, from the makefile of the
authors' simulator.
"""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from siena.research.studies.claims.cbcb_claims import CLAIMS
from siena.research.studies.claims.cbcb_curves import (
    ASKING,
    BIN,
    CHANGES,
    WAYS,
    asking,
    control,
    fn,
    fp,
    matched_shares,
    over,
    rate,
    requests,
    shares,
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
from siena.research.studies.reporting.drawing import (
    COLOURS,
    finish,
    formula,
    from_zero,
    line,
    panels,
)
from siena.research.studies.runs.cbcb import DEFAULTS, Sample, over_time

HOUR = 3600
SPREADING = {"full": (50, 100, 200), "quick": (25, 50), "test": (10,)}
# Of all publishers together, in a second.
PUBLICATIONS = 100
# Brokers and seconds of each part.
CHANGING = {"full": (25, 6 * HOUR), "quick": (16, 2 * HOUR), "test": (8, HOUR)}
ASKING_SIZES = {"full": (100, 5400), "quick": (25, 2400), "test": (8, 1800)}
MEMORY = {"full": (50, 3 * HOUR), "quick": (16, HOUR), "test": (6, HOUR)}
# Memory varies more than the rest among networks: it has so many seeds more.
MEMORY_SEEDS = {"full": 2, "quick": 0, "test": 0}
ADVERTISING = {"full": (100, 5400), "quick": (25, 1800), "test": (8, 1200)}
MESSAGES = {"full": (100, 2 * HOUR), "quick": (50, HOUR), "test": (8, HOUR)}
SCALE = {
    "full": (50, 100, 200, 300, 400, 600, 800),
    "quick": (25, 50, 100),
    "test": (10, 20),
}
# Above this, one seed: what is counted hardly depends on it.
SCALE_SEEDS = 100
REQUEST_S = 600
# So many samples make one point where there are hundreds.
TOGETHER = 10
CHANGE_S = 600.0


def plan(size: Size, seeds: int) -> list[Row]:
    """The seven parts."""
    rows: list[Row] = []
    for seed in among(seeds + MEMORY_SEEDS[size]):
        rows += _by_asking("memory", MEMORY[size], seed, sample_s=240)
    for seed in among(seeds):
        rows += _spreading(size, seed)
        rows += _by_asking(
            "changing", CHANGING[size], seed, sample_s=120, publication_s=30.0
        )
        rows += _by_asking("asking", ASKING_SIZES[size], seed, sample_s=240)
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
        brokers, duration = MESSAGES[size]
        rows.append(
            _row(
                "messages",
                seed,
                brokers=brokers,
                duration_s=duration,
                sample_s=duration,
                publication_s=20.0,
                change_s=1440.0,
            )
        )
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


def _by_asking(
    part: str, size: tuple[int, int], seed: int, **others: Cell
) -> list[Row]:
    """A part whose runs differ by how brokers ask."""
    brokers, duration = size
    return [
        _row(
            part,
            seed,
            brokers=brokers,
            duration_s=duration,
            change_s=CHANGE_S,
            request_s=None if every is None else float(every),
            messages_min=after,
            **others,
        )
        for every, after in (ASKING[way] for way in WAYS[part])
    ]


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
    """Eight drawings."""
    figure, axes = panels(2, 4)
    negatives, positives, asked, memory, advertised, matched, size, sizes = axes
    _draw_spreading(negatives, rows)
    minutes = "minutes"
    for drawing, part, value, words, y in (
        (positives, "changing", fp, "False positives", "useless messages, %"),
        (asked, "asking", requests, "Requests and replies", "packets in 240 s"),
        (memory, "memory", _kib, "Memory", "all tables, KiB"),
    ):
        for style, way in enumerate(WAYS[part]):
            own = asking(rows, part, way)
            if part == "changing":
                points = shares(over(own, value, TOGETHER))
            else:
                points = over(own, value)
            line(drawing, _by_minute(points), way, style)
        title = f"{words}, {_brokers(rows, part)} brokers"
        finish(drawing, title, minutes, y)
    for style, (words, every) in enumerate(CHANGES.items()):
        own = where(rows, part="advertising", change_s=float(every))
        line(advertised, _by_minute(shares(over(own, control))), words, style)
    title = f"Advertisements, {_brokers(rows, 'advertising')} brokers, batched"
    finish(advertised, title, minutes, "control packets, % of all")
    _draw_matched(matched, rows)
    for each_ in (positives, asked, memory, advertised, matched):
        from_zero(each_)
    _draw_scale(size, rows, log="")
    _draw_scale(sizes, rows, log="xy")
    return figure


def _kib(sample: Sample) -> float:
    return sample.table_bytes / 1024


def _brokers(rows: Sequence[Row], part: str) -> int:
    return max(integer(row, "brokers") for row in where(rows, part=part))


def _draw_matched(axes: Axes, rows: Sequence[Row]) -> None:
    """A histogram: of all messages the share that so many of the predicates match."""
    found: list[Row] = [
        {"share": share, "messages": messages, "seed": row["seed"]}
        for row in where(rows, part="messages")
        for share, messages in matched_shares(row).items()
    ]
    points = curve_of(found, "share", "messages")
    bars = axes.bar(
        [at - BIN / 2 for at in points],
        [each_.value for each_ in points.values()],
        0.8 * BIN,
        color=COLOURS[0],
        yerr=[
            [each_.value - each_.low for each_ in points.values()],
            [each_.high - each_.value for each_ in points.values()],
        ],
    )
    bars.set_label("published every 20 s")
    title = f"Message statistics, {_brokers(rows, 'messages')} brokers"
    finish(axes, title, "predicates that match a message, %", "messages, %")


def _draw_spreading(axes: Axes, rows: Sequence[Row]) -> None:
    own = where(rows, part="spreading")
    for style, brokers in enumerate(distinct(own, "brokers")):
        same = where(own, brokers=int(brokers))
        points = shares(over(where(same, prunes=False), fn))
        line(axes, points, f"{brokers:.0f} brokers", style)
    largest = int(max(distinct(own, "brokers")))
    pruned = shares(over(where(own, brokers=largest, prunes=True), fn))
    line(axes, pruned, f"{largest} brokers, pruned as in the paper", 4)
    finish(axes, "False negatives", "seconds", "deliveries not made, %")
    from_zero(axes)


def _draw_scale(axes: Axes, rows: Sequence[Row], log: str) -> None:
    own = [{**row, "rate": rate(row)} for row in where(rows, part="scale")]
    points = curve_of(own, "brokers", "rate")
    line(axes, points, "counted", 0)
    expected = {n: 2 * n * (n - 1) / REQUEST_S for n in points}
    formula(axes, expected, "2 n (n - 1) / 600 s")
    title = "Requests and replies, every 600 s"
    title += ": the same, both logarithmic" if log else ""
    finish(axes, title, "brokers", "packets a second", log=log)


def _by_minute(points: dict[float, Interval]) -> dict[float, Interval]:
    return {time / 60: value for time, value in points.items()}


STUDY = Study(
    name="cbcb",
    title="CBCB over time",
    paper="INFOCOM 2004 (CBCB)",
    says="While advertisements spread, messages are lost, and then no more. As "
    "interests change, tables grow and messages go where nobody wants them; requests "
    "bound both, at a price that grows with the network.",
    shape="Falling to zero; a rise without requests, and less with them, up and down; "
    "more packets with more changes; the square of the brokers.",
    caption="A network of brokers that speak CBCB, over virtual time: deliveries not "
    "made while advertisements spread; messages that reach a broker in vain while "
    "interests change, each point the mean of ten samples, 20 minutes; requests and "
    "replies; memory of all tables; packets that are no messages, as a share of all, "
    "without requests; how many of the predicates messages match; and requests and "
    "replies against the number of brokers, with linear and with logarithmic axes. "
    "Curves differ by how, or how often, brokers ask or interests change.",
    parameters=(
        Parameter(
            "networks", "BRITE's power law, 2 links for a new broker", "makefile"
        ),
        Parameter(
            "publishers, subscribers", "20 % and 75 % of the brokers", "makefile"
        ),
        Parameter("interests", "W-SSBG, 0 to 19 filters; scale: 1 filter", "makefile"),
        Parameter("false negatives", "50, 100, 200 brokers", "makefile"),
        Parameter("false negatives: time", "4 s of 60 s", "ours: then all is told"),
        Parameter(
            "false negatives: messages", "100/s, of all publishers together", "ours"
        ),
        Parameter(
            "false positives", "25 brokers, 6 h, every 30 s a message", "makefile"
        ),
        Parameter("requests over time", "100 brokers, 90 min", "makefile"),
        Parameter("memory", "50 brokers, 3 h; 2 seeds more", "makefile; ours"),
        Parameter("advertisements", "100 brokers, 90 min; every 200 s", "makefile"),
        Parameter("messages", "100 brokers, 2 h, every 20 s a message", "makefile"),
        Parameter("scale", "50 to 800 brokers, requests every 600 s", "makefile"),
        Parameter(
            "publications otherwise", "every 10 s; scale: 60 s", "makefile; ours"
        ),
        Parameter("changes of interest", "as drawn; messages: 1,440 s", "makefile"),
        Parameter("changes otherwise", "every 600 s for each subscriber", "ours"),
        Parameter("no requests", "drawn beside the paper's ways", "ours"),
        Parameter("useless", "neither delivered nor sent on", "ours"),
        Parameter("delay", "1 ms for a unit of BRITE's plane of 1,000", "ours"),
    ),
    run=over_time,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 3, "quick": 1, "test": 1},
    remark="The plotted values of the paper are not at hand: only shapes are compared. "
    "Where false positives and requests are counted, interests change every 600 s, as "
    "the makefile says for memory, and not every 30 s, its default, with which tables "
    "of these filters are full before the first request is answered. A message counts "
    "as useless where it is neither delivered nor sent on; some are even with exact "
    "tables, because tables know no sources. Absent are the makefile's variant of "
    "false positives with a message every 60 s, and its networks by Waxman's model. "
    "Its publications every 0.01 s, for false negatives, are read as those of all "
    "publishers together, 100 a second however many there are, and not of each.",
)
