"""What takes the place of a template is one value, whatever it contains."""

import pytest
from hypothesis import example, given, strategies as st

from siena.broker.access.grants.templates import VALUE_CHARACTERS_MAX, Template
from siena.errors import SienaError
from siena.lang.parser import parse_predicate
from siena.model import Constraint, Filter, Operator, Predicate

names = st.text(
    st.characters(exclude_categories=["Cs"]), min_size=1, max_size=VALUE_CHARACTERS_MAX
)


@given(names)
@example('x" or []')
@example("x' or [] or 'y")
@example("\\")
@example("${identity}")
@example("a\nb\x00\u2028")
def test_an_identity_is_one_value_and_never_language(identity: str) -> None:
    mine = Template.read("level > 3 and (tenant = ${identity} or tenant = '${cn}x')")
    found = mine.bind({"identity": identity, "cn": identity})
    level = Constraint("level", Operator.GT, 3)
    assert found == Predicate(
        Filter([level, Constraint("tenant", Operator.EQ, value)])
        for value in (identity, f"{identity}x")
    )


@given(names)
def test_what_is_taken_away_is_taken_away_from_the_identity_itself(name: str) -> None:
    """Substituted before the text is read: normal forms know the value."""
    mine = Template.read("user = ${identity} except user = admin")
    found = mine.bind({"identity": name})
    assert found.matches({"user": name}) == (name != "admin")


def test_admin_is_excepted_though_the_template_looked_like_another() -> None:
    mine = Template.read("user = ${identity} except user = admin")
    assert not mine.bind({"identity": "admin"}).matches({"user": "admin"})


@pytest.mark.parametrize("value", [None, "", "x" * (VALUE_CHARACTERS_MAX + 1)])
def test_without_a_value_nothing_is_granted(value: str | None) -> None:
    mine = Template.read("tenant = ${claim.tenant} or x = 1")
    values = {} if value is None else {"claim.tenant": value}
    assert mine.bind(values) == Predicate()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = ${who}", "column 5: ${who} is no template"),
        ("x = ${identity", "column 5: a $ begins no template"),
        ("x = $5", "column 5: a $ begins no template"),
        ("x like ${identity}", "column 8: what like compares with has wildcards"),
        ('x like "a${identity}*"', "column 8: what like compares with has wildcards"),
        ('x = "${claim.}"', "column 6: ${claim.} is no template"),
        ("x = ${identity} and y >", "column 24: expected a value"),
        ("tenant = ${claim.a} or or", "column 24:"),
    ],
)
def test_an_error_names_its_place_in_the_text_as_it_was_written(
    text: str, said: str
) -> None:
    with pytest.raises(SienaError) as caught:
        Template.read(text)
    assert str(caught.value).startswith(said)


def test_a_text_without_templates_is_read_once() -> None:
    plain = Template.read("x > 3")
    assert plain.bind({}) is plain.bind({"identity": "a"})
    assert plain.bind({}) == parse_predicate("x > 3")
