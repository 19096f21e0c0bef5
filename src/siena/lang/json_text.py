"""Reading JSON strictly: what Python's reader would let pass is refused.

The standard library's ``json`` is used rather than a faster one, because it is
the one that shows every pair of an object: a name that occurs twice in a
notification is an error, and must not be lost in a dictionary.
"""

import json
from typing import NoReturn

from siena.errors import InvalidFormError, LimitError
from siena.model.limits import TEXT_CHARACTERS_MAX

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def read_json(text: str) -> Json:
    """The JSON value of a text.

    >>> read_json('{"level": 5}')
    {'level': 5}
    >>> read_json('{"level": 5, "level": 6}')
    Traceback (most recent call last):
    siena.errors.InvalidFormError: the name "level" occurs twice in one object
    >>> read_json("[NaN]")
    Traceback (most recent call last):
    siena.errors.InvalidFormError: NaN is not a value (numbers are finite)
    """
    if len(text) > TEXT_CHARACTERS_MAX:
        raise LimitError(
            "TEXT_CHARACTERS_MAX", TEXT_CHARACTERS_MAX, "characters of text"
        ).at(text, TEXT_CHARACTERS_MAX)
    try:
        value: Json = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        raise InvalidFormError(f"this is not JSON: {error.msg}").at(
            text, error.pos
        ) from None
    except RecursionError:
        raise InvalidFormError("this JSON is nested too deeply") from None
    return value


def _pairs(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                shown = json.dumps(name[:40])
                raise InvalidFormError(f"the name {shown} occurs twice in one object")
            seen.add(name)
    return found


def _constant(name: str) -> NoReturn:
    raise InvalidFormError(f"{name} is not a value", hint="numbers are finite")


def _integer(digits: str) -> int:
    # An integer of a million digits is refused before the time to convert it.
    if len(digits) > 20:
        raise InvalidFormError(f"{digits[:20]}… does not fit in 64 bits")
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits)
    if number in {float("inf"), float("-inf")}:
        raise InvalidFormError(f"{digits[:40]} is too large for a float")
    return number


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs,
    parse_constant=_constant,
    parse_int=_integer,
    parse_float=_float,
)
