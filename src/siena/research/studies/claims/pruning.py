"""CBCB: what does stopping advertisements that are known already lose?

x: brokers.  Left: the share of deliveries that are not made, after all advertisements
have arrived and before anybody has asked.  Right: advertisements sent.  With the
paper's pruning, without it, and with it after every broker has sent a request.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.framework.drawing import finish, line, panels
from siena.research.studies.framework.rows import Row, curve, integer, number, where
from siena.research.studies.framework.study import (
    Finding,
    Parameter,
    Size,
    Study,
    among,
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


def check(rows: Sequence[Row]) -> list[Finding]:
    """T-C20, T-C21, and how much pruning saves and loses."""
    drawn = [row for row in rows if row["network"] != EXAMPLE]
    pruned = where(drawn, prunes=True, asks="never")
    whole = where(drawn, prunes=False)
    asked = where(drawn, asks="all")
    lost = [row for row in pruned if number(row, "missing")]
    saved = 1 - _sum(pruned, "advertisements") / _sum(whole, "advertisements")
    twice = _sum(rows, "twice")
    return [
        _counterexample(rows),
        Finding(
            "T-C21",
            "without pruning, everybody gets everything, once",
            _sum(whole, "missing") == 0 and twice == 0,
            f"{_sum(whole, 'missing'):,.0f} of {_sum(whole, 'expected'):,.0f} "
            f"missing, {twice:,.0f} twice",
        ),
        Finding(
            "C.5.4",
            "what pruning lost is found when all neighbours are asked",
            _sum(asked, "missing") == 0,
            f"{_sum(asked, 'missing'):,.0f} missing after it",
        ),
        Finding(
            "C.5.3",
            "the paper's pruning loses nothing",
            not lost,
            f"{len(lost)} of {len(pruned)} networks lose something: "
            f"{_sum(pruned, 'missing') / _sum(pruned, 'expected'):.1%} of deliveries, "
            f"for {saved:.0%} of the advertisements",
            is_gating=False,
        ),
    ]


def _sum(rows: Sequence[Row], name: str) -> float:
    return sum(number(row, name) for row in rows)


def _counterexample(rows: Sequence[Row]) -> Finding:
    found = {
        (bool(row["prunes"]), str(row["asks"])): integer(row, "missing")
        for row in where(rows, network=EXAMPLE)
    }
    expected = {
        (True, "never"): 1,
        (False, "never"): 0,
        (True, "all"): 0,
        (True, "known"): 1,
    }
    says = (
        "four brokers: pruning loses a delivery; asking all repairs it, asking only "
        "where something is known does not"
    )
    words = ", ".join(f"{way}: {found[key]}" for way, key in WAYS.items())
    return Finding(EXAMPLE, says, found == expected, words)


def draw(rows: Sequence[Row]) -> Figure:
    """What is lost, and what is saved."""
    figure, (losses, packets) = panels(2)
    for style, (way, (prunes, asks)) in enumerate(WAYS.items()):
        own = [
            {**row, "lost": 100 * number(row, "missing") / number(row, "expected")}
            for row in where(rows, prunes=prunes, asks=asks)
            if row["network"] != EXAMPLE
        ]
        line(losses, curve(own, "brokers", "lost"), way, style)
        if asks == "never":
            line(packets, curve(own, "brokers", "advertisements"), way, style)
    x = "brokers"
    finish(losses, "Nothing changes any more", x, "deliveries not made, %", log="x")
    finish(packets, "Advertisements", x, "packets", log="xy")
    losses.set_ylim(bottom=0)
    return figure


STUDY = Study(
    name="pruning",
    title="What pruning advertisements loses",
    paper="INFOCOM 2004 (CBCB), SIGCOMM 2003",
    says="A broker drops an advertisement that its table covers already: those behind "
    "it are supposed to know as well.",
    shape="Without pruning, and after asking everybody, nothing is lost. With it, "
    "a part of all deliveries is, in networks with cycles.",
    parameters=(
        Parameter("networks", "BRITE's power law and Waxman, 2 links each", "makefile"),
        Parameter("subscribers", "75 % of the brokers, one of 4 interests", "ours"),
        Parameter("order", "one advertisement after the other", "ours"),
        Parameter("publications", "one of each interest at every broker", "ours"),
    ),
    run=prune,
    plan=plan,
    check=check,
    draw=draw,
    seeds={"full": 5, "quick": 2, "test": 2},
    remark="Pruning assumes that whoever lies beyond has heard of the same interest "
    "over the same links. With a tree for each source it need not have: see decision "
    "0020. Our brokers do not prune.",
)
