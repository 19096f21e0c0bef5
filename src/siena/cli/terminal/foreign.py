"""Texts of others, on a terminal: none of them moves the cursor, or hides a line.

A terminal takes some characters for commands: those below 0x20, DEL, and 0x80 to 0x9f,
of which 0x9b alone begins what changes colours, titles and more.  Others change the
direction of what stands beside them.
"""

import re
from typing import Any

_COMMANDS = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]"
)


def printable(text: str) -> str:
    r"""A text on one line, in which every character is one that is shown.

    >>> printable("a\x1b[2Jb\n\x9b1m")
    'a\\x1b[2Jb\\n\\x9b1m'
    >>> printable("né \u202e")
    'né \\u202e'
    """
    return _COMMANDS.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def printable_form(form: Any) -> Any:  # noqa: ANN401 -- JSON
    r"""The same for all texts of a structure, names included.

    >>> printable_form({"names": ["a\x1b"], "count": 7})
    {'names': ['a\\x1b'], 'count': 7}
    """
    match form:
        case str():
            return printable(form)
        case dict():
            return {printable_form(k): printable_form(v) for k, v in form.items()}
        case list() | tuple():
            return [printable_form(each) for each in form]
        case _:
            return form


def safe_json(text: str) -> str:
    r"""JSON that means the same, and has no commands to a terminal in it.

    >>> safe_json('{"a":"\x9b1m"}')
    '{"a":"\\u009b1m"}'
    """
    if text.isascii():  # most often; what is below 0x20 is escaped already
        return text.replace("\x7f", "\\u007f")
    return _COMMANDS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
