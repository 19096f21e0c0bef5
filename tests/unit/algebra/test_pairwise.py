"""The papers' pairwise tests: sound where they say yes, and never more than that."""

import itertools

import pytest
from hypothesis import event, given, strategies as st

import reference
from siena.algebra.covering import covers_advertisement, covers_filter
from siena.algebra.overlap import overlaps
from siena.algebra.pairwise import (
    covers_advertisement_pairwise,
    covers_constraint,
    covers_pairwise,
    overlaps_pairwise,
)
from siena.algebra.sat import sat
from siena.lang import parse_advertisement, parse_filter
from siena.model import Advertisement, Constraint, Filter, Kind, Operator, Value
from strategies import (
    ALPHABET,
    FLOATS,
    advertisements,
    constraints,
    filters,
    kinds_of_one_family,
)

ONE = ("x",)


@given(
    kinds_of_one_family().flatmap(
        lambda kinds: st.tuples(constraints(kinds, ONE), constraints(kinds, ONE))
    )
)
def test_the_table_is_sound(pair: tuple[Constraint, Constraint]) -> None:
    general, specific = pair
    if covers_constraint(general, specific):
        event("the table says yes")
        assert not reference.satisfying(specific) & ~reference.satisfying(general)


@given(st.data())
def test_the_table_is_exact_between_integers(data: st.DataObject) -> None:
    """Away from the ends of the domain it misses nothing (A.5.4)."""
    ordered = st.sampled_from(list(Operator)[:6])
    one = st.builds(
        Constraint, st.just("x"), ordered, st.integers(-3, 3), st.just(Kind.INTEGER)
    )
    general, specific = data.draw(one), data.draw(one)
    exact = covers_filter(Filter([general]), Filter([specific]))
    assert covers_constraint(general, specific) is exact


@given(kinds_of_one_family().flatmap(lambda k: st.tuples(filters(k), filters(k))))
def test_a_pairwise_cover_is_a_cover(pair: tuple[Filter, Filter]) -> None:
    if covers_pairwise(*pair):
        event("the premise held")
        assert covers_filter(*pair)


@given(
    kinds_of_one_family().flatmap(
        lambda k: st.tuples(advertisements(k), advertisements(k, max_size=2))
    )
)
def test_a_pairwise_cover_of_advertisements_is_a_cover(
    pair: tuple[Advertisement, Advertisement],
) -> None:
    if covers_advertisement_pairwise(*pair):
        event("the premise held")
        assert covers_advertisement(*pair)


@given(
    kinds_of_one_family().flatmap(
        lambda k: st.tuples(advertisements(k, ONE), filters(k, ONE, max_size=2))
    )
)
def test_an_overlap_is_a_pairwise_overlap(pair: tuple[Advertisement, Filter]) -> None:
    if overlaps(*pair):
        event("the premise held")
        assert overlaps_pairwise(*pair)


def every_constraint_on(values: list[Value], kind: Kind) -> list[Constraint]:
    operators = [op for op in Operator if op.accepts(kind) and op is not Operator.ANY]
    found = [Constraint("x", op, v, kind) for op in operators for v in values]
    return [*found, Constraint("x", Operator.ANY, None, kind)]


NUMBERS: list[Value] = [-1, 0, 0.5, 1, 2, 2.5, 3, 2**53, 2**53 + 1, FLOATS[-1]]
WHOLE: list[Value] = [n for n in NUMBERS if isinstance(n, int)]
DOUBLES: list[Value] = [float(n) for n in NUMBERS if isinstance(n, (int, float))]


@pytest.mark.parametrize(
    "candidates",
    [
        every_constraint_on(list(reference.strings_over(ALPHABET, 2)), Kind.STRING),
        [
            *every_constraint_on(NUMBERS, Kind.NUMBER),
            *every_constraint_on(WHOLE, Kind.INTEGER),
            *every_constraint_on(DOUBLES, Kind.FLOAT),
            Constraint("x", Operator.ANY),
        ],
        every_constraint_on([False, True], Kind.BOOLEAN),
    ],
    ids=["strings", "numbers", "booleans"],
)
def test_the_table_is_reflexive_and_transitive(candidates: list[Constraint]) -> None:
    """Every triple of a small set, so that the poset may rely on it in both modes."""
    covered = [
        sum(1 << at for at, c in enumerate(candidates) if covers_constraint(g, c))
        for g in candidates
    ]
    for at, mask in enumerate(covered):
        assert mask >> at & 1, f"{candidates[at]} does not cover itself"
    for first, second in itertools.product(range(len(candidates)), repeat=2):
        if covered[first] >> second & 1:
            missed = covered[second] & ~covered[first]
            assert not missed, (
                f"{candidates[first]} covers {candidates[second]}, which covers "
                f"{candidates[missed.bit_length() - 1]}, and the first does not"
            )


@pytest.mark.parametrize(
    ("general", "specific", "exact", "pairwise"),
    [
        ("integer x = 4", "integer x > 3, integer x < 5", True, False),
        ("x > 4", "x > 3, x != 4", False, False),
        ("integer x > 4", "integer x > 3, integer x != 4", True, False),
        ("s >* ab", "s >= abc, s <= abd", True, False),
        ("s <= az", "s >* a", False, False),
        ("s >= a", "s >* a", True, True),
        ("boolean z = false", "z != true", True, False),
        ("x <= 3", "integer x < 4", True, True),
        ("x <= 3", "x < 4", False, False),
        ("s <= a", 's < "a\\u0000"', True, True),
    ],
)
def test_where_the_two_tests_differ(
    general: str,
    specific: str,
    *,
    exact: bool,
    pairwise: bool,
) -> None:
    wide, narrow = parse_filter(general), parse_filter(specific)
    assert covers_filter(wide, narrow) is exact
    assert covers_pairwise(wide, narrow) is pairwise


def test_pairwise_overlap_may_be_wrong_and_the_exact_one_is_not() -> None:
    offered = parse_advertisement("integer x = 3, integer x = 7")
    wanted = parse_filter("x > 3, x < 5")
    assert overlaps_pairwise(offered, wanted)
    assert not overlaps(offered, wanted)


@given(constraints((Kind.STRING,), ("s",)), constraints((Kind.STRING,), ("s",)))
def test_the_table_is_sound_for_every_operator_of_strings(
    general: Constraint, specific: Constraint
) -> None:
    if covers_constraint(general, specific):
        event(f"{general.operator.name} covers {specific.operator.name}")
        assert not reference.satisfying_all([specific], [general])
        assert sat((specific,), (general,)) is None
