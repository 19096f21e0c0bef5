"""What routing schemes store in networks of thousands of brokers.

x: brokers.  y: bits that all of them store together, for PSF, iPS, PIF and DRP, with
the paper's formulas beside them; and what PIF sends, compared with PSF.  Every broker
publishes, and wants something that no other wants.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import every
from siena.research.studies.framework.drawing import finish, formula, line, panels
from siena.research.studies.framework.rows import (
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
from siena.research.studies.runs.scheme_counts import count_schemes

KINDS = ("random", "power law", "transit-stub")
BROKERS = {"full": (100, 300, 1000, 2000), "quick": (100, 300), "test": (20, 100)}
# Above this, one seed.
SEEDS_MAX = 1000
SCHEMES = ("PSF", "iPS", "PIF", "DRP")
GOLDEN = {"PSF": 332, "iPS": 255, "PIF": 132}


def plan(size: Size, seeds: int) -> list[Row]:
    """N12, and drawn networks."""
    example: Row = {"network": "N12", "brokers": 12, "seed": 1}
    return [example] + [
        {"network": kind, "brokers": n, "seed": seed}
        for n in BROKERS[size]
        for kind in KINDS
        for seed in among(seeds)
        if seed == 1 or n <= SEEDS_MAX
    ]


def check(rows: Sequence[Row]) -> list[Finding]:
    """T-E8; the formulas; and which scheme stores most."""
    (example,) = where(rows, network="N12")
    found = {name: integer(example, f"{name}_copies") for name in GOLDEN}
    drawn = [row for row in rows if row["network"] != "N12"]
    words = ", ".join(f"{name} {copies}" for name, copies in found.items())
    return [
        Finding("T-E8", "N12: copies as in the schemes", found == GOLDEN, words),
        _formula(rows, "PSF", "E.4", 0.05),
        _formula(rows, "DRP", "E.7", 0.05),
        every(
            "E.6",
            "the formula of PIF is a bound from above",
            {
                _case(row): number(row, "PIF_bits") / number(row, "PIF_formula")
                for row in rows
            },
        ),
        _order(drawn),
        _in_vain(drawn),
    ]


def _formula(rows: Sequence[Row], scheme: str, claim: str, within: float) -> Finding:
    margins = {
        _case(row): abs(number(row, f"{scheme}_bits") / formula_bits - 1) / within
        for row in rows
        if (formula_bits := number(row, f"{scheme}_formula"))
        # With few brokers, what a broker does not tell itself matters.
        and number(row, "size") >= 50
    }
    says = f"the formula of {scheme} gives the bits, within {within:.0%}"
    return every(claim, says, margins)


def _order(rows: Sequence[Row]) -> Finding:
    margins = {}
    for row in rows:
        copies = [number(row, f"{scheme}_copies") for scheme in SCHEMES]
        psf, ips, pif, _ = copies
        margins[f"iPS, {_case(row)}"] = ips / (psf + 1)
        margins[f"PIF, {_case(row)}"] = pif / (ips + 1)
    says = "PSF stores no fewer predicates than iPS, and iPS no fewer than PIF"
    return every("E.5", says, margins)


def _in_vain(rows: Sequence[Row]) -> Finding:
    ratios = {_case(row): _ratio(row) for row in rows}
    worst = max(ratios, key=lambda case: ratios[case])
    says = "PIF sends no less than PSF, which sends nothing in vain"
    words = f"up to {ratios[worst]:.2f} times as much ({worst})"
    return Finding("E.6", says, min(ratios.values()) >= 1, words)


def _ratio(row: Row) -> float:
    return number(row, "PIF_vertices") / number(row, "PSF_vertices")


def _case(row: Row) -> str:
    return f"{row['network']} of {row['size']} (seed {row['seed']})"


def draw(rows: Sequence[Row]) -> Figure:
    """Bits for each kind of network, and what PIF sends."""
    figure, axes = panels(2, 2)
    for each, kind in zip(axes, KINDS, strict=False):
        own = where(rows, network=kind)
        in_mib = [
            {
                **row,
                **{f"{s}_mib": number(row, f"{s}_bits") / 8 / 2**20 for s in SCHEMES},
                "mib": number(row, "PSF_formula") / 8 / 2**20,
            }
            for row in own
        ]
        for style, scheme in enumerate(SCHEMES):
            line(each, curve(in_mib, "size", f"{scheme}_mib"), scheme, style)
        formula(each, curve(in_mib, "size", "mib"), "formula of PSF")
        title = f"Memory, {kind} networks"
        finish(each, title, "brokers", "all brokers together, MiB", log="xy")
    for style, kind in enumerate(KINDS):
        own = [{**row, "ratio": _ratio(row)} for row in where(rows, network=kind)]
        if len(distinct(own, "size")):
            line(axes[3], curve(own, "size", "ratio"), kind, style)
    title = "Messages of PIF, for 1 to 4 receivers"
    finish(axes[3], title, "brokers", "vertices / those of PSF", log="x")
    return figure


STUDY = Study(
    name="memory",
    title="Memory of routing schemes in large networks",
    paper="TR 2006/05, section 3",
    says="PSF takes memory for every source and every hop; iPS less, where sources "
    "cannot be told apart; PIF one table for each interface; DRP all predicates at "
    "every sender.",
    shape="PSF on its formula, and the steepest; PIF and DRP the least.",
    parameters=(
        Parameter("networks", "random, power law, transit-stub", "ours"),
        Parameter("brokers", "up to 2,000", "ours"),
        Parameter("interests", "one filter at each broker, all different", "ours"),
        Parameter("size of a predicate", "its text, in bits", "ours"),
        Parameter("notifications", "100 in each network, for 1 to 4 brokers", "ours"),
    ),
    run=count_schemes,
    plan=plan,
    check=check,
    draw=draw,
    seeds={"full": 2, "quick": 1, "test": 1},
    remark="Nothing is stored here: what the schemes would store is counted, which is "
    "the same on small networks (study schemes). Every interest is of its own, so "
    "nothing is gained by disjunction; figures 5 to 7 say what would be.",
)
