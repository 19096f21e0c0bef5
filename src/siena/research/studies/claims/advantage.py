"""What disjunction saves in the tables of routing schemes, and what formulas say of it.

x: brokers.  y: constraints that all brokers hold together, without covered filters, for
PSF, iPS and PIF, and the paper's n r M alpha(r/Δ) with alpha measured on sets of r/Δ
brokers.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    Decide,
    Select,
    decided,
    undecided,
)
from siena.research.studies.framework.intervals import (
    all_below,
    cells,
    curve_of,
    of_means,
    ratio,
)
from siena.research.studies.framework.rows import Row, number, where
from siena.research.studies.framework.spoils import constant, each, one, times
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import (
    finish,
    from_zero,
    line,
    panels,
)
from siena.research.studies.runs.schemes.advantage import (
    NAMES,
    SETS,
    STORING,
    with_advantage,
)

KINDS = ("tree", "power law", "transit-stub")
BROKERS = {"full": (12, 24, 48, 96), "quick": (12, 24, 48), "test": (12, 24)}
FILTERS = 20
# A constant factor is one that does not grow: by more than this it does.
GROWS = 1.1


def plan(size: Size, seeds: int) -> list[Row]:
    """Three kinds of networks of several sizes."""
    return [
        {"network": kind, "brokers": n, "filters": FILTERS, "seed": seed}
        for n in BROKERS[size]
        for kind in KINDS
        for seed in among(seeds)
    ]


# --- Claims ---------------------------------------------------------------------


def _bound(formula: str) -> Decide:
    def decide(rows: Sequence[Row]) -> Answer:
        shares = [number(row, "PIF_left") / number(row, formula) for row in rows]
        words = f"{min(shares):.2f} to {max(shares):.2f} of it"
        return decided(0 < min(shares) <= max(shares) <= 1, words)

    return decide


def _of_its_order(scheme: str) -> Decide:
    """Whether what is held, over the formula, does not grow with the brokers."""

    def decide(rows: Sequence[Row]) -> Answer:
        margins, said = {}, []
        for kind in dict.fromkeys(str(row["network"]) for row in rows):
            own = where(rows, network=kind)
            held = cells(own, ("size",), f"{scheme}_left")
            known = cells(own, ("size",), "formula")
            first, last = min(held), max(held)
            if first == last:
                return undecided("needs two sizes of networks")
            four = (held[first], known[first], held[last], known[last])
            margins[kind] = of_means(lambda a, b, c, d: (c / d) / (a / b), *four)
            ends = [ratio(held[size], known[size]).words() for size in (first, last)]
            said.append(f"{kind}: from {ends[0]} to {ends[1]} of it")
        return all_below(margins, GROWS)._replace(found="; ".join(said))

    return decide


def _order(rows: Sequence[Row]) -> Answer:
    wrong = 0
    for row in rows:
        psf, ips, pif = (number(row, f"{scheme}_left") for scheme in STORING)
        wrong += not psf >= ips >= pif > 0
    return decided(not wrong, f"{len(rows) - wrong} of {len(rows)} networks")


def share_left(
    rows: Sequence[Row], scheme: str
) -> dict[tuple[str, int], dict[int, float]]:
    """What is left of the tables of a scheme, by network and size, then by seed."""
    own: list[Row] = [
        {
            **row,
            "share": number(row, f"{scheme}_left") / number(row, f"{scheme}_all"),
        }
        for row in rows
    ]
    known = cells(own, ("network", "size"), "share")
    return {(str(kind), int(str(n))): known[kind, n] for kind, n in known}


def _gains_most(rows: Sequence[Row]) -> Answer:
    most, least = (share_left(rows, scheme) for scheme in ("PIF", "PSF"))
    margins = {
        f"{kind} of {n}": ratio(most[kind, n], least[kind, n]) for kind, n in most
    }
    return all_below(margins)


def _kind(kind: str) -> Select:
    return lambda rows: where(rows, network=kind)


_growing = each(
    lambda row: {
        f"{scheme}_left": number(row, "formula") * number(row, "size")
        for scheme in STORING
    }
)
_constant = each(
    lambda row: {f"{scheme}_left": number(row, "formula") for scheme in STORING}
)
CLAIMS = (
    Claim(
        "E.6",
        "PIF holds no more than its formula with the measured alpha(r/Δ)",
        "constraints left in tables over n r M alpha(r/Δ), in every single network: at "
        "most 1",
        _bound("formula"),
        {"ten times as much": times("PIF_left", 10), "none": constant("PIF_left", 0)},
    ),
    Claim(
        "E.6",
        "nor more than the same with alpha(r/deg u), broker by broker",
        "constraints left in tables over r M Σ alpha(r/deg u), in every single "
        "network: at most 1",
        _bound("formula_by_broker"),
        {"ten times as much": times("PIF_left", 10), "none": constant("PIF_left", 0)},
        {"half of it": times("PIF_left", 0.1)},
        why="Neighbours do not part receivers evenly: many small sets and a large one "
        "save less than as many of equal size.",
        is_gating=False,
    ),
    Claim(
        "E.5",
        "in a tree, iPS holds at most n r M alpha(r/Δ) times a constant",
        "what is left over the formula, in the largest networks over the smallest, "
        f"with its 95 % interval: at most {GROWS}",
        _of_its_order("iPS"),
        {"it grows with the brokers": _growing},
        {"it is the formula": _constant},
        of=_kind("tree"),
        about="trees",
        is_gating=False,
        seeds_min=5,
    ),
    Claim(
        "E.5",
        "PSF holds no less than iPS, and iPS no less than PIF, also where covered "
        "filters are dropped",
        "constraints left in tables, in every single network",
        _order,
        {
            "PIF holds most": times("PIF_left", 1e6),
            "one network": one(times("iPS_left", 1e6)),
        },
    ),
    Claim(
        "gain",
        "disjunction saves a larger share of PIF's tables than of PSF's",
        "share left of PIF's tables over that of PSF's, with its 95 % interval: below "
        "1 in every case",
        _gains_most,
        {
            "as large": each(
                lambda row: {"PIF_left": row["PIF_all"], "PSF_left": row["PSF_all"]}
            )
        },
        about="by network and brokers",
        is_gating=False,
        seeds_min=5,
    ),
)


# --- Drawing --------------------------------------------------------------------


def draw(rows: Sequence[Row]) -> Figure:
    """Held and formulas for each kind of network, and shares that are left."""
    figure, axes = panels(2, 2)
    for drawing, kind in zip(axes, KINDS, strict=False):
        own = where(rows, network=kind)
        for style, scheme in enumerate(STORING):
            points = curve_of(own, "size", f"{scheme}_left")
            line(drawing, points, scheme, style)
        line(drawing, curve_of(own, "size", "formula"), "n r M alpha(r/Δ)", 6)
        words = "r M Σ alpha(r/deg u)"
        line(drawing, curve_of(own, "size", "formula_by_broker"), words, 4)
        title = f"Memory, {kind} networks"
        finish(drawing, title, "brokers", "constraints held", log="xy")
    for style, scheme in enumerate(STORING):
        left = [
            {
                **row,
                "share": 100
                * number(row, f"{scheme}_left")
                / number(row, f"{scheme}_all"),
            }
            for row in where(rows, network="power law")
        ]
        line(axes[3], curve_of(left, "size", "share"), scheme, style)
    title = "What covering leaves, power law"
    finish(axes[3], title, "brokers", "constraints, % of all", log="x")
    from_zero(axes[3])
    return figure


STUDY = Study(
    name="advantage",
    title="What disjunction saves in tables",
    paper="TR 2006/05, sections 3 and 4",
    says="Tables that hold many predicates hold some that others cover. The formulas "
    "of iPS in trees and of PIF take account of it by alpha(r/Δ), and the paper "
    "measures alpha by itself.",
    shape="PIF below its formula; PSF and iPS above PIF, and saving less.",
    caption="Constraints in the tables of all brokers, without filters that others in "
    "the same table cover, against the number of brokers, for per-source forwarding "
    "(PSF), indistinguishable sources (iPS) and per-interface forwarding (PIF), and "
    "the formula of PIF with the alpha that sets of r/Δ receivers have, and with that "
    "of r/deg u, broker by broker; three kinds of networks, both axes logarithmic. "
    "Last: the share of constraints that is left, in power-law networks.",
    parameters=(
        Parameter("networks", "trees, power law, transit-stub", "ours"),
        Parameter(
            "interests", f"{FILTERS} filters of W-TR0605 at each broker", "stated; ours"
        ),
        Parameter("names", f"{NAMES}, equally likely", "as figure 7"),
        Parameter("size of a filter", "its constraints", "stated"),
        Parameter("alpha", f"mean of {SETS} sets of brokers, drawn anew", "ours"),
    ),
    run=with_advantage,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 10, "quick": 5, "test": 2},
    remark="The printed formula of PIF multiplies by the brokers once too often "
    "(erratum E11); here it is as the terms for one broker add up. In a tree iPS has a "
    "class for each neighbour and holds at each what lies in all other directions, "
    "before covering twice as much as PIF on average: a constant that orders of growth "
    "leave out.",
)
