"""The functions of CloudEvents SQL, by name and number of arguments.

Reference:
    CloudEvents SQL 1.0, sections 3.5 and 3.7.
"""

from typing import NamedTuple

from siena.dialects.cesql.types import Type, Typed, cast
from siena.model.expression import Operation, call

_TEXT, _WHOLE, _TRUTH = Type.STRING, Type.INTEGER, Type.BOOLEAN


class Function(NamedTuple):
    """What a function takes and gives; ``more`` is the type of any further argument."""

    operation: Operation
    takes: tuple[Type, ...]
    gives: Type
    more: Type | None = None


FUNCTIONS: dict[str, tuple[Function, ...]] = {
    "LENGTH": (Function(Operation.LENGTH, (_TEXT,), _WHOLE),),
    "CONCAT": (Function(Operation.CONCAT, (), _TEXT, more=_TEXT),),
    "CONCAT_WS": (Function(Operation.JOIN, (_TEXT,), _TEXT, more=_TEXT),),
    "LOWER": (Function(Operation.LOWER, (_TEXT,), _TEXT),),
    "UPPER": (Function(Operation.UPPER, (_TEXT,), _TEXT),),
    "TRIM": (Function(Operation.TRIM, (_TEXT,), _TEXT),),
    "LEFT": (Function(Operation.CE_LEFT, (_TEXT, _WHOLE), _TEXT),),
    "RIGHT": (Function(Operation.CE_RIGHT, (_TEXT, _WHOLE), _TEXT),),
    "SUBSTRING": (
        Function(Operation.CE_SUBSTRING, (_TEXT, _WHOLE), _TEXT),
        Function(Operation.CE_SUBSTRING, (_TEXT, _WHOLE, _WHOLE), _TEXT),
    ),
    "ABS": (Function(Operation.CE_ABSOLUTE, (_WHOLE,), _WHOLE),),
}
_CASTS = {"INT": _WHOLE, "STRING": _TEXT, "BOOL": _TRUTH}


def invoke(name: str, arguments: list[Typed]) -> Typed | None:
    """The call of a function, or None if there is none with so many arguments."""
    if name in _CASTS and len(arguments) == 1:
        return Typed(cast(arguments[0], _CASTS[name]), _CASTS[name])
    for function in FUNCTIONS.get(name, ()):
        takes, more = function.takes, function.more
        missing = len(arguments) - len(takes)
        if missing == 0 or (missing > 0 and more is not None):
            wanted = takes + (more,) * missing if more is not None else takes
            parts = [cast(a, t) for a, t in zip(arguments, wanted, strict=True)]
            return Typed(call(function.operation, *parts), function.gives)
    return None
