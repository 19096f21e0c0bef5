"""What is wrong with settings, and what could stand there instead.

msgspec says what it found and where; here the type at that place says what it would
have taken.
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches

import msgspec
from msgspec import inspect

from siena.errors import SienaError

# How like a word must be to one that is known, to be taken for it: one slip in five.
LIKENESS_MIN = 0.6
_PLACE = re.compile(r" - at `\$(?P<path>.*)`$")
_STEP = re.compile(r"\.(?P<name>[^.\[]+)|\[(?P<number>[^\]]*)\]")
_UNKNOWN = re.compile(r"unknown field `(?P<word>[^`]*)`")
_NO_CHOICE = re.compile(r"Invalid enum value '(?P<word>[^']*)'")


def explained(error: msgspec.ValidationError, kind: type) -> SienaError:
    """The error, with a hint that names the choices and the likeliest of them.

    >>> class Links(msgspec.Struct, forbid_unknown_fields=True):
    ...     url: str
    ...     weight: float = 1.0
    >>> try:
    ...     msgspec.convert({"wieght": 2}, Links)
    ... except msgspec.ValidationError as error:
    ...     raise explained(error, Links)
    Traceback (most recent call last):
    siena.errors.SienaError: Object contains unknown field `wieght`
    (did you mean weight? there are: url, weight)
    """
    text = str(error)
    place = _PLACE.search(text)
    path = place["path"] if place else ""
    unknown, no_choice = _UNKNOWN.search(text), _NO_CHOICE.search(text)
    found = unknown or no_choice
    if found is None:
        return SienaError(text)
    choices = sorted(_choices(inspect.type_info(kind), path, is_field=bool(unknown)))
    return SienaError(text, hint=_hint(found["word"], choices))


def _hint(word: str, choices: list[str]) -> str:
    likely = get_close_matches(word.lower(), choices, n=1, cutoff=LIKENESS_MIN)
    meant = f"did you mean {likely[0]}? " if likely else ""
    return f"{meant}there are: {', '.join(choices)}"


def _choices(kind: inspect.Type, path: str, *, is_field: bool) -> Iterator[str]:
    """The names of fields, or the words, that may stand at a place."""
    for found in _at(kind, [step.groupdict() for step in _STEP.finditer(path)]):
        if is_field and isinstance(found, inspect.StructType):
            yield from (field.encode_name for field in found.fields)
        elif isinstance(found, inspect.LiteralType):
            yield from map(str, found.values)


def _at(
    kind: inspect.Type, steps: list[dict[str, str | None]]
) -> Iterator[inspect.Type]:
    """The types of what stands at the end of a path."""
    if isinstance(kind, inspect.UnionType):
        for each in kind.types:
            yield from _at(each, steps)
    elif not steps:
        yield kind
    elif isinstance(kind, inspect.StructType):
        for field in kind.fields:
            if field.encode_name == steps[0]["name"]:
                yield from _at(field.type, steps[1:])
    elif isinstance(kind, inspect.VarTupleType | inspect.ListType):
        yield from _at(kind.item_type, steps[1:])
    elif isinstance(kind, inspect.DictType):
        yield from _at(kind.value_type, steps[1:])
