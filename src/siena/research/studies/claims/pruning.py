"""CBCB: what does stopping advertisements that are known already lose?

x: brokers.  Left: the share of deliveries that are not made, after all advertisements
have arrived and before any broker has asked.  Right: advertisements sent.  With the
paper's pruning, without it, and with it after every broker has sent a request.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.framework.claim import Answer, Claim, decided
from siena.research.studies.framework.intervals import curve_of
from siena.research.studies.framework.rows import Row, integer, number, where
from siena.research.studies.framework.spoils import constant, one, only
from siena.research.studies.framework.study import Parameter, Size, Study, among, listed
from siena.research.studies.reporting.drawing import (
    finish,
    from_zero,
    line,
    panels,
)
from siena.research.studies.runs.cbcb import prune

BROKERS = {"full": (10, 20, 40, 80), "quick": (10, 20, 40), "test": (10, 20)}
NETWORKS = ("power law", "waxman")
# Prunes, and who is asked.
WAYS: dict[str, tuple[bool, str]] = {
    "pruned, as in the paper": (True, "never"),
    "not pruned": (False, "never"),
    "pruned, then all are asked": (True, "all"),
    "pruned, then asked where something is known": (True, "known"),
}
EXAMPLE = "T-C20"


def plan(size: Size, seeds: int) -> list[Row]:
    """The counterexample, and networks of two kinds."""
    networks = [(EXAMPLE, 4, 1)] + [
        (network, brokers, seed)
        for brokers in BROKERS[size]
        for network in NETWORKS
        for seed in among(seeds)
    ]
    return [
        {"network": network, "brokers": n, "prunes": prunes, "asks": asks, "seed": seed}
        for network, n, seed in networks
        for prunes, asks in WAYS.values()
    ]


# --- Claims ---------------------------------------------------------------------


def _sum(rows: Sequence[Row], name: str) -> float:
    return sum(number(row, name) for row in rows)


def _counterexample(rows: Sequence[Row]) -> Answer:
    found = {
        (bool(row["prunes"]), str(row["asks"])): integer(row, "missing") for row in rows
    }
    expected = {
        (True, "never"): 1,
        (False, "never"): 0,
        (True, "all"): 0,
        (True, "known"): 1,
    }
    words = ", ".join(f"{way}: {found[key]}" for way, key in WAYS.items())
    return decided(found == expected, words)


def _all_once(rows: Sequence[Row]) -> Answer:
    missing, twice = _sum(where(rows, prunes=False), "missing"), _sum(rows, "twice")
    expected = _sum(where(rows, prunes=False), "expected")
    words = f"{missing:,.0f} of {expected:,.0f} missing, {twice:,.0f} twice"
    return decided(missing == twice == 0 < expected, words)


def _repaired(rows: Sequence[Row]) -> Answer:
    missing, expected = _sum(rows, "missing"), _sum(rows, "expected")
    words = f"{missing:,.0f} of {expected:,.0f} missing after it"
    return decided(missing == 0 < expected, words)


def _loses_nothing(rows: Sequence[Row]) -> Answer:
    pruned = where(rows, prunes=True)
    whole = where(rows, prunes=False)
    lost = [row for row in pruned if number(row, "missing")]
    saved = 1 - _sum(pruned, "advertisements") / _sum(whole, "advertisements")
    words = (
        f"{len(lost)} of {len(pruned)} networks lose something: "
        f"{_sum(pruned, 'missing') / _sum(pruned, 'expected'):.1%} of deliveries, "
        f"to save {saved:.0%} of the advertisements"
    )
    return decided(not lost, words)


def drawn(rows: Sequence[Row]) -> list[Row]:
    """All networks but the counterexample."""
    return [row for row in rows if row["network"] != EXAMPLE]


CLAIMS = (
    Claim(
        EXAMPLE,
        "four brokers: pruning loses a delivery; asking all repairs it, asking only "
        "where something is known does not",
        "deliveries missing, for each way: 1, 0, 0 and 1",
        _counterexample,
        {"always two": constant("missing", 2), "none": constant("missing", 0)},
        of=lambda rows: where(rows, network=EXAMPLE),
        about="the network of T-C20",
    ),
    Claim(
        "T-C21",
        "without pruning, every broker gets everything, once",
        "deliveries missing and made twice, of all networks: none",
        _all_once,
        {
            "one network loses one": only(
                lambda r: r["prunes"] is False, constant("missing", 1)
            ),
            "something comes twice": constant("twice", 1),
            "nothing was expected": constant("expected", 0),
        },
        of=drawn,
        about="drawn networks",
    ),
    Claim(
        "C.5.4",
        "what pruning lost is found when all neighbours are asked",
        "deliveries missing after it, of all networks: none",
        _repaired,
        {"one network loses one": one(constant("missing", 1))},
        of=lambda rows: where(drawn(rows), asks="all"),
        about="drawn networks, all are asked",
    ),
    Claim(
        "C.5.3",
        "the paper's pruning loses nothing",
        "networks in which a delivery is missing: none",
        _loses_nothing,
        {"one is missing": constant("missing", 1)},
        {"none is missing": constant("missing", 0)},
        of=lambda rows: where(drawn(rows), asks="never"),
        about="drawn networks, pruned as in the paper, and not pruned",
        why="A broker stops an advertisement that its table covers, but brokers beyond "
        "may reach the one that issued it another way and never hear of it: T-C20, and "
        "decision 0020. Our brokers do not prune.",
        is_gating=False,
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """What is lost, and what is saved."""
    figure, (losses, packets) = panels(2)
    for style, (way, (prunes, asks)) in enumerate(WAYS.items()):
        own = [
            {**row, "lost": 100 * number(row, "missing") / number(row, "expected")}
            for row in where(rows, prunes=prunes, asks=asks)
            if row["network"] != EXAMPLE
        ]
        line(losses, curve_of(own, "brokers", "lost"), way, style)
        if asks == "never":
            line(packets, curve_of(own, "brokers", "advertisements"), way, style)
    x = "brokers"
    finish(losses, "Nothing changes any more", x, "deliveries not made, %", log="x")
    finish(packets, "Advertisements", x, "packets", log="xy")
    from_zero(losses)
    return figure


STUDY = Study(
    name="pruning",
    title="What pruning advertisements loses",
    paper="INFOCOM 2004 (CBCB), SIGCOMM 2003",
    says="A broker drops an advertisement that its table covers already: those behind "
    "it are supposed to know as well.",
    shape="Without pruning, and after asking everybody, nothing is lost. With it, "
    "a part of all deliveries is, in networks with cycles.",
    caption="Left: deliveries that are not made when all advertisements have arrived, "
    "against the number of brokers, with the paper's pruning, without it, and after "
    "brokers have asked. Right: advertisements sent. Networks of BRITE, three quarters "
    "of the brokers interested.",
    parameters=(
        Parameter("networks", "BRITE's power law and Waxman, 2 links each", "makefile"),
        Parameter("brokers", listed(BROKERS["full"]), "ours"),
        Parameter("subscribers", "75 % of the brokers, one of 4 interests", "ours"),
        Parameter("order", "one advertisement after the other", "ours"),
        Parameter("publications", "one of each interest at every broker", "ours"),
    ),
    run=prune,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 5, "quick": 2, "test": 2},
    remark="Pruning assumes that whoever lies beyond has heard of the same interest "
    "over the same links. With a tree for each source it need not have: see decision "
    "0020. Our brokers do not prune.",
)
