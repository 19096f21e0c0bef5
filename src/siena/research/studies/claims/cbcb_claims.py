"""What is claimed about CBCB over time, and how runs decide it.

The study, its plan and its drawings are :mod:`siena.research.studies.claims.cbcb`.
"""

import json
from collections.abc import Callable, Sequence
from itertools import pairwise
from math import log
from statistics import fmean

from siena.research.studies.claims.cbcb_curves import (
    CHANGES,
    WAYS,
    asking,
    fn,
    fp,
    late,
    matched_shares,
    rate,
)
from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    Select,
    Spoil,
    decided,
    weakest,
)
from siena.research.studies.framework.intervals import (
    all_below,
    between,
    cells,
    mean,
    ratio,
)
from siena.research.studies.framework.rows import (
    Row,
    curve,
    integer,
    number,
    where,
)
from siena.research.studies.framework.spoils import constant, each, only
from siena.research.studies.runs.cbcb import Sample, samples

# Of predicates, in percent.
HALF = 50
# Of memory, in half a run: less is no growth.
GROWTH = 0.05


# --- Claims ---------------------------------------------------------------------


def _falls_to_nothing(rows: Sequence[Row]) -> Answer:
    late = [
        sample
        for row in rows
        for before, sample in pairwise(samples(row))
        if before.time >= number(row, "spreading_s")
    ]
    first = fmean(fn(samples(row)[0]) for row in rows)
    missing = sum(sample.missing for sample in late)
    expected = sum(sample.expected for sample in late)
    words = f"{first:.0f} % at first; {missing:,} of {expected:,} in the end"
    return decided(first > 50 and missing == 0 < expected, words)


def _useless(rows: Sequence[Row]) -> Answer:
    shares = {way: late(asking(rows, "changing", way), fp) for way in WAYS["changing"]}
    never, slow, fast = (
        shares[way] for way in ("no requests", "every 900 s", "every 600 s")
    )
    margins = {
        "900 s: of none": ratio(slow, never),
        "600 s: of 900 s": ratio(fast, slow),
    }
    words = ", ".join(f"{w}: {fmean(of.values()):.0f} %" for w, of in shares.items())
    return all_below(margins)._replace(found=words)


