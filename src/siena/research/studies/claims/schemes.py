"""What routing schemes store: PSF, iPS, PIF and DRP of TR 2006/05.

x: brokers.  y: predicates that all brokers store together, each counted as often as it
is.  Every broker publishes, and every broker wants something that no other wants, so
that nothing is gained by disjunction.  Beside it: how large delivery trees are,
compared with the ideal.
"""

from collections.abc import Callable, Sequence
from statistics import fmean

from matplotlib.figure import Figure

from siena.research.schemes.memory import drp_bits, psf_bits, text_bits
from siena.research.studies.framework.claim import (
    Answer,
    Claim,
    Decide,
    Select,
    decided,
    having,
)
from siena.research.studies.framework.intervals import curve_of
from siena.research.studies.framework.rows import Row, curve, integer, number, where
from siena.research.studies.framework.spoils import constant, each, one, only, times
from siena.research.studies.framework.study import Parameter, Size, Study, among, listed
from siena.research.studies.reporting.drawing import finish, formula, line, panels
from siena.research.studies.runs.networks import SCHEMES, assess_scheme, wants

EXAMPLES = (("N12", 12), ("N12t", 12), ("N4", 4))
DRAWN = ("tree", "random", "power law", "transit-stub")
BROKERS = {"full": (12, 24, 48, 96), "quick": (12, 24, 48), "test": (12, 24)}
# With few brokers, what a broker does not tell itself matters.
WITHIN, LARGE = 0.05, 24
GOLDEN = {"PSF": 332, "iPS": 255, "PIF": 132}


def plan(size: Size, seeds: int) -> list[Row]:
    """The papers' networks, and drawn ones of several sizes."""
    networks = [(name, n, 1) for name, n in EXAMPLES] + [
        (kind, n, seed)
        for n in BROKERS[size]
        for kind in DRAWN
        for seed in among(seeds)
    ]
    return [
        {"network": network, "brokers": n, "scheme": scheme, "seed": seed}
        for network, n, seed in networks
        for scheme in SCHEMES
    ]


# --- Claims ---------------------------------------------------------------------


def _golden(rows: Sequence[Row]) -> Answer:
    found = {str(row["scheme"]): integer(row, "copies") for row in rows}
    words = ", ".join(f"{name} {found[name]}" for name in GOLDEN)
    return decided({name: found[name] for name in GOLDEN} == GOLDEN, words)


def _correct(rows: Sequence[Row]) -> Answer:
    wrong = sum(not row["is_correct"] or row["stretch"] != 1 for row in rows)
    return decided(not wrong, f"{len(rows) - wrong} of {len(rows)}")


def _hops(rows: Sequence[Row]) -> Answer:
    away = max(abs(number(row, "copies") - number(row, "hops")) for row in rows)
    least = min(number(row, "copies") for row in rows)
    return decided(away == 0 < least, f"{away:.0f} away at most")


def _formula(bits: Callable[[Row, int], float]) -> Decide:
    """What tables hold against what the paper's formula says they do."""

    def decide(rows: Sequence[Row]) -> Answer:
        away = {}
        for row in rows:
            n = integer(row, "size")
            size = fmean(text_bits(f) for b in range(1, n + 1) for f in wants(b))
            away[_case(row)] = abs(number(row, "bits") / bits(row, round(size)) - 1)
        worst = max(away, key=lambda case: away[case])
        return decided(
            away[worst] <= WITHIN, f"{away[worst]:.1%} away at most ({worst})"
        )

    return decide


def _psf(row: Row, predicate: int) -> float:
    n, hops = integer(row, "size"), integer(row, "hops")
    return psf_bits(brokers=n, senders=n, hops=hops, predicate=predicate)


def _drp(row: Row, predicate: int) -> float:
    n = integer(row, "size")
    return drp_bits(brokers=n, senders=n, receivers=n, predicate=predicate)


