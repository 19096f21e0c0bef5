"""What routing schemes store in networks of thousands of brokers.

x: brokers.  y: bits that all of them store together, for PSF, iPS, PIF and DRP, with
the paper's formulas beside them; and what PIF sends, compared with PSF.  Every broker
publishes, and wants something that no other wants.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    decided,
    undecided,
    weakest,
)
from siena.research.studies.framework.intervals import (
    all_below,
    all_between,
    cells,
    curve_of,
    of_means,
)
from siena.research.studies.framework.rows import Row, curve, integer, number, where
from siena.research.studies.framework.spoils import constant, copied, each, times
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import finish, formula, line, panels
from siena.research.studies.runs.schemes.counts import count_schemes

KINDS = ("random", "power law", "transit-stub")
BROKERS = {"full": (100, 300, 1000, 2000), "quick": (100, 300), "test": (20, 100)}
SCHEMES = ("PSF", "iPS", "PIF", "DRP")
# Beside predicates, tables hold identifiers, which grow otherwise.
BY_PATHS = 0.05
GOLDEN = {"PSF": 332, "iPS": 255, "PIF": 132}


def plan(size: Size, seeds: int) -> list[Row]:
    """N12, and drawn networks."""
    example: Row = {"network": "N12", "brokers": 12, "seed": 1}
    return [example] + [
        {"network": kind, "brokers": n, "seed": seed}
        for n in BROKERS[size]
        for kind in KINDS
        for seed in among(seeds)
    ]


# --- Claims ---------------------------------------------------------------------


def _golden(rows: Sequence[Row]) -> Answer:
    (example,) = {
        tuple(integer(row, f"{name}_copies") for name in GOLDEN) for row in rows
    }
    found = dict(zip(GOLDEN, example, strict=True))
    words = ", ".join(f"{name} {copies}" for name, copies in found.items())
    return decided(found == GOLDEN, words)


def _order(rows: Sequence[Row]) -> Answer:
    wrong = 0
    for row in rows:
        psf, ips, pif = (number(row, f"{scheme}_copies") for scheme in SCHEMES[:3])
        wrong += not psf >= ips >= pif > 0
    return decided(not wrong, f"{len(rows) - wrong} of {len(rows)} networks")


def _steepest(rows: Sequence[Row]) -> Answer:
    """Growth with the brokers, for each kind of network, beside that of the paths."""
    margins, said = {}, {}
    for kind in KINDS:
        own: list[Row] = [
            {**row, "length": number(row, "hops") / _pairs(row)}
            for row in where(rows, network=kind)
        ]
        columns = ("PSF_bits", "PIF_bits", "length")
        known = [cells(own, ("size",), column) for column in columns]
        first, last = min(known[0]), max(known[0])
        if first == last:
            return undecided("needs two sizes of networks")
        ends = [of[size] for of in known for size in (first, last)]
        # How much more PIF grows than PSF: below 1 where PSF grows more.
        margins[kind] = of_means(lambda a, b, c, d, *_: (d / c) / (b / a), *ends)
        said[kind] = of_means(
            lambda a, b, c, d, e, f: (b / a) / (d / c) / (f / e), *ends
        )
    found = (
        f"{kind} {1 / margins[kind].value:.2f}, over that of paths {part.words()}"
        for kind, part in said.items()
    )
    words = f"PSF grows by so many times more than PIF: {'; '.join(found)}"
    answer = weakest(all_below(margins), all_between(said, 1 - BY_PATHS, 1 + BY_PATHS))
    return answer._replace(found=words)


def _pairs(row: Row) -> int:
    return integer(row, "size") * (integer(row, "size") - 1)


def _in_vain(rows: Sequence[Row]) -> Answer:
    ratios = {_case(row): _ratio(row) for row in rows}
    worst = max(ratios, key=lambda case: ratios[case])
    words = f"up to {ratios[worst]:.2f} times as much ({worst})"
    return decided(min(ratios.values()) >= 1 and ratios[worst] > 1, words)


def _ratio(row: Row) -> float:
    return number(row, "PIF_vertices") / number(row, "PSF_vertices")


def _case(row: Row) -> str:
    return f"{row['network']} of {row['size']} (seed {row['seed']})"


def drawn(rows: Sequence[Row]) -> list[Row]:
    """All networks but N12."""
    return [row for row in rows if row["network"] != "N12"]


CLAIMS = (
    Claim(
        "T-E8",
        "N12: copies as in the tables of the schemes",
        "copies counted: PSF 332, iPS 255, PIF 132, exactly",
        _golden,
        {f"{name} is 7": constant(f"{name}_copies", 7) for name in GOLDEN},
        of=lambda rows: where(rows, network="N12"),
        about="N12",
    ),
    Claim(
        "E.5",
        "PSF stores no fewer predicates than iPS, and iPS no fewer than PIF",
        "copies of predicates, in every single network",
        _order,
        {
            "PIF stores most": times("PIF_copies", 1e6),
            "none": constant("PSF_copies", 0),
        },
        of=drawn,
        about="drawn networks",
    ),
    Claim(
        "E.4",
        "PSF grows more with the brokers than PIF, by the mean length of paths, within "
        f"{BY_PATHS:.0%}",
        "growth of bits from the smallest to the largest networks, for each kind of "
        "network, with 95 % intervals: of PIF over that of PSF below 1; of PSF over "
        "that of PIF and that of the mean hops of a path between "
        f"{1 - BY_PATHS} and {1 + BY_PATHS}",
        _steepest,
        {
            "PSF stores what PIF does": copied("PSF_bits", "PIF_bits"),
            "paths are as long in all": each(lambda row: {"hops": _pairs(row)}),
        },
        of=drawn,
        about="drawn networks, by brokers",
    ),
    Claim(
        "E.6",
        "PIF sends no less than PSF, which sends nothing in vain, and more in some",
        "vertices of 100 delivery trees, in every single network",
        _in_vain,
        {
            "it sends less": times("PIF_vertices", 0.1),
            "as much": copied("PIF_vertices", "PSF_vertices"),
        },
        of=drawn,
        about="drawn networks",
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """Bits for each kind of network, and what PIF sends."""
    figure, axes = panels(2, 2)
    for each_, kind in zip(axes, KINDS, strict=False):
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
            line(each_, curve_of(in_mib, "size", f"{scheme}_mib"), scheme, style)
        formula(each_, curve(in_mib, "size", "mib"), "formula of PSF")
        title = f"Memory, {kind} networks"
        finish(each_, title, "brokers", "all brokers together, MiB", log="xy")
    for style, kind in enumerate(KINDS):
        own = [{**row, "ratio": _ratio(row)} for row in where(rows, network=kind)]
        line(axes[3], curve_of(own, "size", "ratio"), kind, style)
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
    caption="Memory of all brokers together against their number, for per-source "
    "forwarding (PSF, with its formula), indistinguishable sources (iPS), "
    "per-interface forwarding (PIF) and dynamic receiver partitioning (DRP, nearly the "
    "same as PIF), in three kinds of networks, both axes logarithmic; and how large "
    "the delivery trees of PIF are, compared with those of PSF.",
    parameters=(
        Parameter("networks", "random, power law, transit-stub", "ours"),
        Parameter("brokers", "up to 2,000", "ours"),
        Parameter("interests", "one filter at each broker, all different", "ours"),
        Parameter("size of a predicate", "its text, in bits", "ours"),
        Parameter("notifications", "100 in each network, for 1 to 4 brokers", "ours"),
    ),
    run=count_schemes,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 5, "quick": 1, "test": 1},
    remark="Nothing is stored here: what the schemes would store is counted. The "
    "formula of PSF is drawn, and no formula checked here, because count and formula "
    "are made of the same sums; the study schemes checks them against tables. Every "
    "interest is of its own, so nothing is gained by disjunction; figures 5 to 7 say "
    "what would be.",
)
