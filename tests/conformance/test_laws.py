"""The laws of A.5.6, over all filters and advertisements of the kit.

Random filters seldom touch each other; the kit's were chosen because they do.
"""

from functools import cache
from itertools import product

from conformance.kit import (
    Advertisement,
    Filter,
    Notification,
    counterexample,
    covers,
    covers_advertisement,
    covers_advertisement_pairwise,
    covers_pairwise,
    load,
    overlaps,
    overlaps_pairwise,
    parse_advertisement,
    parse_filter,
    parse_notification,
)

AREAS = ("covers", "overlaps", "covers-advertisement")


@cache
def filters() -> list[Filter]:
    """The filters of the kit's cases of covering and of overlap, each once."""
    cases = load("covers")["cases"]
    covering = {
        parse_filter(case[side]) for case in cases for side in ("left", "right")
    }
    return sorted(covering.union(wanted()), key=str)


@cache
def advertisements() -> list[Advertisement]:
    """The advertisements of the kit, each once."""
    texts = {case["left"] for case in load("overlaps")["cases"]}
    for case in load("covers-advertisement")["cases"]:
        texts |= {case["left"], case["right"]}
    return sorted({parse_advertisement(text) for text in texts}, key=str)


@cache
def wanted() -> list[Filter]:
    """The filters of the kit's cases of overlap, each once."""
    cases = load("overlaps")["cases"]
    return sorted({parse_filter(case["right"]) for case in cases}, key=str)


@cache
def notifications() -> list[Notification]:
    """The witnesses of the kit."""
    texts = {
        case["witness"]
        for area in AREAS
        for case in load(area)["cases"]
        if "witness" in case
    }
    return [parse_notification(text) for text in sorted(texts)]


@cache
def covered() -> dict[Filter, frozenset[Filter]]:
    """Under each filter, those that it covers."""
    return {
        general: frozenset(g for g in filters() if covers(general, g))
        for general in filters()
    }


@cache
def covered_advertisements() -> dict[Advertisement, frozenset[Advertisement]]:
    """Under each advertisement, those that it covers."""
    return {
        general: frozenset(
            a for a in advertisements() if covers_advertisement(general, a)
        )
        for general in advertisements()
    }


def test_the_kit_asks_enough() -> None:
    assert len(filters()) > 100
    assert len(advertisements()) > 40
    assert sum(map(len, covered().values())) > 5 * len(filters())


def test_covering_is_reflexive() -> None:
    assert [f for f in filters() if f not in covered()[f]] == []
    reflexive = covered_advertisements()
    assert [a for a in advertisements() if a not in reflexive[a]] == []


def test_covering_is_transitive() -> None:
    below = covered()
    assert [(f, g) for f in below for g in below[f] if not below[g] <= below[f]] == []
    promised = covered_advertisements()
    assert [
        (a, b) for a in promised for b in promised[a] if not promised[b] <= promised[a]
    ] == []


def test_nobody_who_is_covered_loses_a_notification() -> None:
    lost = [
        (general, specific, n)
        for general, below in covered().items()
        for specific in below
        for n in notifications()
        if specific.matches(n) and not general.matches(n)
    ]
    assert lost == []


def test_every_no_of_covering_is_shown() -> None:
    for general, specific in product(filters(), filters()):
        if specific not in covered()[general]:
            shown = counterexample(general, specific)
            assert shown is not None
            assert specific.matches(shown), (general, specific, shown)
            assert not general.matches(shown), (general, specific, shown)


def test_pairwise_covering_is_sound() -> None:
    unsound = [
        (f, g)
        for f, g in product(filters(), filters())
        if covers_pairwise(f, g) and g not in covered()[f]
    ]
    assert unsound == []
    promised = covered_advertisements()
    assert [
        (a, b)
        for a, b in product(advertisements(), advertisements())
        if covers_advertisement_pairwise(a, b) and b not in promised[a]
    ] == []


def test_pairwise_overlap_is_complete() -> None:
    missed = [
        (a, f)
        for a, f in product(advertisements(), wanted())
        if overlaps(a, f) and not overlaps_pairwise(a, f)
    ]
    assert missed == []


def test_overlap_grows_with_the_advertisement() -> None:
    reached = {
        a: {f for f in wanted() if overlaps(a, f)} for a in covered_advertisements()
    }
    shrunk = [
        (a, b)
        for a, below in covered_advertisements().items()
        for b in below
        if not reached[b] <= reached[a]
    ]
    assert shrunk == []


def test_overlap_grows_with_the_filter() -> None:
    reached = {f: {a for a in advertisements() if overlaps(a, f)} for f in filters()}
    shrunk = [
        (f, g)
        for f, below in covered().items()
        for g in below
        if not reached[g] <= reached[f]
    ]
    assert shrunk == []
