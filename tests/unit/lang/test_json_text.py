"""JSON, read strictly."""

import json

import pytest
from hypothesis import given, strategies as st

from siena.errors import LimitError, SienaError
from siena.lang.json_text import read_json
from siena.model.limits import TEXT_CHARACTERS_MAX

documents = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(documents)
def test_json_is_read_as_python_reads_it(document: object) -> None:
    found = read_json(json.dumps(document))
    assert repr(found) == repr(document)


@given(st.text() | documents.map(json.dumps).map(lambda text: text[:-1]))
def test_any_text_is_json_or_refused(text: str) -> None:
    try:
        read_json(text)
    except SienaError as error:
        message = str(error)
    else:
        message = "read"
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    "text",
    [
        "NaN",
        "[Infinity]",
        "-Infinity",
        "1e999",
        "123456789012345678901",
        '{"a": 1, "a": 1}',
        '{"b": {"a": 1, "a": 2}}',
        "[" * 100_000,
        '{"a":' * 100_000,
        "",
        "{} {}",
        "'a'",
    ],
)
def test_what_python_would_let_pass_is_refused(text: str) -> None:
    with pytest.raises(SienaError):
        read_json(text)


def test_a_text_beyond_the_limit_is_refused_unread() -> None:
    with pytest.raises(LimitError, match="TEXT_CHARACTERS_MAX"):
        read_json('"' + "a" * TEXT_CHARACTERS_MAX + '"')
