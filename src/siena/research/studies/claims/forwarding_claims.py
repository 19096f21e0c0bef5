"""What is claimed about the time for a message, and how times decide it.

The study, its plan and its figure are :mod:`siena.research.studies.claims.forwarding`.
"""

from collections.abc import Sequence
from functools import partial
from itertools import pairwise

from siena.research.studies.claims.forwarding_slopes import (
    TIMING,
    ends_of_last_decade,
    grows_less,
)
from siena.research.studies.claims.forwarding_times import (
    ALL,
    DEFAULT_ROUNDS,
    Wanted,
    by_rounds,
    by_wanting,
    growing,
    rounds_varied,
    times_of,
    wanting_varied,
)
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
from siena.research.studies.framework.intervals import (
    Interval,
    mean,
    ratio,
)
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


# --- Claims ---------------------------------------------------------------------


def _agreement(rows: Sequence[Row]) -> Answer:
    found: dict[tuple[Cell, ...], set[tuple[Cell, ...]]] = {}
    names = ("filters", "interfaces", "names", "size", "wanting", "seed")
    for row in rows:
        case = tuple(row[name] for name in names)
        found.setdefault(case, set()).add((row["matched"], row["which"]))
    wrong = sum(len(known) > 1 for known in found.values())
    nothing = all(number(row, "matched") == 0 for row in rows)
    words = f"{len(found) - wrong} of {len(found)} tables"
    return decided(not wrong and not nothing, words)


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
        words = _shares(points)
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
    part = ratio(fewer.by_seed, more.by_seed)
    return noticed(part, f"{_shares([fewer, more])}: times {part.words()}")


def _shares(points: Sequence[Wanted]) -> str:
    words = (f"{at.taken.value:.2g} µs at {at.share:.0f} %" for at in reversed(points))
    return ", ".join(words)


def noticed(part: Interval, words: str) -> Answer:
    """Whether something takes less time, by more than times vary between runs."""
    if part.low >= 1 + TIMING:
        return Answer(Verdict.DIFFERS, words, part.seeds)
    if part.high <= 1 - TIMING:
        return Answer(Verdict.HOLDS, words, part.seeds)
    return Answer(Verdict.UNDECIDED, f"{words}: not {TIMING:.0%} apart", part.seeds)


def _rounds(rows: Sequence[Row]) -> Answer:
    """Of each number by itself: the best of several would be best by chance, too."""
    known = by_rounds(rows, early=True)
    parts = {at: ratio(taken, known[0]) for at, taken in known.items() if at}
    said = "; ".join(f"{at}: times {part.words()}" for at, part in parts.items())
    best = min(parts.values(), key=lambda part: part.high)
    return noticed(best, f"{mean(known[0]).words('.1f')} µs without; {said}")


def _early(rows: Sequence[Row]) -> Answer:
    with_it, without = (
        times_of(where(rows, early_exit=early)) for early in (True, False)
    )
    part = ratio(with_it, without)
    words = f"{mean(with_it).value:.1f} µs with, {mean(without).value:.1f} µs without"
    return noticed(part, f"{words}: times {part.words()}")


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


def _bent(rows: Sequence[Row]) -> list[Row]:
    """Level at first, and as the filters to the power of 1.3 in the last decade."""
    first, _ = ends_of_last_decade(distinct(rows, "filters"))
    grown = each(
        lambda r: {"microseconds": max(1, number(r, "filters") / first) ** 1.3}
    )
    return grown(rows)


_quick = constant("microseconds", 7.0)
_FIT = (
    "slope of the logarithms of mean times and filters, by least squares over all "
    "sizes, with its 95 % limits by Student's t: below 1; and the slope between the "
    f"ends of the last decade, with times that may be off by {TIMING:.0%}: below 1"
)
CLAIMS = (
    Claim(
        "agree",
        "all matchers, with all options, find the same",
        "the interfaces of each message, for every single table: the same ones",
        _agreement,
        {
            "the engine finds more": only(
                lambda r: r["matcher"] == "engine", times("matched", 1.01)
            ),
            "the engine finds as many, but others": only(
                lambda r: r["matcher"] == "engine", constant("which", "others")
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
            grows_less,
            {"it grows more": _superlinear, "it does in the end": _bent},
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
            grows_less,
            {"it grows more": _superlinear, "it does in the end": _bent},
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
                "times at all neighbouring shares below all: each ratio with its 95 % "
                f"interval over the tables {TIMING:.0%} below 1",
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
                "time at the next share over that for all, with its 95 % interval over "
                f"the tables: {TIMING:.0%} below 1",
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
        "time with each number of rounds over that without, with 95 % intervals over "
        f"the tables: for some number {TIMING:.0%} below 1",
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
        "time with over time without, with its 95 % interval over the tables: "
        f"{TIMING:.0%} below 1",
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
