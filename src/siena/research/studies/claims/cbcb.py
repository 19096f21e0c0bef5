"""CBCB over time: the evaluation of INFOCOM 2004, as far as it is known.

Six drawings, of which the paper has one each.  x: virtual time, or brokers.  y: missing
deliveries while advertisements spread; useless messages, memory, advertisements and
requests while interests change; requests against the size of the network.  Set-up:
C.6 of our specification, from the makefile of the authors' simulator.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import log
from statistics import fmean

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from siena.research.studies.framework.drawing import finish, formula, line, panels
from siena.research.studies.framework.rows import (
    Cell,
    Row,
    curve,
    distinct,
    integer,
    number,
    where,
)
from siena.research.studies.framework.study import (
    Finding,
    Parameter,
    Size,
    Study,
    among,
)
from siena.research.studies.runs.cbcb import DEFAULTS, Sample, over_time, samples

HOUR = 3600
# How brokers ask: every so many seconds, and where so many messages were sent.
ASKING: dict[str, tuple[int | None, int]] = {
    "no requests": (None, 0),
    "every 900 s": (900, 0),
    "every 900 s, after 5 messages": (900, 5),
    "every 600 s": (600, 0),
}
CHANGES: dict[str, int] = {
    "changes every 1,440 s": 1440,
    "every 600 s": 600,
    "every 300 s": 300,
}
SPREADING = {"full": (50, 100, 200), "quick": (25, 50), "test": (10,)}
# Of all publishers together, in a second.
PUBLICATIONS = 100
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
                    change_s=600.0,
                    request_s=None if every is None else float(every),
                    messages_min=after,
                )
                for every, after in ASKING.values()
                # The paper's memory has no counting of messages.
                if not (part == "memory" and after)
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


# --- Curves ---------------------------------------------------------------------

Value = Callable[[Sample], float]


def fn(sample: Sample) -> float:
    """Deliveries not made, of all that should have been, in percent."""
    return 100 * sample.missing / sample.expected if sample.expected else 0.0


def fp(sample: Sample) -> float:
    """Messages neither delivered nor sent on, of all received, in percent."""
    return 100 * sample.useless / sample.received if sample.received else 0.0


def control(sample: Sample) -> float:
    """Packets that are no notifications, of all, in percent."""
    rest = sample.advertisements + sample.requests + sample.replies
    return 100 * rest / (rest + sample.messages) if rest else 0.0


def requests(sample: Sample) -> float:
    """Requests and replies."""
    return sample.requests + sample.replies


def over(rows: Sequence[Row], value: Value) -> dict[float, float]:
    """The mean over runs, by time."""
    each: list[Row] = [
        {"t": sample.time, "y": value(sample)}
        for row in rows
        for sample in samples(row)
    ]
    return curve(each, "t", "y")


def asking(rows: Sequence[Row], part: str, way: str) -> list[Row]:
    """The runs of a part in which brokers ask in some way."""
    every, after = ASKING[way]
    found = where(rows, part=part, messages_min=after)
    return [row for row in found if row["request_s"] == every]


# --- Claims ---------------------------------------------------------------------


def check(rows: Sequence[Row]) -> list[Finding]:
    """The shapes of C.6."""
    return [
        *_falls_to_nothing(rows),
        _useless(rows),
        _bounded(rows),
        _more_changes(rows),
        _fewer_requests(rows),
        _grows(rows),
    ]


def _falls_to_nothing(rows: Sequence[Row]) -> list[Finding]:
    findings = []
    for prunes in (False, True):
        own = where(rows, part="spreading", prunes=prunes)
        late = [
            sample
            for row in own
            for before, sample in pairwise(samples(row))
            if before.time >= number(row, "spreading_s")
        ]
        first = fmean(fn(samples(row)[0]) for row in own)
        missing = sum(sample.missing for sample in late)
        expected = sum(sample.expected for sample in late)
        how = "with the paper's pruning" if prunes else "without pruning"
        words = f"{first:.0f} % at first; {missing:,} of {expected:,} in the end"
        is_so = first > 50 and missing == 0 and expected > 0
        says = f"{how}: false negatives fall to nothing when advertisements have spread"
        findings.append(Finding("C.6 FN", says, is_so, words, is_gating=not prunes))
    return findings


def _late(rows: Sequence[Row], value: Value) -> float:
    """The mean of the second half."""
    found = list(over(rows, value).values())
    return fmean(found[len(found) // 2 :])


def _useless(rows: Sequence[Row]) -> Finding:
    shares = {way: _late(asking(rows, "changing", way), fp) for way in ASKING}
    never, slow, _, fast = shares.values()
    says = "useless messages are fewer with requests, and fewest with frequent ones"
    words = ", ".join(f"{way}: {share:.0f} %" for way, share in shares.items())
    return Finding("C.6 FP", says, never > slow > fast, words)


def _bounded(rows: Sequence[Row]) -> Finding:
    growths = {}
    for way in ASKING:
        own = asking(rows, "memory", way)
        if own:
            points = list(over(own, lambda s: s.table_bytes).values())
            growths[way] = points[-1] / points[len(points) // 2]
    never, *asked = growths.values()
    says = "memory grows without requests, and does not with them"
    words = ", ".join(f"{way}: times {g:.2f}" for way, g in growths.items())
    is_so = never > 1.05 and all(growth < never for growth in asked)
    return Finding("C.6 mem", says, is_so, f"in the second half, {words}")


def _more_changes(rows: Sequence[Row]) -> Finding:
    sent = {
        words: fmean(
            number(row, "advertisements")
            for row in where(rows, part="advertising", change_s=float(every))
        )
        for words, every in CHANGES.items()
    }
    values = list(sent.values())
    says = "the more often interests change, the more advertisements there are"
    words = ", ".join(f"{way}: {count:,.0f}" for way, count in sent.items())
    return Finding("C.6 RA", says, values == sorted(values), words)


def _fewer_requests(rows: Sequence[Row]) -> Finding:
    every, some = (
        sum(number(row, "requests") for row in asking(rows, "changing", way))
        for way in ("every 900 s", "every 900 s, after 5 messages")
    )
    says = "asking only where messages were sent means fewer requests"
    return Finding("C.6 SR", says, some < every, f"{some:,.0f} instead of {every:,.0f}")


def rate(row: Row) -> float:
    """Requests and replies in a second, in the whole network."""
    packets = number(row, "requests") + number(row, "replies")
    return packets / number(row, "duration_s")


def _grows(rows: Sequence[Row]) -> Finding:
    own = [{**row, "rate": rate(row)} for row in where(rows, part="scale")]
    points = curve(own, "brokers", "rate")
    first, last = min(points), max(points)
    slope = log(points[last] / points[first]) / log(last / first)
    says = "requests grow with the network: each broker asks all others (exponent 2)"
    words = f"{points[last]:.1f} a second with {last:.0f} brokers; exponent {slope:.2f}"
    return Finding("C.6 size", says, 1.8 <= slope <= 2.2, words)


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
    for each in (positives, asked, memory, advertised):
        each.set_ylim(bottom=0)
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
    formula(axes, pruned, f"{largest} brokers, pruned as in the paper")
    finish(axes, "False negatives", "seconds", "deliveries not made, %")
    axes.set_ylim(bottom=0)


def _draw_scale(axes: Axes, rows: Sequence[Row]) -> None:
    own = [{**row, "rate": rate(row)} for row in where(rows, part="scale")]
    points = curve(own, "brokers", "rate")
    line(axes, points, "counted", 0)
    expected = {n: 2 * n * (n - 1) / REQUEST_S for n in points}
    formula(axes, expected, "2 n (n - 1) / 600 s")
    title = "Requests and replies, every 600 s"
    finish(axes, title, "brokers", "packets a second", log="xy")


def _by_minute(points: dict[float, float]) -> dict[float, float]:
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
    check=check,
    draw=draw,
    seeds={"full": 2, "quick": 1, "test": 1},
    remark="The plotted values of the paper are not at hand: only shapes are compared. "
    "Runs are shorter than the paper's where nothing new happens later, and interests "
    "change less often than its default of 30 s, with which tables of these filters "
    "are full at once. A message counts as useless where it is neither delivered nor "
    "sent on; some are even with exact tables, because tables know no sources.",
)
