"""Texts of others reach a terminal as texts."""

import json

import pytest
from hypothesis import given, strategies as st

from siena import Notification
from siena.cli.service.sub import _as_json, _as_text
from siena.cli.terminal.foreign import printable, printable_form, safe_json

COMMANDS = ["\x1b[2J", "\x9b1m", "\x07", "\n", "\r", "\x7f", "\u2028", "\u202e", "\x85"]


@pytest.mark.parametrize("text", COMMANDS)
def test_no_command_is_left(text: str) -> None:
    assert printable(f"a{text}").isprintable()
    form = printable_form({f"b{text}": [f"a{text}", 7, {"c": text}]})
    assert "\\\\" in json.dumps(form)
    assert text not in json.dumps(form, ensure_ascii=False)


@pytest.mark.parametrize("text", COMMANDS)
def test_what_sub_prints_has_none(text: str) -> None:
    n = Notification({"x": f"a{text}b"})
    said = _as_json(n)
    assert said.isprintable()
    assert json.loads(said) == {"x": f"a{text}b"}
    if text != "\u202e":  # which the language prints as it is
        assert _as_text(n).isprintable()


@given(st.text())
def test_json_means_the_same(text: str) -> None:
    plain = json.dumps([text], ensure_ascii=False)
    assert json.loads(safe_json(plain)) == [text]
