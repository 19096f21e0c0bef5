"""What an expression needs to have a value: which attributes, of which kinds.

Everything but logic is strict: what is computed from something unknown is unknown.  So
whatever is true needs its attributes to be there, of kinds that its functions take.
"""

from siena.model import Kind
from siena.model.expression import Attribute, Call, Expression, Literal, Operation
from siena.model.expression.operations import COMPARISONS

_NUMBERS = Kind.NUMBER.parts
_STRINGS = Kind.STRING.parts
Needs = dict[str, frozenset[Kind]]

# What the first arguments of functions are; those that take anything are not here.
_TAKES: dict[Operation, tuple[frozenset[Kind], ...]] = {
    Operation.SUBTRACT: (_NUMBERS, _NUMBERS),
    Operation.MULTIPLY: (_NUMBERS, _NUMBERS),
    Operation.DIVIDE: (_NUMBERS, _NUMBERS),
    Operation.REMAINDER: (_NUMBERS, _NUMBERS),
    Operation.QUOTIENT: (_NUMBERS, _NUMBERS),
    Operation.MODULO: (Kind.INTEGER.parts, Kind.INTEGER.parts),
    Operation.NEGATIVE: (_NUMBERS,),
    Operation.ABSOLUTE: (_NUMBERS,),
    Operation.STARTS_WITH: (_STRINGS, _STRINGS),
    Operation.ENDS_WITH: (_STRINGS, _STRINGS),
    Operation.CONTAINS: (_STRINGS, _STRINGS),
    Operation.LIKE: (_STRINGS,),
    Operation.MATCHES: (_STRINGS,),
    Operation.IN_NETWORK: (_STRINGS,),
    Operation.CE_TEXT: (_STRINGS,),
    Operation.LENGTH: (_STRINGS,),
    Operation.LOWER: (_STRINGS,),
    Operation.UPPER: (_STRINGS,),
    Operation.FOLD: (_STRINGS,),
    Operation.TRIM: (_STRINGS,),
    Operation.LEFT: (_STRINGS, Kind.INTEGER.parts),
    Operation.RIGHT: (_STRINGS, Kind.INTEGER.parts),
    Operation.SUBSTRING: (_STRINGS, Kind.INTEGER.parts, Kind.INTEGER.parts),
}


def needs_of(expression: Expression) -> Needs:
    """The kinds that each attribute must have for an expression to have a value.

    >>> from siena.lang.expression.parser import parse_expression as parse
    >>> {name: len(kinds) for name, kinds in needs_of(parse("x * 2 > y")).items()}
    {'x': 2, 'y': 5}
    """
    found: Needs = {}
    _gather(expression, Kind.ANY.parts, found)
    return found


def _gather(expression: Expression, kinds: frozenset[Kind], found: Needs) -> None:
    """Add what an expression needs to have a value of one of these kinds."""
    if isinstance(expression, Attribute):
        name = expression.name
        found[name] = found.get(name, Kind.ANY.parts) & kinds
    elif isinstance(expression, Call):
        arguments = expression.arguments
        takes = _TAKES.get(expression.operation, ())
        if expression.operation is Operation.ADD:
            takes = (_like_literals(arguments, kinds & (_NUMBERS | _STRINGS)),) * 2
        elif expression.operation in COMPARISONS:
            takes = (_like_literals(arguments, Kind.ANY.parts),) * 2
        for i, argument in enumerate(arguments):
            _gather(argument, takes[i] if i < len(takes) else Kind.ANY.parts, found)


def _like_literals(
    arguments: tuple[Expression, ...], kinds: frozenset[Kind]
) -> frozenset[Kind]:
    """The kinds that are like every literal among the arguments."""
    for argument in arguments:
        if isinstance(argument, Literal):
            kinds &= Kind.wanted_by(argument.value).parts
    return kinds
