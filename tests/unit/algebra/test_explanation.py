"""Reasons: they never say otherwise than the verdict."""

from hypothesis import given

from siena.algebra import explanation, relations
from siena.algebra.sat import satisfiable
from siena.lang import parse_filter, parse_predicate
from siena.model import Advertisement, Filter, Notification, Predicate
from strategies import advertisements, filters, notifications, predicates


@given(filters(max_size=3), filters(max_size=3))
def test_reasons_for_covering_agree_with_the_verdict(f: Filter, g: Filter) -> None:
    reasons = explanation.explain_covers(f, g)
    assert all(r.holds for r in reasons) == relations.decide_covers(f, g).holds


@given(predicates(), predicates())
def test_reasons_between_predicates_agree_too(p: Predicate, q: Predicate) -> None:
    reasons = explanation.explain_covers(p, q)
    assert all(r.holds for r in reasons) == relations.decide_covers(p, q).holds


@given(filters(max_size=3), predicates(), notifications())
def test_reasons_for_matching_agree(f: Filter, p: Predicate, n: Notification) -> None:
    assert all(r.holds for r in explanation.explain_matches(f, n)) == f.matches(n)
    assert any(r.holds for r in explanation.explain_matches(p, n)) == p.matches(n)


@given(advertisements(max_size=3), filters(max_size=3), predicates())
def test_reasons_for_overlap_and_satisfiability_agree(
    a: Advertisement, f: Filter, p: Predicate
) -> None:
    assert all(
        r.holds for r in explanation.explain_overlaps(a, f)
    ) == relations.decide_overlaps(a, f).holds  # fmt: skip
    assert any(
        r.holds for r in explanation.explain_overlaps(a, p)
    ) == relations.decide_overlaps(a, p).holds  # fmt: skip
    assert all(r.holds for r in explanation.explain_satisfiable(f)) == satisfiable(f)
    assert any(r.holds for r in explanation.explain_satisfiable(p)) == satisfiable(p)


@given(advertisements(max_size=3), advertisements(max_size=3), notifications())
def test_reasons_about_advertisements_agree(
    a: Advertisement, b: Advertisement, n: Notification
) -> None:
    assert all(r.holds for r in explanation.explain_admits(a, n)) == a.admits(n)
    assert all(
        r.holds for r in explanation.explain_covers_advertisement(a, b)
    ) == relations.decide_covers_advertisement(a, b).holds  # fmt: skip


def test_what_nothing_matches_is_said_first() -> None:
    (reason,) = explanation.explain_covers(
        parse_filter("q = 1"), parse_filter("x > 5, x < 3")
    )
    assert reason.holds
    assert "nothing satisfies this" in reason.because


def test_each_alternative_has_one_line() -> None:
    reasons = explanation.explain_matches(
        parse_predicate("x > 3 and y = 1 or z = 2"), {"x": 5, "y": 2}
    )
    assert [(r.holds, r.subject) for r in reasons] == [
        (False, "x > 3 and y = 1"),
        (False, "z = 2"),
    ]
    assert reasons[0].because == "y = 1: y = 2"
