"""Where a value stands in a JSON text, whatever its key is and how it is written."""

import json

from hypothesis import example, given, strategies as st

from siena.dialects.json_places import place_of


@given(st.text(), st.booleans())
@example("é\\b", False)
@example('é"\n', True)
@example("😀\t", True)
def test_a_value_is_found_by_its_key(key: str, is_ascii: bool) -> None:  # noqa: FBT001 -- drawn
    text = json.dumps({f"{key}x": 0, "a": [1, {key: 2}]}, ensure_ascii=is_ascii)
    assert text[place_of(text, ["a", 1, key])] == "2"
