"""Why a rule fires: the constraints that held, each with the value that it held of."""

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import pyarrow as pa

from siena.model import Constraint, Filter
from siena.model.expression import Expression, names_of, spell_expression
from siena.model.expression.evaluation import satisfies
from siena.model.spelling import spell
from siena.model.values import Value

# Of a residual, or of a value, what an alert shows.
SHOWN_CHARACTERS = 1_000

WHY = pa.list_(
    pa.struct(
        [
            pa.field("attribute", pa.string()),
            pa.field("constraint", pa.string()),
            pa.field("value", pa.string()),
        ]
    )
)


class Held(NamedTuple):
    """Something that held: of which attribute, what it says, and of which value."""

    attribute: str | None
    constraint: str
    value: str | None


def why(
    filters: Iterable[Filter], residual: Expression | None, event: Mapping[str, Value]
) -> list[dict[str, str | None]]:
    """What held of an event, for the first of the filters that it satisfies.

    >>> from siena.lang.parser import parse_filter
    >>> for held in why([parse_filter("x > 3 and y absent")], None, {"x": 5}):
    ...     print(held)
    {'attribute': 'x', 'constraint': 'x > 3', 'value': '5'}
    {'attribute': 'y', 'constraint': 'y absent', 'value': None}
    """
    for each in filters:
        if all(satisfies(constraint, event) for constraint in each):
            held = [_held(constraint, event) for constraint in each]
            break
    else:
        held = []
    if residual is not None:
        names = sorted(names_of(residual))
        values = ", ".join(f"{n} = {_spelled(event[n])}" for n in names if n in event)
        text = spell_expression(residual)[:SHOWN_CHARACTERS]
        held.append(Held(None, text, values[:SHOWN_CHARACTERS] or None))
    return [each._asdict() for each in held]


def _held(constraint: Constraint, event: Mapping[str, Value]) -> Held:
    value: Any = event.get(constraint.name)
    if type(value) is tuple:  # of several, the first that it holds of
        each = (v for v in value if satisfies(constraint, {constraint.name: v}))
        value = next(each, None)
    shown = None if value is None else spell(value)[:SHOWN_CHARACTERS]
    return Held(constraint.name, str(constraint), shown)


def _spelled(value: Any) -> str:  # noqa: ANN401 -- a value, or several
    if type(value) is tuple:
        return f"({', '.join(map(spell, value))})"
    return spell(value)
