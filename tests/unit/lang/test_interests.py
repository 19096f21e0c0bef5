"""Interests: ``not`` pushed inward, products multiplied out, nothing exploding."""

import pytest
from hypothesis import event, example, given, strategies as st

from siena.lang import parse_predicate
from siena.model import Filter, Kind, Notification, Operator, Predicate, Value
from strategies import values_of

# What each name holds, so that every attribute is there and of one kind.
KINDS = {"i": Kind.INTEGER, "f": Kind.FLOAT, "s": Kind.STRING, "b": Kind.BOOLEAN}
NEGATABLE = (*list(Operator)[:6], Operator.PREFIX)


@st.composite
def atoms(draw: st.DrawFn) -> str:
    """One constraint that can be negated, as text, on an attribute of its kind."""
    name = draw(st.sampled_from(sorted(KINDS)))
    kind = KINDS[name]
    value: Value = draw(values_of((kind,)))
    operator = draw(
        st.sampled_from(NEGATABLE if kind is Kind.STRING else NEGATABLE[:6])
    )
    if operator is Operator.PREFIX and not value:
        operator = Operator.NE  # an empty prefix has no negation
    literal = str(Notification(x=value)).removeprefix("x = ")
    shape = draw(
        st.sampled_from(["{n} {o} {v}", "{n} in ({v})", "{n} not in ({v}, {v})"])
    )
    return shape.format(n=name, o=operator.symbol, v=literal)


expressions = st.recursive(
    atoms(),
    lambda inner: st.one_of(
        inner.map("not ({})".format),
        st.lists(inner, min_size=2, max_size=3).map(" or ".join).map("({})".format),
        st.lists(inner, min_size=2, max_size=3).map(" and ".join).map("({})".format),
    ),
    max_leaves=5,
)
complete = st.fixed_dictionaries(
    {name: values_of((kind,)) for name, kind in KINDS.items()}
).map(Notification)


@given(expressions, complete)
@example('s >* "\U0010ffff"', Notification(b=True, f=0.0, i=0, s="\U0010ffffa"))
@example("s >* a", Notification(b=True, f=0.0, i=0, s="b"))
def test_not_means_not_where_every_attribute_is_present(
    text: str, notification: Notification
) -> None:
    plain = parse_predicate(text).matches(notification)
    event("matches" if plain else "does not match")
    assert parse_predicate(f"not ({text})").matches(notification) is not plain
    assert parse_predicate(f"not not ({text})").matches(notification) is plain


@given(expressions, expressions, complete)
def test_and_and_or_mean_what_they_say_and_de_morgan_holds(
    left: str, right: str, notification: Notification
) -> None:
    one, two = (parse_predicate(t).matches(notification) for t in (left, right))
    for text, expected in (
        (f"({left}) and ({right})", one and two),
        (f"({left}) or ({right})", one or two),
        (f"not (({left}) and ({right}))", not (one and two)),
        (f"not ({left}) and not ({right})", not (one or two)),
    ):
        assert parse_predicate(text).matches(notification) is expected


@pytest.mark.parametrize("text", ["not x > 3", "not x = a", "x not in (1, 2)"])
def test_not_is_about_an_attribute_that_is_present(text: str) -> None:
    assert not parse_predicate(text).matches({})
    assert not parse_predicate(text).matches({"x": True})


@pytest.mark.parametrize(
    ("text", "pushed"),
    [
        ("not x = 1", "x != 1"),
        ("not x != 1", "x = 1"),
        ("not x < 1", "x >= 1"),
        ("not x <= 1", "x > 1"),
        ("not x > 1", "x <= 1"),
        ("not x >= 1", "x < 1"),
        ("not integer x > 1", "integer x <= 1"),
        ("not not x = 1", "x = 1"),
        ("not x in (1, 2)", "x != 1 and x != 2"),
        ("not x not in (1, 2)", "x = 1 or x = 2"),
        ("not (x = 1 and y = 1)", "x != 1 or y != 1"),
        ("not (x = 1 or y = 1)", "x != 1 and y != 1"),
        ("not s starts with ab", "s < ab or s >= ac"),
        ('not s starts with "\\U0010ffff"', 's < "\U0010ffff"'),
        ('not s starts with "a\\ud7ff"', 's < "a\ud7ff" or s >= "a\ue000"'),
        ("not x = 1 and y = 1", "x != 1 and y = 1"),
        ("not b = true", "b != true"),
    ],
)
def test_not_is_pushed_inward(text: str, pushed: str) -> None:
    assert str(parse_predicate(text)) == pushed


@pytest.mark.parametrize(
    ("text", "negation"),
    [
        ("x any", "x absent"),
        ("x absent", "x any"),
        ("integer x any", "not integer x any"),
        ("not integer x any", "integer x any"),
        ("s contains a", "s does not contain a"),
        ("s ends with a", "s does not end with a"),
        ("s does not start with a", "s >* a"),
        ('s like "a*b"', 's not like "a*b"'),
        ('s not like "a?b"', 's like "a?b"'),
        ("s = a ignoring case", "s != a ignoring case"),
        ("s >* A ignoring case", "s does not start with a ignoring case"),
        ('s >* ""', 's < ""'),
        ("x = 1 except y = 2", "x != 1 or y = 2"),
    ],
)
def test_whatever_can_be_said_can_be_negated(text: str, negation: str) -> None:
    assert str(parse_predicate(f"not ({text})")) == negation
    # Not twice the same: what is absent, or of another kind, satisfies neither.
    assert not parse_predicate(f"({text}) and ({negation})").matches({"s": "ab"})


def test_and_over_or_is_multiplied_out() -> None:
    parsed = parse_predicate("(a = 1 or a = 2) and (b = 1 or b = 2) and c = 3")
    assert len(parsed) == 4
    assert all(len(f) == 3 for f in parsed)


def test_equal_alternatives_are_one() -> None:
    assert parse_predicate("x = 1 or (x = 1) or x = 1.0") == Predicate(
        [Filter(parse_predicate("x = 1").filters[0])]
    )


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    ["not(" + "[]," * 300_000 + "x=1)", "not[]or " * 120_000 + "x=1"],
    ids=["and", "or"],
)
def test_what_adds_nothing_costs_no_more_than_its_length(text: str) -> None:
    """Alternatives that nothing satisfies are no alternatives, however many."""
    found = parse_predicate(text)
    assert found == parse_predicate("not x=1" if text.startswith("not(") else "x=1")
