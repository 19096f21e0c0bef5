"""Multi-valued attributes for an engine that sees one value of each.

An event with several values is matched as all *choices* of one value of each attribute.
A filter with one constraint for each such name matches a choice exactly if each of its
constraints is satisfied by one of the values, whichever.
"""

import itertools
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from siena.errors import LimitError
from siena.model import Value

# Choices of one event: each is matched for itself.
CHOICES_MAX = 4_096


def choices_of(event: Mapping[str, Any]) -> Iterator[dict[str, Value]]:
    """An event with one value of each attribute, in every way that there is.

    >>> list(choices_of({"x": (1, 2), "y": (), "z": 3}))
    [{'x': 1, 'z': 3}, {'x': 2, 'z': 3}]

    Raises:
        LimitError: if there are too many.
    """
    several = distinct_values(event)
    require_few(math.prod(map(len, several.values())))
    plain = {n: v for n, v in event.items() if type(v) is not tuple}
    for chosen in itertools.product(*several.values()):
        yield dict(zip(several, chosen, strict=True)) | plain


def values_apart(
    event: Mapping[str, Any], names: Collection[str]
) -> Iterator[dict[str, Value]]:
    """An event with one value of each attribute, so that every value is there once.

    As many as one of the ``names`` has values, and not all choices of them: enough for
    filters that ask for one of these names only.

    >>> list(values_apart({"x": (1, 2, 3), "y": (4, 5), "z": 6}, {"x", "y"}))
    [{'x': 1, 'y': 4, 'z': 6}, {'x': 2, 'y': 5, 'z': 6}, {'x': 3, 'y': 5, 'z': 6}]
    """
    several = {n: v for n, v in distinct_values(event).items() if n in names}
    plain = {n: v for n, v in event.items() if type(v) is not tuple}
    for turn in range(max(map(len, several.values()), default=1)):
        chosen = {n: v[min(turn, len(v) - 1)] for n, v in several.items()}
        yield chosen | plain


def distinct_values(event: Mapping[str, Any]) -> dict[str, list[Value]]:
    """The different values of each attribute that has several."""
    return {
        name: [value for _, value in dict.fromkeys(_kinds(values))]
        for name, values in event.items()
        if type(values) is tuple and values != ()
    }


def require_few(count: int) -> None:
    """Refuse what has too many choices.

    Raises:
        LimitError: if they are.
    """
    if count > CHOICES_MAX:
        what = "choices among values of multi-valued attributes"
        raise LimitError("CHOICES_MAX", CHOICES_MAX, what)


def _kinds(values: tuple[Value, ...]) -> Iterator[tuple[type, Value]]:
    # Python calls 1, 1.0 and True equal.
    return ((type(value), value) for value in values)
