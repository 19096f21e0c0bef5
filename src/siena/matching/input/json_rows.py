"""Blocks of JSON texts, many at a time.

The reader of :mod:`siena.lang` decides what is a notification.  Most texts are so plain
that a kernel reads them, most others such that a faster reader cannot disagree with it;
the rest goes to it.
"""

import re
from datetime import datetime

import msgspec
import numpy as np
import numpy.typing as npt

from siena.block import encode, encode_in_order
from siena.errors import SienaError
from siena.lang.notification_form import notification_from_text
from siena.matching.input.arrow import TextColumn
from siena.matching.input.buffers import join
from siena.matching.kernels.json import Transcoder
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
# How much longer a block may be than its text: of "1.5" become nine bytes; and what
# else it may have, its header.
BLOCK_BYTES_PER_BYTE = 3
ROOM_PER_TEXT = 16
# What no string of a text exceeds, if the text does not.
_CHARACTERS_MAX = min(STRING_CHARACTERS_MAX, TEXT_CHARACTERS_MAX)


def encode_texts(
    texts: TextColumn,
) -> tuple[bytes | memoryview, npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Blocks back to back, where they begin and end, and which texts have none.

    >>> encode_texts(TextColumn.of([b'{"x": 1}', b"[]", None]))[2].tolist()
    [False, True, True]

    Of a name that occurs twice in a plain text the engine finds out.
    """
    rows = len(texts.there)
    size = int(texts.starts[-1] - texts.starts[0])
    if _longest(texts) > _CHARACTERS_MAX:
        return _encode_slowly(texts)
    out = np.empty(BLOCK_BYTES_PER_BYTE * size + ROOM_PER_TEXT * rows + 1, np.uint8)
    ends = np.zeros(rows + 1, np.int64)
    plain = np.zeros(rows, np.uint8)
    transcoder = Transcoder(texts.data, out, np.empty(2 * ATTRIBUTES_MAX, np.int64))
    transcoder.run(texts.starts, texts.there, ends, plain)
    left = np.flatnonzero(plain == 0).tolist()
    if not left:
        return out[: ends[-1]].data, ends, plain == 0
    blocks = out.data
    pieces: list[bytes | memoryview] = []
    sizes = np.diff(ends)
    done = 0
    for row in left:
        block = _encode(texts.text(row))
        pieces += [blocks[ends[done] : ends[row]], block]
        sizes[row] = len(block)
        done = row
    pieces.append(blocks[ends[done] : ends[-1]])
    np.cumsum(sizes, out=ends[1:])
    return b"".join(pieces), ends, sizes == 0


def _longest(texts: TextColumn) -> int:
    return int(np.diff(texts.starts).max(initial=0))


def _encode_slowly(
    texts: TextColumn,
) -> tuple[bytes, npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """The same, text by text: the twin, and for texts that may be too long."""
    blocks = [_encode(texts.text(row)) for row in range(len(texts.there))]
    data, offsets = join(blocks)
    return data, offsets, np.diff(offsets) == 0


def _encode(text: bytes | None) -> bytes:
    """The block of a text; no block is empty, so an empty one says that it is bad."""
    if text is None:
        return b""
    try:
        characters = text.decode()
        plain = read_plain(text, characters)
        if plain is not None:
            return encode_in_order(plain)
        return encode(notification_from_text(characters))
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
