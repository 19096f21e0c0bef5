"""Automata: the general search, against the short way and against every value."""

import pytest
from hypothesis import event, example, given, strategies as st

import reference
from siena.algebra.points import NotShownError
from siena.algebra.text.automata import search_string
from siena.algebra.text.strings import sat_string, without_negations
from siena.lang import parse_filter
from siena.model import Constraint, Kind, Operator
from siena.model.operators import NEGATIONS
from strategies import constraints

strings = constraints((Kind.STRING,), ("s",)).filter(
    lambda c: c.operator is not Operator.OTHER
)
plain = strings.filter(lambda c: c.operator <= Operator.ANY)


def _searched(positive: list[Constraint], negative: list[Constraint]) -> str | None:
    if any(c.operator is Operator.ANY for c in negative):
        return None
    return search_string(*without_negations(positive, negative))


@given(st.lists(strings, max_size=4), st.lists(strings, max_size=4))
@example([*parse_filter('s like "a*b", s < b, s > ab')], [*parse_filter("s = aab")])
@example([*parse_filter("s = AB ignoring case")], [*parse_filter("s * b")])
def test_what_is_found_satisfies_all_and_what_is_not_does_not_exist(
    positive: list[Constraint], negative: list[Constraint]
) -> None:
    found = _searched(positive, negative)
    event("nothing" if found is None else f"{len(found)} characters")
    if found is None:
        universe = reference.satisfying_all(
            [Constraint("s", Operator.ANY, None, Kind.STRING), *positive], negative
        )
        assert not universe
    else:
        assert all(reference.satisfies(found, c) for c in positive)
        assert not any(reference.satisfies(found, c) for c in negative)


@given(st.lists(plain, max_size=4), st.lists(plain, max_size=4))
def test_the_short_way_and_the_search_agree(
    positive: list[Constraint], negative: list[Constraint]
) -> None:
    short, searched = sat_string(positive, negative), _searched(positive, negative)
    assert (short is None) is (searched is None)
    if short is not None and searched is not None:
        assert len(searched) <= len(short), "breadth first finds a shortest"


@pytest.mark.parametrize(
    ("wanted", "unwanted", "found"),
    [
        ('s like "a*b*c"', "[]", "abc"),
        ('s like "a??"', "s contains b", "aaa"),
        ('s like "*a*b*", s like "*b*a*"', "[]", "aba"),
        ('s like "a*b"', 's like "a*b*b", s = ab', "aab"),
        ('s like "?"', "s < b, s > b", "b"),
        ("s starts with AB ignoring case", "s starts with a", "Ab"),
        ("s = straSSe ignoring case", "s contains s", "\u017ftra\u017f\u017fe"),
        ('s > ab, s < ac, s ends with "X" ignoring case', "[]", "abx"),
        ('s like "a*a"', 's like "a*"', None),
        ("s contains abc ignoring case", "s contains B ignoring case", None),
        ("s = ab ignoring case", "s = ab, s = aB, s = Ab, s = AB", None),
        ('s like "*a*b*"', 's like "*a*", s = b', None),
        ('s like "a?", s < a', "[]", None),
    ],
)
def test_the_shortest_is_found(wanted: str, unwanted: str, found: str | None) -> None:
    assert _searched([*parse_filter(wanted)], [*parse_filter(unwanted)]) == found


@given(strings)
def test_no_string_satisfies_a_constraint_and_its_negation(c: Constraint) -> None:
    if c.operator in NEGATIONS:
        negation = Constraint("s", NEGATIONS[c.operator], c.value)
        assert _searched([c, negation], []) is None
        assert _searched([], [c, negation]) is None


@pytest.mark.timeout(60)
def test_what_would_take_too_long_is_not_shown() -> None:
    """Twenty texts in any order: a million sets of what has been seen."""
    wanted = " and ".join(f's like "*{c}?{c}x*"' for c in "abcdefghijklmnopqrst")
    with pytest.raises(NotShownError):
        search_string(parse_filter(wanted), parse_filter("[]"))
