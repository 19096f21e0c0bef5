"""What is drawn of runs of CBCB, and what is claimed about: curves over time.

The study is :mod:`siena.research.studies.claims.cbcb`.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean

from siena.research.studies.framework.intervals import Interval, curve_of
from siena.research.studies.framework.rows import Row, integer, number, where
from siena.research.studies.runs.cbcb import Sample, samples, wanted_by

# How brokers ask: every so many seconds, and where so many messages were sent.
ASKING: dict[str, tuple[int | None, int]] = {
    "no requests": (None, 0),
    "every 900 s": (900, 0),
    "every 900 s, after 5 messages": (900, 5),
    "every 600 s": (600, 0),
    "every 600 s, after 5 messages": (600, 5),
    "every 480 s": (480, 0),
}
# Which of them there are where; without requests is ours, to compare with.
WAYS: dict[str, tuple[str, ...]] = {
    "changing": (
        *("no requests", "every 900 s", "every 900 s, after 5 messages"),
        "every 600 s",
    ),
    "asking": ("every 600 s, after 5 messages", "every 600 s", "every 480 s"),
    "memory": ("no requests", "every 900 s", "every 600 s"),
}
CHANGES: dict[str, int] = {
    "interests change every 600 s": 600,
    "every 300 s": 300,
    "every 30 s": 30,
}
# Shares of predicates are counted in bins of so many percent.
BIN = 5


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


def over(rows: Sequence[Row], value: Value, together: int = 1) -> dict[float, Interval]:
    """The mean over runs, by time, with its interval; of some samples together."""
    found: list[Row] = [
        {
            "t": fmean(sample.time for sample in some),
            "y": fmean(map(value, some)),
            "seed": row["seed"],
        }
        for row in rows
        for some in _batches(samples(row), together)
    ]
    return curve_of(found, "t", "y")


def shares(points: Mapping[float, Interval]) -> dict[float, Interval]:
    """Intervals of shares in percent, which are no more than all.

    >>> shares({1.0: Interval(60, 90, 135)})[1.0].words(".0f")
    '90 (60 to 100)'
    """
    return {at: of._replace(high=min(of.high, 100.0)) for at, of in points.items()}


def _batches(known: Sequence[Sample], size: int) -> list[Sequence[Sample]]:
    return [known[at : at + size] for at in range(0, len(known), size)]


def asking(rows: Sequence[Row], part: str, way: str) -> list[Row]:
    """The runs of a part in which brokers ask in some way."""
    every, after = ASKING[way]
    found = where(rows, part=part, messages_min=after)
    return [row for row in found if row["request_s"] == every]


def matched_shares(row: Row) -> dict[int, float]:
    """Of the messages of a run, in percent, how many match a share of the predicates.

    Known by its upper end, in percent: the first bin is of those above 0 and up to 5,
    and those that match none are at 0.
    """
    counts = wanted_by(row)
    subscribers = max(len(counts) - 1, round(0.75 * integer(row, "brokers")))
    found = dict.fromkeys(range(0, 100 + BIN, BIN), 0.0)
    for wanting, messages in enumerate(counts):
        share = -(-100 * wanting // (BIN * subscribers)) * BIN
        found[share] += 100 * messages / sum(counts)
    return found


def late(rows: Sequence[Row], value: Value) -> dict[int, float]:
    """The mean of the second half of a run, by seed."""
    found = {}
    for row in rows:
        values = [value(sample) for sample in samples(row)]
        found[integer(row, "seed")] = fmean(values[len(values) // 2 :])
    return found


def rate(row: Row) -> float:
    """Requests and replies in a second, in the whole network."""
    packets = number(row, "requests") + number(row, "replies")
    return packets / number(row, "duration_s")
