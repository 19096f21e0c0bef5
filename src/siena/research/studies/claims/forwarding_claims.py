"""What is claimed about the time for a message, and how times decide it.

The study, its plan and its figure are :mod:`siena.research.studies.claims.forwarding`.
"""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from math import log
from statistics import linear_regression
from typing import NamedTuple

from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    Decide,
    Spoil,
    Verdict,
    decided,
    undecided,
    weakest,
)
from siena.research.studies.framework.intervals import Interval
from siena.research.studies.framework.rows import (
    Cell,
    Row,
    curve,
    distinct,
    number,
    where,
)
from siena.research.studies.framework.spoils import constant, each, only, times

HEADLINE = {"full": 250_000, "quick": 10_000, "test": 300}
DEFAULT_ROUNDS = 10


def plain(rows: Sequence[Row]) -> list[Row]:
    """The rows of the workload as it is."""
    return where(rows, size=None, wanting=None)


# Slopes this near to 1 cannot be told from it; a slope needs a decade of filters.
NEAR, DECADE = 0.05, 10
# Interfaces where it is varied how many of them want a message.
ALL = 20
# Times of one program differ by so much between runs on a machine that is shared.
TIMING = 0.1


def growing(rows: Sequence[Row], matcher: str, interfaces: int) -> list[Row]:
    """The rows of a matcher by number of filters."""
    return where(
        plain(rows),
        matcher=matcher,
        interfaces=interfaces,
        rounds=DEFAULT_ROUNDS,
        early_exit=True,
    )


def spread(rows: Sequence[Row], x: str) -> dict[float, Interval]:
    """The least times of all seeds, which count, and how far the longest are away."""
    least, most = (curve(rows, x, "microseconds", join) for join in (min, max))
    return {at: Interval(least[at], least[at], most[at]) for at in least}


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
    microseconds: float
    taken: Interval


def by_wanting(rows: Sequence[Row], matcher: str) -> list[Wanted]:
    """Times by how many interfaces may want a message, and get it, in percent."""
    # Where it is not varied, all of them may want it.
    same = [
        {**row, "wanting": ALL if row["wanting"] is None else row["wanting"]}
        for row in wanting_varied(rows, matcher)
    ]
    matched = curve(same, "wanting", "matched")
    taken = spread(same, "wanting")
    return [
        Wanted(at, 100 * matched[at] / ALL, taken[at].value, taken[at])
        for at in matched
    ]


def rounds_varied(rows: Sequence[Row]) -> list[Row]:
    """The rows of the table of counting where all rounds were tried."""
    own = where(plain(rows), matcher="counting", interfaces=20)
    varied = {number(row, "filters") for row in own if row["rounds"] == 0}
    return [row for row in own if number(row, "filters") in varied]


def by_rounds(rows: Sequence[Row], *, early: bool) -> dict[float, Interval]:
    """Times of counting by rounds."""
    return spread(where(rounds_varied(rows), early_exit=early), "rounds")


# --- Claims ---------------------------------------------------------------------


def _agreement(rows: Sequence[Row]) -> Answer:
    found: dict[tuple[Cell, ...], set[float]] = {}
    names = ("filters", "interfaces", "names", "size", "wanting", "seed")
    for row in rows:
        case = tuple(row[name] for name in names)
        found.setdefault(case, set()).add(number(row, "matched"))
    wrong = sum(len(matched) > 1 for matched in found.values())
    nothing = all(matched == {0.0} for matched in found.values())
    words = f"{len(found) - wrong} of {len(found)} tables"
    return decided(not wrong and not nothing, words)


def _slope(rows: Sequence[Row]) -> Answer:
    points = curve(rows, "filters", "microseconds", min)
    if max(points) < DECADE * min(points):
        return undecided("needs a decade of filters")
    xs, ys = ([log(x) for x in of] for of in (points, points.values()))
    slope = linear_regression(xs, ys).slope
    words = f"exponent {slope:.2f}, of {len(points)} sizes"
    if abs(slope - 1) < NEAR:
        return undecided(f"{words}: too near to 1")
    return decided(slope < 1, words)


def _bytes(rows: Sequence[Row]) -> Answer:
    shares = [
        number(r, "bytes") / number(r, "constraints")
        for r in rows
        if r["size"] == 20 and number(r, "filters") >= HEADLINE["full"]
    ]
    if not shares:
        return undecided("needs 250,000 filters of 20 constraints")
    return decided(max(shares) <= 48, f"{max(shares):.1f} bytes")


