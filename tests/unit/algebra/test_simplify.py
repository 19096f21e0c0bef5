"""Simplifying: the same meaning, in as few words as the language allows."""

import pytest
from hypothesis import event, example, given

import reference
from siena.algebra.covering import counterexample_filter
from siena.algebra.relations import equivalent
from siena.algebra.sat import satisfiable
from siena.algebra.simplify import simplify
from siena.lang import parse_filter
from siena.model import Filter
from strategies import filters, kinds_of_one_family

few_names = kinds_of_one_family().flatmap(
    lambda kinds: filters(kinds, ("x", "y"), max_size=6)
)


@given(few_names)
@example(parse_filter("x = 1, x = 1.0, integer x any"))
def test_simplifying_keeps_the_meaning(f: Filter) -> None:
    simple = simplify(f)
    event("simpler" if len(simple) < len(f) else "simple already")
    assert set(simple) <= set(f)
    assert {c.name for c in simple} == {c.name for c in f}, "absence still counts"
    assert equivalent(simple, f)
    assert reference.covers(simple, f)
    assert reference.covers(f, simple)


@given(few_names)
def test_simplifying_leaves_nothing_superfluous(f: Filter) -> None:
    simple = simplify(f)
    if not satisfiable(simple):
        event("unsatisfiable")
        return
    for constraint in simple:
        rest = Filter(c for c in simple if c is not constraint)
        found = counterexample_filter(simple, rest)
        assert found is not None, f"{constraint} is implied by the others"
        assert reference.matches([rest], found)
        assert not reference.matches([simple], found)


@given(few_names)
def test_simplifying_twice_simplifies_no_further(f: Filter) -> None:
    assert simplify(simplify(f)) == simplify(f)


@pytest.mark.parametrize(
    ("text", "simple"),
    [
        ("x > 3, x > 5", "x > 5"),
        ("x any, x = 1", "x = 1"),
        ("x any, number x any, integer x any", "integer x any"),
        ("integer x > 3, integer x < 5, x != 7", "integer x < 5 and integer x > 3"),
        ("s >* ab, s >* a, s * b", "s >* ab"),
        ('s >= ""', 's >= ""'),
        ("x = 1, x = 1.0", "x = 1"),
        ("x > 5, x > 6, x < 3", "x < 3 and x > 6"),
        ("boolean x any, x != true", "x != true"),
        ("[]", "[]"),
    ],
)
def test_simplifying_by_example(text: str, simple: str) -> None:
    assert str(simplify(parse_filter(text))) == simple
