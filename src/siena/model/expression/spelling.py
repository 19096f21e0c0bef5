"""How expressions are written, so that what is printed can be read back.

A constraint stands in brackets, as filters do.  Strings are always quoted, because a
word is an attribute here: ``[level > 3] and length(name) < limit``.  An attribute that
is not a plain word is written ``attribute("its name")``.
"""

import re

from siena.model.constraint import Constraint
from siena.model.expression.operations import ATOM, Operation
from siena.model.expression.tree import Attribute, Call, Expression, Literal
from siena.model.spelling import quote, spell

# An attribute that needs no quotes.  Fewer characters than in filters: others are
# operations here.
EXPRESSION_WORD = r"[A-Za-z_][\w.]*"
RESERVED_WORDS = frozenset({"and", "or", "xor", "not", "except", "true", "false"})
_WORD = re.compile(EXPRESSION_WORD, re.ASCII)


def spell_expression(expression: Expression) -> str:
    """The text of an expression.

    >>> x, y = Attribute("x"), Attribute("a b")
    >>> print(spell_expression(Call(Operation.LT, (x, y))))
    x < attribute("a b")
    """
    return _spell(expression, 0)


def _spell(expression: Expression, strength: int) -> str:
    """The text, in parentheses if it binds more weakly than is wanted here."""
    match expression:
        case Literal(value):
            return quote(value) if isinstance(value, str) else spell(value)
        case Attribute(name):
            is_plain = _WORD.fullmatch(name) and name.lower() not in RESERVED_WORDS
            return name if is_plain else f"attribute({quote(name)})"
        case Constraint():
            return f"[{expression}]"
        case Call(operation, arguments):
            own = operation.shape.strength
            if own is None:
                inside = ", ".join(_spell(argument, 0) for argument in arguments)
                return f"{operation.value}({inside})"
            text = _spell_joined(operation, arguments, own)
            return f"({text})" if own < strength else text


def _spell_joined(
    operation: Operation, arguments: tuple[Expression, ...], strength: int
) -> str:
    if operation is Operation.NOT:
        return f"not {_spell(arguments[0], strength)}"
    # Joined from the left: only the first part may be as weak as the whole.
    first, *rest = arguments
    parts = [_spell(first, strength), *(_spell(part, strength + 1) for part in rest)]
    return f" {operation.value} ".join(parts)


assert all((o.shape.strength or 0) < ATOM for o in Operation)
