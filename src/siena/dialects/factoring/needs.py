"""What an expression needs to have a value: which attributes, of which kinds.

Functions and comparisons are strict: what they compute from something unknown is
unknown.  So whatever is true needs their attributes to be there, of kinds that they
take.  Logic is not, also where it stands inside a comparison: ``and`` and ``or`` may be
decided by one side, ``except``, ``holds`` and ``some`` by what is not there.  Nor is
``one_of`` strict in its members, of which one that is equal is enough.
"""

from collections.abc import Iterator

from siena.model import Kind
from siena.model.expression import Attribute, Call, Expression, Literal, Operation
from siena.model.expression.operations import COMPARISONS, LOGIC

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


# What may have a value although a part of it has none, or is not looked at.
_LENIENT = LOGIC - {Operation.NOT, Operation.XOR}


def needs_of(expression: Expression, many: frozenset[str] = frozenset()) -> Needs:
    """The kinds that each attribute must have for an expression to have a value.

    >>> from siena.lang.expression.parser import parse_expression as parse
    >>> {name: len(kinds) for name, kinds in needs_of(parse("x * 2 > y")).items()}
    {'x': 2, 'y': 5}
    >>> needs_of(parse("(x > y or z) = true"))
    {}

    Of the ``many``, which may have several values, one value may be what one place
    needs and another what the next does: the narrowest of these needs is told.
    """
    found: Needs = {}
    for name, kinds in _gather(expression, Kind.ANY.parts):
        known = found.get(name, kinds)
        found[name] = min(known, kinds, key=len) if name in many else known & kinds
    return found


def always_asked(expression: Expression) -> Iterator[Call]:
    """The calls in an expression that are evaluated, whatever the others come to.

    >>> from siena.lang.expression.parser import parse_expression as parse
    >>> [c.operation.value for c in always_asked(parse("(length(x) > y or z) = true"))]
    ['=']
    """
    if isinstance(expression, Call) and expression.operation not in _LENIENT:
        yield expression
        for argument in expression.arguments:
            yield from always_asked(argument)


def _gather(
    expression: Expression, kinds: frozenset[Kind]
) -> Iterator[tuple[str, frozenset[Kind]]]:
    """The attributes that an expression needs to have a value of one of these kinds."""
    if isinstance(expression, Attribute):
        yield expression.name, kinds
    elif isinstance(expression, Call) and expression.operation not in _LENIENT:
        arguments = expression.arguments
        takes = _TAKES.get(expression.operation, ())
        if expression.operation is Operation.ADD:
            takes = (_like_literals(arguments, kinds & (_NUMBERS | _STRINGS)),) * 2
        elif expression.operation in COMPARISONS:
            takes = (_like_literals(arguments, Kind.ANY.parts),) * 2
        elif expression.operation is Operation.ONE_OF:
            arguments = arguments[:1]
        for i, argument in enumerate(arguments):
            yield from _gather(argument, takes[i] if i < len(takes) else Kind.ANY.parts)


def _like_literals(
    arguments: tuple[Expression, ...], kinds: frozenset[Kind]
) -> frozenset[Kind]:
    """The kinds that are like every literal among the arguments."""
    for argument in arguments:
        if isinstance(argument, Literal):
            kinds &= Kind.wanted_by(argument.value).parts
    return kinds