def growth(row: Row) -> float:
    """How many times as much memory there is at the end as in the middle of a run."""
    held = [sample.table_bytes for sample in samples(row)]
    return held[-1] / max(1, held[len(held) // 2])


def _bounded(rows: Sequence[Row]) -> Answer:
    growths = {
        way: {integer(row, "seed"): growth(row) for row in own}
        for way in WAYS["memory"]
        if (own := asking(rows, "memory", way))
    }
    never, *asked = growths
    parts = {way: ratio(growths[way], growths[never]) for way in asked}
    words = ", ".join(f"{way}: times {mean(of).words()}" for way, of in growths.items())
    words += "; over that without: "
    words += ", ".join(part.words() for part in parts.values())
    answers = (
        between(mean(growths[never]), 1 + GROWTH, float("inf"), words),
        all_below(parts),
    )
    return weakest(*answers)._replace(found=words)


def _more_changes(rows: Sequence[Row]) -> Answer:
    sent = cells(rows, ("change_s",), "advertisements")
    ordered = [sent[float(every),] for every in CHANGES.values()]
    words = ", ".join(
        f"{way}: {mean(of).words(',.0f')}"
        for way, of in zip(CHANGES, ordered, strict=True)
    )
    if min(min(of.values()) for of in ordered) <= 0:
        return decided(False, words)
    margins = {str(i): ratio(a, b) for i, (a, b) in enumerate(pairwise(ordered))}
    return all_below(margins)._replace(found=words)


def _fewer_requests(rows: Sequence[Row]) -> Answer:
    every, some = (
        {
            integer(row, "seed"): number(row, "requests")
            for row in asking(rows, "asking", way)
        }
        for way in ("every 600 s", "every 600 s, after 5 messages")
    )
    words = f"{sum(some.values()):,.0f} instead of {sum(every.values()):,.0f}"
    return all_below({"requests": ratio(some, every)})._replace(found=words)


def _rises(rows: Sequence[Row]) -> Answer:
    first = {integer(row, "seed"): fp(samples(row)[0]) for row in rows}
    second = late(rows, fp)
    words = f"{mean(first).words('.0f')} % at first, {mean(second).words('.0f')} % then"
    rise = {"first": ratio(first, second)}
    return all_below(rise, may_be_none=True)._replace(found=words)


def _grows(rows: Sequence[Row]) -> Answer:
    points = curve([{**row, "rate": rate(row)} for row in rows], "brokers", "rate")
    first, last = min(points), max(points)
    slope = log(points[last] / points[first]) / log(last / first)
    words = f"{points[last]:.1f} a second with {last:.0f} brokers; exponent {slope:.2f}"
    return decided(1.8 <= slope <= 2.2, words)


def _few_match(rows: Sequence[Row]) -> Answer:
    shares = [matched_shares(row) for row in rows]
    half = mean(
        {
            integer(row, "seed"): sum(of[at] for at in of if at <= HALF)
            for row, of in zip(rows, shares, strict=True)
        }
    )
    none = fmean(of[0] for of in shares)
    words = f"{half.words('.0f')} % of the messages; {none:.0f} % match none"
    # Shares are sums: a hundred may come out as a little more.
    return between(half, 50, float("inf"), words)


def _part(part: str) -> Select:
    return lambda rows: where(rows, part=part)


def _ends(rows: Sequence[Row]) -> list[Row]:
    """The smallest and the largest networks, between which an exponent is."""
    own = where(rows, part="scale")
    sizes = {number(row, "brokers") for row in own}
    return [row for row in own if row["brokers"] in {min(sizes), max(sizes)}]


def _spread(*, prunes: bool) -> Select:
    return lambda rows: where(rows, part="spreading", prunes=prunes)


def _sampled(change: Callable[[Sample, int], Sample]) -> Spoil:
    """Runs with other samples; ``change`` gets each one, and its place."""

    def spoilt(row: Row) -> Row:
        changed = [change(sample, i) for i, sample in enumerate(samples(row))]
        return {"samples": json.dumps(changed)}

    return each(spoilt)


def _asks(row: Row) -> bool:
    return row["request_s"] is not None


# In the second half a sixth is added: what a check that only compares would let pass.
_slow_growth = _sampled(
    lambda sample, place: sample._replace(table_bytes=1_000_000 + 20_000 * place)
)
_fast_growth = _sampled(
    lambda sample, place: sample._replace(table_bytes=1000 * 2**place)
)
_lossy = _sampled(lambda sample, _: sample._replace(missing=1))
_lossy_at_first = _sampled(
    lambda sample, place: sample._replace(
        missing=0 if place else sample.expected, expected=max(1, sample.expected)
    )
)


def _grows_alone(rows: Sequence[Row]) -> list[Row]:
    """Memory that grows where brokers do not ask, and stays as it is where they do."""
    steady = _sampled(lambda sample, _: sample._replace(table_bytes=1000))
    return [(steady if _asks(row) else _slow_growth)([row])[0] for row in rows]


_useless_always = _sampled(lambda sample, _: sample._replace(useless=sample.received))
CLAIMS = (
    Claim(
        "C.6 FN",
        "without pruning: false negatives fall to nothing when advertisements have "
        "spread",
        "above 50 % in the first sample, and no delivery missing in any sample after "
        "the time that an advertisement takes across the network",
        _falls_to_nothing,
        {"one is missing in each sample": _lossy},
        of=_spread(prunes=False),
        about="50, 100 and 200 brokers, not pruned",
    ),
    Claim(
        "C.6 FN",
        "with the paper's pruning: false negatives fall to nothing when advertisements "
        "have spread",
        "above 50 % in the first sample, and no delivery missing in any sample after "
        "the time that an advertisement takes across the network",
        _falls_to_nothing,
        {"one is missing in each sample": _lossy},
        {"only the first sample misses some": _lossy_at_first},
        of=_spread(prunes=True),
        about="50, 100 and 200 brokers, pruned",
        why="Pruning can lose routes: T-C20, and the study pruning.",
        is_gating=False,
    ),
    Claim(
        "C.6 FP",
        "useless messages are fewer with requests, and fewest with frequent ones",
        "mean share in the second half: every 900 s over none, and every 600 s over "
        "every 900 s, with 95 % intervals over the seeds: below 1",
        _useless,
        {
            "all are useless": _useless_always,
            "with requests all are": only(_asks, _useless_always),
        },
        of=_part("changing"),
        about="changing interests, by how brokers ask",
    ),
    Claim(
        "C.6 FP",
        "without requests the share of useless messages rises",
        "share in the first sample over the mean share in the second half of a run, "
        "with its 95 % interval over the seeds: below 1",
        _rises,
        {
            "all are useless": _useless_always,
            "it falls": _sampled(
                lambda sample, place: sample._replace(
                    useless=sample.received // (place + 1)
                )
            ),
        },
        {
            "first there are none": _sampled(
                lambda sample, place: sample._replace(useless=min(place, 1))
            )
        },
        of=lambda rows: asking(rows, "changing", "no requests"),
        about="changing interests, no requests",
    ),
    Claim(
        "C.6 mem",
        f"memory grows without requests, by {GROWTH:.0%} or more in the second half, "
        "and not by as much with them",
        "memory at the end over memory in the middle, without requests: above "
        f"{1 + GROWTH}; and with requests over without, in the same networks: below 1; "
        "with 95 % intervals over the seeds",
        _bounded,
        {
            "it grows as much with requests": _slow_growth,
            "it grows tenfold with requests": only(_asks, _fast_growth),
            "it never grows": _sampled(lambda s, _: s._replace(table_bytes=1000)),
        },
        {"it grows without alone": _grows_alone},
        of=_part("memory"),
        about="memory, by how brokers ask",
    ),
    Claim(
        "C.6 RA",
        "the more often interests change, the more advertisements there are",
        "ratio of means of neighbouring rates, with its 95 % interval over the seeds: "
        "below 1; and there are some",
        _more_changes,
        {
            "there are none": constant("advertisements", 0),
            "always as many": constant("advertisements", 99),
        },
        of=_part("advertising"),
        about="advertisements, by how often interests change",
    ),
    Claim(
        "C.6 SR",
        "asking only where messages were sent means fewer requests",
        "ratio of means, with its 95 % interval over the seeds: below 1",
        _fewer_requests,
        {"always as many": constant("requests", 99)},
        of=lambda rows: [
            row
            for way in ("every 600 s", "every 600 s, after 5 messages")
            for row in asking(rows, "asking", way)
        ],
        about="requests over time, every 600 s",
    ),
    Claim(
        "C.6 size",
        "requests grow with the network: each broker asks all others (exponent 2)",
        "exponent between the smallest and the largest networks, between 1.8 and 2.2",
        _grows,
        {
            "each asks its neighbours": each(
                lambda r: {"requests": number(r, "brokers"), "replies": 0}
            )
        },
        of=_ends,
        about="the smallest and the largest networks, requests every 600 s",
    ),
    Claim(
        "C.6 stat",
        "most messages match at most half of the predicates",
        f"share of the messages that match {HALF} % of the predicates or fewer, with "
        "its 95 % interval over the seeds: above a half",
        _few_match,
        {"all match all": each(lambda _: {"wanting": json.dumps([0] * 75 + [9])})},
        {"none matches any": constant("wanting", "[9]")},
        of=_part("messages"),
        about="messages, by the predicates that match them",
        leaves_open="The paper draws a histogram of which no value is at hand.",
        is_gating=False,
    ),
)