def _headline(rows: Sequence[Row]) -> Answer:
    filters = max(number(row, "filters") for row in rows)
    found = []
    for matcher in ("counting", "engine"):
        taken = curve(where(rows, matcher=matcher), "size", "microseconds").values()
        found.append(f"{matcher} {min(taken):,.0f} to {max(taken):,.0f} µs")
    matched = [number(row, "matched") for row in rows]
    worst = max(number(row, "microseconds") for row in rows)
    words = (
        f"{filters:,.0f} filters: {', '.join(found)}; "
        f"{min(matched):.1f} to {max(matched):.1f} interfaces"
    )
    return decided(worst < 3000, words)


def _fewer_matches(matcher: str) -> Decide:
    """Step by step; a message that all want is another matter, and not among them."""

    def decide(rows: Sequence[Row]) -> Answer:
        points = [at for at in by_wanting(rows, matcher) if at.wanting < ALL]
        if len(points) < 3:
            return undecided("needs three numbers below all")
        steps = [_less(fewer, more) for fewer, more in pairwise(points)]
        answer = weakest(*steps)
        words = _times(points)
        if answer.verdict is not Verdict.HOLDS:
            words += f"; {answer.found}"
        return answer._replace(found=words)

    return decide


def _fewer_than_all(matcher: str) -> Decide:
    def decide(rows: Sequence[Row]) -> Answer:
        points = by_wanting(rows, matcher)
        if len(points) < 2 or points[-1].wanting < ALL:
            return undecided("needs messages that all may want, and others")
        return _less(*points[-2:])

    return decide


def _less(fewer: Wanted, more: Wanted) -> Answer:
    return noticed(fewer.microseconds, more.microseconds, _times([fewer, more]))


def _times(points: Sequence[Wanted]) -> str:
    words = (f"{at.microseconds:.2g} µs at {at.share:.0f} %" for at in points[::-1])
    return ", ".join(words)


def noticed(with_it: float, without: float, words: str) -> Answer:
    """Whether something takes less time, by more than times vary between runs."""
    if abs(with_it / without - 1) < TIMING:
        return undecided(f"{words}: less than {TIMING:.0%} apart")
    return decided(with_it < without, words)


def _rounds(rows: Sequence[Row]) -> Answer:
    points = {r: taken.value for r, taken in by_rounds(rows, early=True).items()}
    words = ", ".join(f"{r:.0f}: {t:.1f} µs" for r, t in points.items())
    best = min(t for rounds, t in points.items() if rounds)
    return noticed(best, points[0], words)


def _early(rows: Sequence[Row]) -> Answer:
    with_it, without = (
        min(number(row, "microseconds") for row in where(rows, early_exit=early))
        for early in (True, False)
    )
    words = f"{with_it:.1f} µs with, {without:.1f} µs without"
    return noticed(with_it, without, words)


def _size_varied(rows: Sequence[Row]) -> list[Row]:
    return [row for row in rows if row["size"] is not None]


def _is_for_all(row: Row) -> bool:
    return row["wanting"] is None


