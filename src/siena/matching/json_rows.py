"""Blocks of JSON texts, many at a time.

The reader of :mod:`siena.lang` decides what is a notification.  Most texts are so plain
that a faster reader cannot disagree with it; the others go to it.
"""

import re
from collections.abc import Iterable
from datetime import datetime

import msgspec
import numpy as np
import numpy.typing as npt

from siena.errors import SienaError
from siena.lang.notification_form import notification_from_text
from siena.matching.blocks import encode
from siena.model import Value
from siena.model.limits import (
    ATTRIBUTES_MAX,
    NAME_CHARACTERS_MAX,
    STRING_CHARACTERS_MAX,
    TEXT_CHARACTERS_MAX,
)
from siena.model.values import INTEGER_MAX, INTEGER_MIN

_DECODER = msgspec.json.Decoder()
# Times as we print them, whose hours no Python reads in another way.
_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
    r"(\.[0-9]{6})?Z"
)
# What no string of a text exceeds, if the text does not.
_CHARACTERS_MAX = min(STRING_CHARACTERS_MAX, TEXT_CHARACTERS_MAX)


def encode_texts(
    texts: Iterable[bytes | None],
) -> tuple[bytes, npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Blocks back to back, where they begin and end, and which texts have none.

    >>> encode_texts([b'{"x": 1}', b"[]", None])[2].tolist()
    [False, True, True]
    """
    blocks = [_encode(text) for text in texts]
    offsets = np.zeros(len(blocks) + 1, np.int64)
    np.cumsum([len(block) for block in blocks], out=offsets[1:])
    return b"".join(blocks), offsets, np.diff(offsets) == 0


def _encode(text: bytes | None) -> bytes:
    """The block of a text; no block is empty, so an empty one says that it is bad."""
    if text is None:
        return b""
    try:
        characters = text.decode()
        plain = read_plain(text, characters)
        return encode(notification_from_text(characters) if plain is None else plain)
    except (SienaError, UnicodeDecodeError):
        return b""


def read_plain(text: bytes, characters: str) -> dict[str, Value] | None:
    r"""The notification of a plain text, without its nulls; or none for any other text.

    >>> text = '{"x": 1, "y": null}'
    >>> read_plain(text.encode(), text)
    {'x': 1}
    >>> text = '{"x": 1, "x": 2}'
    >>> read_plain(text.encode(), text)

    A colon stands behind each name, and in strings.  If there are no more of them than
    what was read accounts for, no name was there twice.
    """
    if (
        len(characters) > _CHARACTERS_MAX
        or "\\" in characters
        or not characters.isprintable()  # the readers differ about control characters
    ):
        return None
    try:
        read = _DECODER.decode(text)
    except msgspec.DecodeError:
        return None  # why, the other reader says
    if type(read) is not dict or len(read) > ATTRIBUTES_MAX:
        return None
    if len(text) > NAME_CHARACTERS_MAX and max(map(len, read)) > NAME_CHARACTERS_MAX:
        return None
    colons = text.count(b":")
    if colons != len(read) and colons != _colons(read):
        return None
    found: dict[str, Value] = {}
    for name, form in read.items():
        if form is not None:
            value = _plain_value(form)
            if value is None:
                return None
            found[name] = value
    return found


def _colons(read: dict[str, object]) -> int:
    """How many colons a text has that reads so, if no name is there twice."""
    count = len(read) + sum(name.count(":") for name in read)
    for form in read.values():
        if type(form) is str:
            count += form.count(":")
        elif type(form) is dict:
            count += sum(1 + str(value).count(":") for value in form.values())
    return count


def _plain_value(form: object) -> Value | None:
    """The value that both readers make of a form, or none."""
    if type(form) is str or type(form) is bool:
        return form
    if type(form) is int:
        return form if INTEGER_MIN <= form <= INTEGER_MAX else None
    if type(form) is float:
        # The fast reader makes floats of integers that are too long.
        return form if INTEGER_MIN < form < INTEGER_MAX else None
    if type(form) is dict and form.keys() == {"time"}:
        text = form["time"]
        if type(text) is str and _TIME.fullmatch(text):
            try:
                return datetime.fromisoformat(text)
            except ValueError:
                return None  # no such day
    return None
