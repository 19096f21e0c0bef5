"""How large are the headers of dynamic receiver partitioning?

x: receivers of a notification.  y: bits of a packet's header, on average: with the part
of the receivers that lies ahead, and with the paper's whole partition.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.framework.claim import Answer, Claim, decided
from siena.research.studies.framework.intervals import (
    all_below,
    cells,
    curve_of,
    ratio,
)
from siena.research.studies.framework.rows import Row, integer, number, where
from siena.research.studies.framework.spoils import copied, one, times
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import (
    finish,
    formula,
    from_zero,
    line,
    panels,
)
from siena.research.studies.runs.schemes.headers import NOTIFICATIONS, name_receivers

KINDS = ("random", "power law")
BROKERS = {"full": (50, 100, 200, 400), "quick": (50, 100, 200), "test": (20, 40)}
SHARES = {
    "full": (0.0, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0),
    "quick": (0.0, 0.1, 1.0),
    "test": (0.0, 0.5, 1.0),
}
# A small notification of ours: four attributes as a block.
NOTIFICATION_BITS = 8 * 100


def plan(size: Size, seeds: int) -> list[Row]:
    """From one receiver to all brokers."""
    return [
        {"network": kind, "brokers": n, "share": share, "seed": seed}
        for n in BROKERS[size]
        for kind in KINDS
        for share in SHARES[size]
        for seed in among(seeds)
    ]


# --- Claims ---------------------------------------------------------------------


def _once_a_link(rows: Sequence[Row]) -> Answer:
    away = max(abs(number(row, "part") - number(row, "hops")) for row in rows)
    return decided(away == 0, f"{away:.0f} away at most, in {len(rows)} runs")


def _each(rows: Sequence[Row], column: str) -> list[Row]:
    return [
        {**row, "each": number(row, column) / number(row, "packets")} for row in rows
    ]


def _grows_with_all(rows: Sequence[Row]) -> Answer:
    """How many times longer whole partitions are, where all brokers are receivers."""
    own = where(rows, share=1.0)
    whole = cells(own, ("network", "size"), "whole")
    part = cells(own, ("network", "size"), "part")
    margins = {
        f"{case[0]} of {case[1]}": ratio(part[case], whole[case]) for case in whole
    }
    longer = {case: ratio(whole[case], part[case]) for case in whole}
    said = ", ".join(
        f"{case[0]} of {case[1]} {times_.words('.1f')}"
        for case, times_ in longer.items()
    )
    return all_below(margins, 0.5)._replace(found=f"times as long: {said}")


CLAIMS = (
    Claim(
        "E.7",
        "a header with the part that lies ahead names every receiver once on each link "
        "of its way",
        "receivers named in all packets against hops to all receivers, in every single "
        "run: equal",
        _once_a_link,
        {
            "one run names one more": one(times("part", 2)),
            "all are named everywhere": copied("part", "whole"),
        },
    ),
    Claim(
        "part",
        "for all brokers, the paper's whole partition is more than twice as long as "
        "the part that lies ahead",
        "receivers in all packets, part over whole, with its 95 % interval: below 0.5",
        _grows_with_all,
        {"as long": copied("whole", "part")},
        of=lambda rows: where(rows, share=1.0),
        about="all brokers are receivers",
        is_gating=False,
        seeds_min=2,
    ),
)


# --- Drawing --------------------------------------------------------------------


def draw(rows: Sequence[Row]) -> Figure:
    """Bits of a header, for each kind of network; and the mean distance."""
    figure, axes = panels(3, 1)
    for drawing, kind in zip(axes, KINDS, strict=False):
        own = where(rows, network=kind)
        largest = max(integer(row, "size") for row in own)
        for style, (column, words) in enumerate(
            (("part", "the part ahead"), ("whole", "the whole partition"))
        ):
            bits = [
                {**row, "bits": number(row, "each") * number(row, "identifier_bits")}
                for row in _each(where(own, size=largest), column)
            ]
            line(drawing, curve_of(bits, "receivers", "bits"), words, style)
        ends = sorted({number(row, "receivers") for row in where(own, size=largest)})
        small = dict.fromkeys((ends[0], ends[-1]), float(NOTIFICATION_BITS))
        formula(drawing, small, "a notification of 100 bytes")
        title = f"Header, {kind} network of {largest}"
        finish(drawing, title, "receivers", "bits in a packet, mean", log="xy")
    for style, kind in enumerate(KINDS):
        own = where(rows, network=kind)
        everyone = _each(where(own, share=1.0), "part")
        line(axes[2], curve_of(everyone, "size", "each"), f"{kind}: named", 2 * style)
        far = curve_of(own, "size", "distance")
        line(axes[2], far, f"{kind}: mean distance", 2 * style + 1)
    finish(axes[2], "All are receivers", "brokers", "receivers, links", log="x")
    from_zero(axes[2])
    return figure


STUDY = Study(
    name="headers",
    title="How large headers of receivers are",
    paper="TR 2006/05, section 3.4",
    says="Dynamic receiver partitioning stores least, and sends receivers along; the "
    "paper does not say how much that is.",
    shape="The part ahead grows with the receivers to the mean distance and no "
    "further; the whole partition goes on.",
    caption="Bits of a packet's header, averaged over all packets, against the "
    "receivers of a notification, where packets name the receivers that lie ahead, "
    "and where they have the whole partition, as the paper defines it; both axes "
    "logarithmic. Last: receivers that a packet names where everybody is one, and the "
    "mean distance of two brokers, against the number of brokers.",
    parameters=(
        Parameter("networks", "random and power law, up to 400 brokers", "ours"),
        Parameter("receivers", "one broker to all", "ours"),
        Parameter("identifier", "logarithm of the brokers, in bits", "stated"),
        Parameter("notifications", f"{NOTIFICATIONS} in each network", "ours"),
    ),
    run=name_receivers,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 5, "quick": 3, "test": 2},
    remark="That a packet names no more receivers on average than two brokers are "
    "apart follows of E.7, and is not asked: receivers are named once on every link of "
    "their ways, and a packet comes to each on the last.",
)
