"""Multi-valued attributes for an engine that sees one value of each.

An event with several values is matched as all *choices* of one value of each attribute.
A filter with one constraint for each such name matches a choice exactly if each of its
constraints is satisfied by one of the values, whichever.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
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
    several = {n: dict.fromkeys(_kinds(v)) for n, v in event.items() if _is_several(v)}
    if math.prod(map(len, several.values())) > CHOICES_MAX:
        what = "choices among values of multi-valued attributes"
        raise LimitError("CHOICES_MAX", CHOICES_MAX, what)
    plain = {n: v for n, v in event.items() if type(v) is not tuple}
    for chosen in itertools.product(*several.values()):
        values = (value for _, value in chosen)
        yield dict(zip(several, values, strict=True)) | plain


def _is_several(value: object) -> bool:
    return type(value) is tuple and value != ()


def _kinds(values: tuple[Value, ...]) -> Iterator[tuple[type, Value]]:
    # Python calls 1, 1.0 and True equal.
    return ((type(value), value) for value in values)
