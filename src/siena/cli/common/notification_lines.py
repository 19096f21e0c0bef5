"""Notifications as lines of bytes: cut as they come, and read, mostly fast.

Most lines are JSON objects without anything surprising in them.  Those are read by
msgspec and checked here; every other line, good or bad, by the language's own reader,
which alone decides what a notification is and what is wrong with a bad one.
"""

import os
import select
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from siena.errors import LimitError, SienaError
from siena.lang.notification_form import value_from_json
from siena.lang.parser import parse_notification
from siena.model import Value
from siena.model.limits import ATTRIBUTES_MAX, NAME_CHARACTERS_MAX
from siena.model.values import INTEGER_MAX, INTEGER_MIN

# One line of input; what is longer is refused and skipped.
LINE_BYTES_MAX = 4 * 1_048_576
# What is read at a time: lines that are there are matched together, and none waits.
CHUNK_BYTES = 65_536
# No string in so short a line can be too long, so nobody needs to look.
PLAIN_BYTES_MAX = 65_536
# Times come close together; so many are remembered.
TIMES_REMEMBERED = 1_024

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_DECODER = msgspec.json.Decoder()


def read_notification(line: bytes) -> Mapping[str, Value]:
    """The attributes of the notification on a line, text or JSON.

    >>> read_notification(b'{"level": 5, "where": null}')
    {'level': 5}
    >>> read_notification(b"level = 5")
    <Notification level = 5>
    >>> read_notification(b'{"level": 5, "level": 6}')
    Traceback (most recent call last):
    siena.errors.InvalidFormError: column 1: the name "level" occurs twice in one object

    Cost: 12 µs for a flight of nineteen attributes, a sixth of the full reader's.
    """
    plain = _read_plain(line)
    return _read_fully(line) if plain is None else plain


def lines_of(
    source: int, left_s: Callable[[], float | None] = lambda: None
) -> Iterator[list[bytes]]:
    """The lines, as many at a time as are there; of a long one, enough to refuse it.

    Raises:
        TimeoutError: if none comes while there is time left, where that is limited.
    """
    rest = b""
    is_first = True
    while chunk := _read(source, left_s()):
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > 2 * LINE_BYTES_MAX:
            rest = rest[: LINE_BYTES_MAX + 1]
        if is_first and lines:
            lines[0] = lines[0].removeprefix(_BYTE_ORDER_MARK)
            is_first = False
        yield lines
    if rest:
        yield [rest.removeprefix(_BYTE_ORDER_MARK) if is_first else rest]


def _read(source: int, left_s: float | None) -> bytes:
    # Windows waits for sockets only.
    if left_s is not None and sys.platform != "win32":
        readable, _, _ = select.select([source], [], [], left_s)
        if not readable:
            raise TimeoutError
    return os.read(source, CHUNK_BYTES)


def _read_plain(line: bytes) -> dict[str, Value] | None:
    """The same as the full reader, or ``None`` if it has to be asked.

    msgspec keeps the last of two equal names, and the full reader refuses them.  So
    colons are counted: there is one behind each name, and the others are in strings.
    None is hidden, because a line with an escape is not plain.
    """
    form = _decode(line)
    if form is None:
        return None
    found: dict[str, Value] = {}
    colons = len(form) + "".join(form).count(":")
    for name, value in form.items():
        kind = type(value)
        if kind is int and INTEGER_MIN <= value <= INTEGER_MAX:
            found[name] = value
        elif kind is str:
            found[name] = value
            colons += value.count(":")
        elif value is not None:
            read = _read_value(value)
            if read is None:
                return None
            found[name] = read
            if kind is dict:
                colons += 1 + value["time"].count(":")
    return found if colons == line.count(b":") else None


def _decode(line: bytes) -> dict[str, Any] | None:
    if len(line) > PLAIN_BYTES_MAX or b"\\" in line:
        return None
    try:
        form = _DECODER.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if type(form) is not dict or not 0 < len(form) <= ATTRIBUTES_MAX:
        return None
    return form if max(map(len, form)) <= NAME_CHARACTERS_MAX else None


def _read_value(form: object) -> Value | None:
    """What is neither a string nor an integer; ``None`` for what is not a value."""
    if isinstance(form, bool):
        return form
    if isinstance(form, float):
        return form + 0.0  # -0.0 is 0.0 everywhere here
    if isinstance(form, dict) and form.keys() == {"time"}:
        text = form["time"]
        return _read_time(text) if isinstance(text, str) else None
    return None


@lru_cache(TIMES_REMEMBERED)
def _read_time(text: str) -> Value | None:
    try:
        return value_from_json({"time": text})
    except SienaError:
        return None


def _read_fully(line: bytes) -> Mapping[str, Value]:
    return parse_notification(text_of(line))


def text_of(line: bytes) -> str:
    """The text of a line that is not too long.

    Raises:
        SienaError: if it is, or is no text.
    """
    if len(line) > LINE_BYTES_MAX:
        raise LimitError("LINE_BYTES_MAX", LINE_BYTES_MAX, "bytes in a line")
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise SienaError(f"byte {error.start + 1} is not UTF-8") from None
