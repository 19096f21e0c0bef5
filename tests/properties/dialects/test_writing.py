"""What is written in a language of others is read there as the same."""

import pytest
from hypothesis import event, given, strategies as st
from hypothesis.strategies import SearchStrategy

from siena.algebra.relations import decide_covers
from siena.dialects import read_rule
from siena.dialects.writing import WRITERS, write_rule
from siena.errors import FilterError, LimitError
from siena.model import Constraint, Filter, Kind, Notification, Operator, Predicate
from siena.model.expression.rule import Rule
from strategies import any_constraints, constraints

# Texts that are something else to one of the languages, and names that are no words.
TEXTS = (
    "",
    "a",
    "it's",
    'say "x"',
    "50%_!",
    "a*b",
    "\\\\",
    "::1",
    "10.0.0.1",
    "\n",
    "é",
)
NAMED = ("x", "prefix", "a.b", "x·y", "sys.Label", "user.x", "and", "header.priority")


def telling() -> SearchStrategy[Constraint]:
    """Constraints in which the languages differ."""
    operators = [o for o in Operator if o.accepts(Kind.STRING)]
    with_value = [o for o in operators if o not in {Operator.ANY, Operator.OTHER}]
    return st.one_of(
        st.tuples(
            st.sampled_from(NAMED),
            st.sampled_from(with_value),
            st.sampled_from(TEXTS),
        ),
        st.tuples(
            st.sampled_from(NAMED),
            st.sampled_from((Operator.EQ, Operator.NE, Operator.LT, Operator.GE)),
            st.sampled_from((4, -1, 2.5, 1e30, 1e-7, 2**53 + 1)),
        ),
    ).map(lambda drawn: Constraint(*drawn))


@st.composite
def written(draw: st.DrawFn) -> Predicate:
    """Predicates of few alternatives, that often exclude something of what is there."""
    found = []
    for _ in range(draw(st.integers(1, 2))):
        ways: list[list[Constraint]] = [[]]
        one = telling() | constraints() | any_constraints()
        for each in draw(st.lists(one, min_size=1, max_size=3)):
            alternatives = [each]
            if each.value is not None and draw(st.booleans()):
                other = Constraint(each.name, Operator.OTHER, None, each.kind)
                alternatives.append(other)
            ways = [[*way, each] for way in ways for each in alternatives]
        found += ways
    return Predicate(map(Filter, found))


@pytest.mark.parametrize("language", sorted(WRITERS))
@given(predicate=written())
def test_what_is_written_is_read_as_the_same(
    language: str, predicate: Predicate
) -> None:
    try:
        text = write_rule(Rule(predicate), language)
    except FilterError as error:
        assert "cannot say" in error.message  # noqa: PT017 -- most are refused
        event("refused")
        return
    event("written")
    again = read_rule(language, text)
    assert again.is_exact, text
    assert_equal(predicate, again.predicate, text)


def assert_equal(one: Predicate, other: Predicate, text: str) -> None:
    for general, specific in ((one, other), (other, one)):
        try:
            verdict = decide_covers(general, specific)
        except LimitError:
            continue
        assert verdict.holds or verdict.witness is None, text
        if verdict.witness is not None:
            assert isinstance(verdict.witness, Notification)


# Rules that are exact, and can be written again in their own language.
OWN = {
    "sql": [
        *("x <> 'a'", "x <> 5 AND y = 2", "NOT x > 5", "x NOT LIKE 'a%'"),
        *("x NOT LIKE 'a%' AND x NOT LIKE '%b'", "NOT x BETWEEN 1 AND 5"),
        *("x NOT IN ('a', 1)", "x <> TRUE", "NOT (x = 1 AND y = 2)", '"x·y" = 1'),
        *("x NOT LIKE '%'", "x NOT LIKE '!%_' ESCAPE '!'", "x IS NULL OR x = 1.5E30"),
    ],
    "amqp": [
        *("x <> 'a' AND p.subject LIKE 'a%'", "x > 'a' AND NOT y > 'b'"),
        *("header.priority > 3", "h.priority < 4", "[a b] NOT IN ('x', 'y')"),
        *("x NOT LIKE 'a%'", "NOT (x LIKE 'a%')", "[a[[b]]] = 1", "x = 1.5E-7"),
    ],
    "azure": [
        *("sys.Label LIKE '%bus%' OR tag IN ('a', 'b')", "NOT x > TRUE", "x < 'b'"),
        *("EXISTS(x) AND NOT EXISTS(y)", "x NOT LIKE 'a_'", "x = -2.5"),
    ],
    "eventbridge": [
        *('{"x": [{"anything-but": "a"}], "y": [1]}', '{"x": [{"wildcard": "*"}]}'),
        *('{"x": [{"anything-but": ["a", "b"]}, 5]}', '{"x": [{"prefix": ""}]}'),
        *('{"x": [{"anything-but": [1, 2]}]}', '{"x": {"y": [true, false, null]}}'),
        '{"x": [{"anything-but": {"prefix": ["a", "b"]}}]}',
        '{"x": [{"anything-but": {"wildcard": "a*b"}}, {"exists": false}]}',
        '{"x": [{"anything-but": {"equals-ignore-case": "Ab"}}]}',
        '{"$or": [{"x": [1]}, {"y": [{"numeric": [">", 0, "<=", 5]}]}]}',
    ],
}


@pytest.mark.parametrize(
    ("language", "text"),
    [(name, text) for name, texts in OWN.items() for text in texts],
)
def test_a_rule_is_written_again_in_its_own_language(language: str, text: str) -> None:
    rule = read_rule(language, text)
    again = read_rule(language, write_rule(rule, language))
    assert again.is_exact
    assert_equal(rule.predicate, again.predicate, text)


def test_many_ranges_are_not_multiplied_out() -> None:
    ranges = " or ".join(f"x > {10 * n} and x < {10 * n + 5}" for n in range(100))
    rule = read_rule("siena", f"{ranges} or not number x any")
    again = read_rule("sql", write_rule(rule, "sql"))
    for value in (3, 7, 993, 997, "a", True):
        assert again.matches({"x": value}) == rule.matches({"x": value})


REFUSED = {
    # Inside $or no field is called like a way to match.
    "eventbridge": [
        "prefix = a or b = 1",
        'a = "::1"',
        "x != a",
        "x > 9007199254740993",
    ],
    "sql": ["x > a", "x = a ignoring case", "integer x = 1"],
    "amqp": ["header.priority > 3", "header.priority absent", 'x >* "\\n"'],
}


@pytest.mark.parametrize(
    ("language", "text"),
    [(name, text) for name, texts in REFUSED.items() for text in texts],
)
def test_what_would_be_read_otherwise_is_not_written(language: str, text: str) -> None:
    with pytest.raises(FilterError, match="cannot say"):
        write_rule(read_rule("siena", text), language)