def by_scheme(rows: Sequence[Row], column: str) -> dict[str, dict[str, float]]:
    """A column by network, then by scheme."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        found.setdefault(_case(row), {})[str(row["scheme"])] = number(row, column)
    return found


def _in_all(column: str, is_so: Callable[[dict[str, float]], bool]) -> Decide:
    def decide(rows: Sequence[Row]) -> Answer:
        known = by_scheme(rows, column)
        wrong = [case for case, of in known.items() if not is_so(of)]
        words = (
            f"but for {', '.join(wrong)}" if wrong else f"in all {len(known)} networks"
        )
        return decided(not wrong, words)

    return decide


def _same_trees(rows: Sequence[Row]) -> Answer:
    psf, ips = (
        {_case(row): row["trees"] for row in where(rows, scheme=scheme)}
        for scheme in ("PSF", "iPS")
    )
    other = [case for case, trees in psf.items() if ips[case] != trees]
    words = f"but for {', '.join(other)}" if other else f"in all {len(psf)} networks"
    return decided(not other, words)


def _pif_pays(rows: Sequence[Row]) -> Answer:
    """In no network less, in trees as much, and in other kinds of networks more."""
    more, others = 0, 0
    is_so = True
    for kind in dict.fromkeys(str(row["network"]) for row in rows):
        known = by_scheme(where(rows, network=kind), "vertices").values()
        less = sum(of["PIF"] < of["PSF"] for of in known)
        own = sum(of["PIF"] > of["PSF"] for of in known)
        is_so &= not less and (own == 0 if kind == "tree" else own > 0)
        if kind != "tree":
            more, others = more + own, others + len(known)
    return decided(is_so, f"more in {more} of {others} networks that are no trees")


def _ideal(rows: Sequence[Row]) -> Answer:
    costs = [number(row, "cost") for row in rows]
    words = f"{max(costs):.3f} times the ideal at most, in {len(costs)} networks"
    return decided(all(cost == 1 for cost in costs), words)


def _case(row: Row) -> str:
    return f"{row['network']} of {row['size']} (seed {row['seed']})"


def _of_scheme(scheme: str, least: int = 0) -> Select:
    return lambda rows: [
        r for r in where(rows, scheme=scheme) if number(r, "size") >= least
    ]


def _is(scheme: str) -> Callable[[Row], bool]:
    return lambda row: row["scheme"] == scheme


_one_more = each(lambda r: {"copies": integer(r, "copies") + 1})
CLAIMS = (
    Claim(
        "T-E8",
        "N12: copies of predicates are PSF 332, iPS 255, PIF 132",
        "copies in the tables of all brokers: exactly these",
        _golden,
        {"one more": _one_more, "always 7": constant("copies", 7)},
        of=lambda rows: where(rows, network="N12"),
        about="N12",
    ),
    Claim(
        "E.3",
        "all schemes reach all who are interested, on shortest paths",
        "30 notifications in every single network",
        _correct,
        {
            "one misses somebody": one(constant("is_correct", False)),
            "one takes a detour": one(constant("stretch", 1.5)),
        },
    ),
    Claim(
        "E.4",
        "PSF stores as many predicates as the paths of all pairs have hops",
        "copies in the tables against hops on the trees, in every single network: "
        "equal",
        _hops,
        {
            "one more": _one_more,
            "none at all": each(lambda _: {"copies": 0, "hops": 0}),
        },
        of=_of_scheme("PSF"),
        about="PSF",
    ),
    Claim(
        "E.4",
        f"the bits in PSF's tables are those of the paper's formula, within "
        f"{WITHIN:.0%}",
        "bits of the tables as they stand in brokers against the formula, in every "
        f"single network of {LARGE} brokers or more",
        _formula(_psf),
        {"a tenth more": times("bits", 1.1)},
        of=_of_scheme("PSF", LARGE),
        about=f"PSF, {LARGE} brokers or more",
    ),
    Claim(
        "E.7",
        f"the bits in DRP's tables are those of the paper's formula, within "
        f"{WITHIN:.0%}",
        "bits of the tables as they stand in brokers against the formula, in every "
        f"single network of {LARGE} brokers or more",
        _formula(_drp),
        {"a tenth more": times("bits", 1.1)},
        of=_of_scheme("DRP", LARGE),
        about=f"DRP, {LARGE} brokers or more",
    ),
    Claim(
        "E.5",
        "PSF stores no less than iPS, and iPS no less than PIF",
        "copies of predicates, in every single network",
        _in_all("copies", lambda of: of["PSF"] >= of["iPS"] >= of["PIF"] > 0),
        {
            "PIF stores most": only(_is("PIF"), times("copies", 9)),
            "none": constant("copies", 0),
        },
    ),
    Claim(
        "E.5",
        "iPS delivers on the trees of PSF",
        "the ways to all vertices of 30 delivery trees, in every single network: the "
        "same ones",
        _same_trees,
        {
            "iPS takes one more": only(_is("iPS"), constant("trees", "others")),
            "one network differs": only(
                lambda row: row["scheme"] == "iPS" and row["network"] == "N12",
                constant("trees", "others"),
            ),
        },
    ),
    Claim(
        "E.6",
        "PIF sends no less than PSF, as much in trees, and more in networks with "
        "cycles, of every kind",
        "vertices of 30 delivery trees together: never fewer, as many in every tree, "
        "and more in some network of every other kind",
        _pif_pays,
        {
            "PIF sends less": only(_is("PIF"), times("vertices", 0.9)),
            "all send the same": constant("vertices", 99),
            "PIF sends more in trees": only(
                lambda row: row["network"] == "tree" and row["scheme"] == "PIF",
                times("vertices", 1.01),
            ),
            "PIF sends no more in one kind": only(
                lambda row: row["network"] == "random", constant("vertices", 99)
            ),
        },
        of=lambda rows: [row for row in rows if row["scheme"] in {"PIF", "PSF"}],
        about="PIF and PSF",
    ),
    Claim(
        "E.4.1",
        "PSF is ideal where shortest paths are unique",
        "vertices of delivery trees over those of the ideal ones: 1",
        _ideal,
        {"one more": times("cost", 1.01)},
        of=having(
            lambda row: row["network"] in {"N12", "tree"} and row["scheme"] == "PSF"
        ),
        about="PSF, N12 and trees, whose shortest paths are unique",
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """Stored predicates, for each kind of network; and delivery trees."""
    figure, axes = panels(3, 2)
    for drawing, kind in zip(axes, DRAWN, strict=False):
        own = where(rows, network=kind)
        for style, scheme in enumerate(SCHEMES):
            points = curve_of(where(own, scheme=scheme), "size", "copies")
            line(drawing, points, scheme, style)
        formula(drawing, curve(where(own, scheme="PSF"), "size", "hops"), "sum of hops")
        title = f"Memory, {kind} networks"
        finish(drawing, title, "brokers", "predicates stored", log="xy")
    for style, scheme in enumerate(SCHEMES):
        own = [r for r in where(rows, scheme=scheme) if r["network"] in DRAWN]
        # No tree is smaller than the ideal, whatever few seeds leave possible.
        trees = {
            size: cost._replace(low=max(cost.low, 1.0))
            for size, cost in curve_of(own, "size", "cost").items()
        }
        line(axes[4], trees, scheme, style)
        line(axes[5], curve_of(own, "size", "identifier_bits"), scheme, style)
    finish(axes[4], "Delivery trees", "brokers", "vertices / ideal", log="x")
    finish(axes[5], "Identifiers and flags", "brokers", "bits", log="xy")
    return figure


STUDY = Study(
    name="schemes",
    title="Memory and cost of routing schemes",
    paper="TR 2006/05, sections 2 and 3",
    says="Per-source forwarding is ideal and stores the most; sources that cannot be "
    "told apart (iPS) and tables by interface (PIF) take less. PIF pays with useless "
    "messages; DRP moves the memory to senders and headers.",
    shape="PSF above iPS above PIF; PIF alone well above 1 where trees are compared.",
    caption="Predicates that all brokers store together against the number of brokers, "
    "for per-source forwarding (PSF), indistinguishable sources (iPS), per-interface "
    "forwarding (PIF) and dynamic receiver partitioning (DRP, which stores as many as "
    "PIF) in four kinds of networks; and, of all four together, the size of delivery "
    "trees over the ideal, and bits of identifiers. All axes but that of the trees are "
    "logarithmic.",
    parameters=(
        Parameter("networks", "N12, N12t, N4; drawn ones", "figures 1 to 4; ours"),
        Parameter("brokers", f"drawn: {listed(BROKERS['full'])}", "ours"),
        Parameter("random", "a tree, and half as many links as brokers", "ours"),
        Parameter("power law", "2 links for a new broker", "ours"),
        Parameter("transit-stub", "4 transit brokers, a stub at each", "ours"),
        Parameter("interests", "one filter at each broker, all different", "ours"),
        Parameter("notifications", "30 in each network, for 1 to 4 brokers", "ours"),
    ),
    run=assess_scheme,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 3, "quick": 2, "test": 1},
    remark="Where shortest paths are not unique, as in N12t, PSF and DRP may be above "
    "the ideal too: the paper's claim that PSF is ideal needs unique paths (erratum "
    "E12).",
)
