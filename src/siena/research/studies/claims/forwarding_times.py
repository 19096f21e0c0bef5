"""Times to forward a message, by what was varied: for drawings and for claims.

The study is :mod:`siena.research.studies.claims.forwarding`.
"""

from collections.abc import Sequence
from typing import NamedTuple

from siena.research.studies.framework.intervals import Interval, Samples, mean
from siena.research.studies.framework.rows import (
    Row,
    curve,
    distinct,
    integer,
    number,
    where,
)

DEFAULT_ROUNDS = 10


def plain(rows: Sequence[Row]) -> list[Row]:
    """The rows of the workload as it is."""
    return where(rows, size=None, wanting=None)


# Interfaces where it is varied how many of them want a message.
ALL = 20


def growing(rows: Sequence[Row], matcher: str, interfaces: int) -> list[Row]:
    """The rows of a matcher by number of filters."""
    return where(
        plain(rows),
        matcher=matcher,
        interfaces=interfaces,
        rounds=DEFAULT_ROUNDS,
        early_exit=True,
    )


def wanting_varied(rows: Sequence[Row], matcher: str) -> list[Row]:
    """The rows of the table where it was tried how many interfaces want a message."""
    own = where(rows, matcher=matcher, interfaces=ALL, size=None)
    own = where(own, rounds=DEFAULT_ROUNDS, early_exit=True)
    varied = {number(row, "filters") for row in own if row["wanting"] is not None}
    return [row for row in own if number(row, "filters") in varied]


class Wanted(NamedTuple):
    """How many interfaces may want a message, how many do, and the time it takes."""

    wanting: float
    share: float
    by_seed: Samples
    """Microseconds of each table."""

    @property
    def taken(self) -> Interval:
        """The mean over the tables."""
        return mean(self.by_seed)


def by_wanting(rows: Sequence[Row], matcher: str) -> list[Wanted]:
    """Times by how many interfaces may want a message, and get it, in percent."""
    # Where it is not varied, all of them may want it.
    same = [
        {**row, "wanting": ALL if row["wanting"] is None else row["wanting"]}
        for row in wanting_varied(rows, matcher)
    ]
    matched = curve(same, "wanting", "matched")
    return [
        Wanted(at, 100 * matched[at] / ALL, times_of(where(same, wanting=int(at))))
        for at in matched
    ]


def times_of(rows: Sequence[Row]) -> Samples:
    """The time of each table; a table is drawn anew for each seed."""
    return {integer(row, "seed"): number(row, "microseconds") for row in rows}


def rounds_varied(rows: Sequence[Row]) -> list[Row]:
    """The rows of the table of counting where all rounds were tried."""
    own = where(plain(rows), matcher="counting", interfaces=20)
    varied = {number(row, "filters") for row in own if row["rounds"] == 0}
    return [row for row in own if number(row, "filters") in varied]


def by_rounds(rows: Sequence[Row], *, early: bool) -> dict[int, Samples]:
    """Times of counting by rounds, then by table."""
    own = where(rounds_varied(rows), early_exit=early)
    return {
        int(rounds): times_of(where(own, rounds=int(rounds)))
        for rounds in distinct(own, "rounds")
    }
