"""Blocks of JSON texts, many at a time.

The reader of :mod:`siena.lang` decides what is a notification.  Most texts are so plain
that a faster reader cannot disagree with it; the others go to it.
"""

from collections.abc import Iterable

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

    As many colons as names: then no colon is in a string, nor any name there twice.
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
    if (
        type(read) is not dict
        or len(read) > ATTRIBUTES_MAX
        or len(read) != text.count(b":")
    ):
        return None
    if len(text) > NAME_CHARACTERS_MAX and max(map(len, read)) > NAME_CHARACTERS_MAX:
        return None
    kept = {name: value for name, value in read.items() if value is not None}
    return kept if all(map(_is_plain, kept.values())) else None


def _is_plain(value: object) -> bool:
    """Whether both readers make the same of the value."""
    if type(value) is int:
        return INTEGER_MIN <= value <= INTEGER_MAX
    if type(value) is float:
        # The fast reader makes floats of integers that are too long.
        return INTEGER_MIN < value < INTEGER_MAX
    return type(value) is str or type(value) is bool
