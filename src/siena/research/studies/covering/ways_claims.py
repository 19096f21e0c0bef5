"""What is claimed about the ways of today, and how runs decide it.

The study, its plan and its figure are :mod:`siena.research.studies.covering.ways`.
"""

from collections.abc import Sequence

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
from siena.research.studies.framework.spoils import constant, copied, each, one, times

# As many, much less, hardly less: thresholds that were chosen before the first run.
AS_MANY, MUCH_LESS, HARDLY_LESS = 1.05, 0.5, 0.9
# The same the other way round.
FEWER = 0.95
# Less is nothing at all: none was crossed, or told.
SOME = 1e-9

# --- Claims ---------------------------------------------------------------------


def _same(rows: Sequence[Row]) -> Answer:
    same = sum(
        row["router_links"] == row["content_links"]
        and row["router_entries"] == row["content_entries"]
        and number(row, "content_links") > 0
        for row in rows
    )
    return decided(same == len(rows), f"{same} of {len(rows)} runs")


def _ratio(above: str, below: str, low: float, high: float) -> Decide:
    """Whether a column is so many times another one, in every case."""

    def decide(rows: Sequence[Row]) -> Answer:
        answers = []
        for workload, subscribers in _cases(rows):
            own = where(rows, workload=workload, subscribers=subscribers)
            part = ratio(by_seed(own, above), by_seed(own, below))
            words = f"{workload}, {subscribers:,.0f} subscribers: {part.words()}"
            answers.append(between(part, low, high, words))
        words = "; ".join(answer.found for answer in answers)
        return weakest(*answers)._replace(found=words)

    return decide


def _in_order(*columns: str) -> Decide:
    """Whether no column is less than the one before it, in every single run."""

    def decide(rows: Sequence[Row]) -> Answer:
        known = [[number(row, name) for name in columns] for row in rows]
        right = sum(values == sorted(values) for values in known)
        words = f"{right} of {len(rows)} runs"
        return decided(right == len(rows) and all(map(all, known)), words)

    return decide


def _is_least(way: str, measure: str) -> Decide:
    """Whether no other way takes less, in any single run."""

    def decide(rows: Sequence[Row]) -> Answer:
        less: dict[str, int] = {}
        for row in rows:
            own = number(row, f"{way}_{measure}")
            if not own:
                less["nothing"] = less.get("nothing", 0) + 1
            for other in WAYS:
                if number(row, f"{other}_{measure}") < own:
                    less[other] = less.get(other, 0) + 1
        said = (f"{other} takes less in {count}" for other, count in less.items())
        words = "; ".join(said) or "none takes less"
        return decided(not less, f"{words}, of {len(rows)} runs")

    return decide


def _cases(rows: Sequence[Row]) -> list[tuple[str, float]]:
    return list(
        dict.fromkeys(
            (text(row, "workload"), number(row, "subscribers")) for row in rows
        )
    )


def by_seed(rows: Sequence[Row], name: str) -> Samples:
    """A column, by seed."""
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
            "none crosses any": each(lambda _: {"router_links": 0, "content_links": 0}),
        },
        of=having(lambda row: row["router_links"] is not None),
        about="up to 200 subscribers",
    ),
    *(
        Claim(
            "lowest",
            f"content {verb} the {what} of all ways, whatever is wanted",
            f"{measure} of every other way: no fewer, in every single run",
            _is_least("content", column),
            {
                "much more in one run": one(times(f"content_{column}", 1e6)),
                "none": constant(f"content_{column}", 0),
            },
            {"almost none": constant(f"content_{column}", 1)},
            about="all workloads",
            is_gating=False,
        )
        for column, measure, verb, what in (
            ("links", "links", "crosses", "fewest links"),
            ("octets", "bytes on links", "carries", "fewest bytes"),
        )
    ),
    Claim(
        "between",
        "key expressions cross no fewer links than content, and no more than subjects",
        "links of content, keys and subjects, in every single run: in this order",
        _in_order("content_links", "keys_links", "subject_links"),
        {
            "keys cross fewer": one(times("keys_links", 0.01)),
            "keys cross more": one(times("keys_links", 100)),
            "none crosses any": each(
                lambda _: dict.fromkeys(
                    ("content_links", "keys_links", "subject_links"), 0
                )
            ),
        },
        about="all workloads",
        is_gating=False,
    ),
    Claim(
        "between",
        "where any few attributes are wanted, key expressions cross fewer links than "
        "subjects, which name fewer of them",
        f"links of keys over links of subjects, {_RATIO}: at most {FEWER}",
        _ratio("keys_links", "subject_links", SOME, FEWER),
        {
            "as many": copied("keys_links", "subject_links"),
            "none": constant("keys_links", 0),
        },
        {"half": each(lambda r: {"keys_links": number(r, "subject_links") / 2})},
        of=_about("any few"),
        about="any few attributes",
        is_gating=False,
    ),
    Claim(
        "written",
        "where one attribute says it all, subjects carry more bytes than content over "
        "as many links, because they are written beside it",
        f"bytes of subjects over bytes of content, {_RATIO}: at least {AS_MANY}",
        _ratio("subject_octets", "content_octets", AS_MANY, float("inf")),
        {"as many": copied("subject_octets", "content_octets")},
        {
            "a half more": each(
                lambda r: {"subject_octets": number(r, "content_octets") * 1.5}
            )
        },
        of=_about("symbol"),
        about="one symbol each",
        is_gating=False,
    ),
    Claim(
        "topics",
        "where one attribute says it all, subjects cross as many links as content",
        f"links of subjects over links of content, {_RATIO}: at most {AS_MANY}",
        _ratio("subject_links", "content_links", SOME, AS_MANY),
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
        _ratio("content_entries", "flat_entries", SOME, MUCH_LESS),
        {
            "no saving": times("content_entries", 100),
            "nothing is told": constant("content_entries", 0),
        },
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
        {
            "nothing": constant("consumer_wasted", 0),
            "none is delivered": constant("deliveries", 0),
        },
        about="all workloads",
        is_gating=False,
    ),
)