def _middle(spoil: Spoil) -> Spoil:
    """Only the rows in the middle of those where not all want a message are spoilt."""

    def spoilt(rows: Sequence[Row]) -> list[Row]:
        varied = distinct([row for row in rows if not _is_for_all(row)], "wanting")
        middle = varied[len(varied) // 2]
        return only(lambda row: row["wanting"] == middle, spoil)(rows)

    return spoilt


_by_share = each(
    lambda r: {"microseconds": 21 if _is_for_all(r) else 1 + number(r, "wanting")}
)
_superlinear = each(lambda r: {"microseconds": number(r, "filters") ** 1.5})
_sublinear = each(lambda r: {"microseconds": number(r, "filters") ** 0.5})
_quick = constant("microseconds", 7.0)
_FIT = "slope of the logarithms of times and filters, by least squares over all sizes"
CLAIMS = (
    Claim(
        "agree",
        "all matchers, with all options, find the same",
        "interfaces found in all, for every single table",
        _agreement,
        {
            "the engine finds more": only(
                lambda r: r["matcher"] == "engine", times("matched", 1.01)
            ),
            "none finds anything": constant("matched", 0.0),
        },
    ),
    Claim(
        "C.8a",
        "20 interfaces, 1,000 names, 1 to 20 constraints in a filter: below 3 ms",
        "longest time of all",
        _headline,
        {"a thousand times slower": constant("microseconds", 7000.0)},
        {"it is quick": _quick},
        of=_size_varied,
        about="counting and engine, by constraints in a filter",
        leaves_open="The paper's numbers do not fit together (erratum E13), and its "
        "computer was of 950 MHz: that ours is below says nothing about the algorithm.",
        is_gating=False,
    ),
    Claim(
        "C.8a",
        "a table of 5 million constraints takes 48 bytes for each of them, or less",
        "bytes of the table over constraints, of the table that the paper speaks of",
        _bytes,
        {"it takes 96": each(lambda r: {"bytes": 96 * number(r, "constraints")})},
        {"it takes 14": each(lambda r: {"bytes": 14 * number(r, "constraints")})},
        of=lambda rows: where(_size_varied(rows), matcher="counting"),
        about="counting, 250,000 filters of 20 constraints",
        why="Ours is another layout; of small tables the fixed part is most.",
        is_gating=False,
    ),
    *(
        Claim(
            "C.8b",
            f"{matcher}, {interfaces} interfaces: time grows less than the filters "
            "(exponent below 1)",
            _FIT,
            _slope,
            {"it grows more": _superlinear},
            {"it grows less": _sublinear},
            of=partial(growing, matcher=matcher, interfaces=interfaces),
            about=f"{matcher}, {interfaces} interfaces",
        )
        for interfaces in (10, 20, 100)
        for matcher in ("counting", "engine")
    ),
    *(
        Claim(
            "C.8c",
            f"{matcher}, an interface for each filter: time grows less than the "
            "filters (exponent below 1)",
            _FIT,
            _slope,
            {"it grows more": _superlinear},
            {"it grows less": _sublinear},
            of=partial(growing, matcher=matcher, interfaces=0),
            about=f"{matcher}, an interface for each filter",
            leaves_open="The paper says that a single router for all performs well, "
            "not how its time grows: it claims less than linear growth for a fixed "
            "number of interfaces only.",
            is_gating=False,
        )
        for matcher in ("counting", "engine")
    ),
    *(
        claim
        for matcher in ("counting", "engine")
        for claim in (
            Claim(
                "C.8d",
                f"{matcher}: the fewer interfaces want a message, the less time it "
                "takes, where not all want it",
                "least times of all neighbouring shares below all: each apart by "
                f"{TIMING:.0%}",
                _fewer_matches(matcher),
                {"one middle point x 10": _middle(times("microseconds", 10))},
                {"it takes less": _by_share},
                of=partial(wanting_varied, matcher=matcher),
                about=f"{matcher}, 20 interfaces, by how many want a message",
                is_gating=False,
            ),
            Claim(
                "C.8d",
                f"{matcher}: a message that most interfaces want takes less time than "
                "one that all want",
                f"least times for all and for the next share: apart by {TIMING:.0%}",
                _fewer_than_all(matcher),
                {"all take none": only(_is_for_all, times("microseconds", 1e-6))},
                {"it takes less": _by_share},
                of=partial(wanting_varied, matcher=matcher),
                about=f"{matcher}, 20 interfaces, by how many want a message",
                why="Whoever has found all interfaces is done with a message, and "
                "leaves early; where a single one does not want it, all of the "
                "message is looked at. So time falls with the interfaces that want a "
                "message from the first that does not on.",
                is_gating=False,
            ),
        )
    ),
    Claim(
        "C.8e",
        "counting: some rounds of the selectivity table help",
        f"least times without rounds and with the best number: apart by {TIMING:.0%}",
        _rounds,
        {"they cost time": each(lambda r: {"microseconds": 1 + number(r, "rounds")})},
        {"they help": each(lambda r: {"microseconds": 99 - number(r, "rounds")})},
        of=lambda rows: where(rounds_varied(rows), early_exit=True),
        about="counting, 20 interfaces, by rounds",
        is_gating=False,
    ),
    Claim(
        "C.8f",
        "counting: leaving early helps",
        f"least times with and without: apart by {TIMING:.0%}",
        _early,
        {
            "it takes longer": only(
                lambda r: r["early_exit"] is True, times("microseconds", 99)
            )
        },
        {
            "it is faster": only(
                lambda r: r["early_exit"] is True, times("microseconds", 0.01)
            )
        },
        of=lambda rows: where(rounds_varied(rows), rounds=DEFAULT_ROUNDS),
        about=f"counting, 20 interfaces, {DEFAULT_ROUNDS} rounds",
        is_gating=False,
    ),
)
