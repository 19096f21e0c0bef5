"""The JSON forms of compounds: both ways, and what is refused."""

import pytest
from hypothesis import given, strategies as st

from compound_form import compound_from_json, compound_to_json
from siena.errors import InvalidFormError, LimitError, SienaError
from siena.lang.json_text import Json
from siena.lang.parser import parse_filter, parse_predicate
from siena.model.compound import PARTS_MAX, Both, Compound, Either, Part, Then

X, Y, Z = (parse_filter(f"{name} > 3") for name in "xyz")
X_OR_Y = parse_predicate("x > 3 or y > 3")


@pytest.mark.parametrize(
    ("form", "compound"),
    [
        ({"either": ["x > 3", "y > 3"]}, Either(X, Y)),
        ({"both": ["x > 3", "y > 3"]}, Both(X, Y)),
        ({"then": ["x > 3", {"or": ["x > 3", "y > 3"]}]}, Then(X, X_OR_Y)),
        (
            {"both": ["x > 3", "y > 3"], "same_occurrence_allowed": True},
            Both(X, Y, same_occurrence_allowed=True),
        ),
        # Longer lists are read from the left.
        ({"either": ["x > 3", "y > 3", "z > 3"]}, Either(Either(X, Y), Z)),
        ({"then": ["x > 3", {"both": ["y > 3", "z > 3"]}]}, Then(X, Both(Y, Z))),
        # A pattern is a chain.
        ("x > 3 then y > 3 then z > 3", Then(Then(X, Y), Z)),
        ({"either": ["x > 3 then y > 3", "z > 3"]}, Either(Then(X, Y), Z)),
    ],
)
def test_a_form_means_a_compound(form: Json, compound: Compound) -> None:
    assert compound_from_json(form) == compound


@pytest.mark.parametrize(
    "form",
    [
        None,
        5,
        "x > 3",
        [],
        {},
        {"or": ["x > 3", "y > 3"]},
        {"neither": ["x > 3", "y > 3"]},
        {"either": "x > 3"},
        {"either": []},
        {"either": ["x > 3"]},
        {"either": ["x > 3", None]},
        {"either": ["x > 3", "y > 3"], "then": ["x > 3", "y > 3"]},
        {"either": ["x > 3", "y > 3"], "same_occurrence_allowed": True},
        {"both": ["x > 3", "y > 3"], "same_occurrence_allowed": 1},
        {"same_occurrence_allowed": True},
    ],
)
def test_anything_else_is_refused(form: Json) -> None:
    with pytest.raises(InvalidFormError):
        compound_from_json(form)


def test_a_mistake_in_a_text_is_shown_where_it_is() -> None:
    with pytest.raises(SienaError, match="column 3"):
        compound_from_json({"either": ["x > 3", "x >> 3"]})


def test_depth_is_limited_before_it_is_followed() -> None:
    form: Json = "x > 3"
    for _ in range(10_000):  # far deeper than Python's stack
        form = {"either": [form, "x > 3"]}
    with pytest.raises(LimitError, match="PARTS_MAX"):
        compound_from_json(form)


def test_length_is_limited() -> None:
    with pytest.raises(LimitError, match="PARTS_MAX"):
        compound_from_json({"either": ["x > 3"] * (PARTS_MAX + 1)})


def test_the_largest_compound_has_a_form() -> None:
    compound = compound_from_json({"then": ["x > 3"] * PARTS_MAX})
    assert compound_from_json(compound_to_json(compound)) == compound


def joined(sides: st.SearchStrategy[Part]) -> st.SearchStrategy[Compound]:
    return st.one_of(
        st.builds(Either, sides, sides),
        st.builds(Then, sides, sides),
        st.builds(Both, sides, sides, same_occurrence_allowed=st.booleans()),
    )


parts: st.SearchStrategy[Part] = st.recursive(
    st.sampled_from([X, Y, Z, X_OR_Y]), joined, max_leaves=8
)


@given(joined(parts))
def test_what_is_written_reads_back(compound: Compound) -> None:
    assert compound_from_json(compound_to_json(compound)) == compound
