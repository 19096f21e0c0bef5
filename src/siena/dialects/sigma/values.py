"""What a field of a Sigma rule is compared with.

Strings ignore case and may have wildcards.  Logs are careless about types: the number
4688 is also the text ``"4688"``, and ``true`` the text, in any case.
"""

import re
from collections.abc import Callable

from sigma.types import (
    CompareOperators,
    SigmaBool,
    SigmaCasedString,
    SigmaCIDRExpression,
    SigmaCompareExpression,
    SigmaExists,
    SigmaExpansion,
    SigmaFieldReference,
    SigmaNull,
    SigmaNumber,
    SigmaRegularExpression,
    SigmaRegularExpressionFlag,
    SigmaString,
    SigmaTimestampPart,
    SigmaType,
    SpecialChars,
)

from siena.dialects.sigma.numbers import like_number, matches_number
from siena.errors import FilterError
from siena.model import Constraint, Operator
from siena.model.expression import (
    Attribute,
    Expression,
    Literal,
    Operation,
    any_of,
    call,
)
from siena.model.expression.regular import compile_regular
from siena.model.wildcards import escape, read_wildcards

_COMPARISONS = {
    CompareOperators.LT: Operator.LT,
    CompareOperators.LTE: Operator.LE,
    CompareOperators.GT: Operator.GT,
    CompareOperators.GTE: Operator.GE,
    CompareOperators.NEQ: Operator.NE,
}
_FLAGS = {
    SigmaRegularExpressionFlag.IGNORECASE: "i",
    SigmaRegularExpressionFlag.MULTILINE: "m",
    SigmaRegularExpressionFlag.DOTALL: "s",
}
# From here on integers lie between those that are doubles.
EXACT_INTEGERS = 2**53
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]+)?")


NameOf = Callable[[str], str]
"""The attribute that a field is in."""


def read_value(name: str, value: SigmaType, name_of: NameOf = str) -> Expression:
    """The condition that an attribute has a value; of an absent one it is not true.

    The value may be another field, whose attribute ``name_of`` says.
    """
    match value:
        case SigmaExpansion():
            return any_of(read_value(name, each, name_of) for each in value.values)
        case SigmaFieldReference():
            return _reference(name, name_of(value.field), value)
        case SigmaString():
            return _string(name, value)
        case SigmaTimestampPart():
            raise FilterError(f"{name}: parts of times are not compared")
        case SigmaNumber():
            return _number(name, exact_number(name, value))
        case SigmaBool():
            return _boolean(name, "true" if value.boolean else "false")
        case _:
            return _test(name, value)


def _test(name: str, value: SigmaType) -> Expression:
    """The condition of a value that is no plain one."""
    match value:
        case SigmaNull():
            return Constraint(name, Operator.ABSENT)
        case SigmaExists():
            return Constraint(name, Operator.ANY if value.exists else Operator.ABSENT)
        case SigmaRegularExpression():
            pattern = regular_pattern(value)
            said = call(Operation.MATCHES, Attribute(name), Literal(pattern))
            return any_of((said, *matches_number(name, pattern)))
        case SigmaCIDRExpression():
            return call(Operation.IN_NETWORK, Attribute(name), Literal(value.cidr))
        case SigmaCompareExpression():
            operator = _COMPARISONS[value.op]
            return Constraint(name, operator, exact_number(name, value.number))
        case _:
            kind = type(value).__name__.removeprefix("Sigma")
            raise FilterError(f"{name}: a {kind} is not read")


def read_keyword(value: SigmaType) -> Expression:
    """The condition that a value occurs in some attribute, whichever it is."""
    match value:
        case SigmaExpansion():
            return any_of(map(read_keyword, value.values))
        case SigmaString():
            pattern = f"*{wildcards_of(value)}*"
            flag = "" if isinstance(value, SigmaCasedString) else "(?i)"
            return call(Operation.ANYWHERE_MATCHES, Literal(flag + regular_of(pattern)))
        case SigmaNumber():
            return call(
                Operation.ANYWHERE_LIKE, Literal(f"*{exact_number('', value)}*")
            )
        case SigmaRegularExpression():
            return call(Operation.ANYWHERE_MATCHES, Literal(regular_pattern(value)))
        case _:
            kind = type(value).__name__.removeprefix("Sigma")
            raise FilterError(f"a {kind} is not looked for without a field")


def wildcards_of(value: SigmaString) -> str:
    """A string of Sigma as a pattern."""
    found = []
    for part in value.s:
        if isinstance(part, str):
            found.append(escape(part))
        elif isinstance(part, SpecialChars):
            found.append("*" if part is SpecialChars.WILDCARD_MULTI else "?")
        else:
            raise FilterError(
                f"the placeholder %{part.name}% has no value",
                hint="a processing pipeline gives it one",
            )
    return "".join(found)


def regular_of(pattern: str) -> str:
    """A pattern with wildcards as a regular expression, for text that is searched."""
    parts = read_wildcards(pattern).parts
    found = (
        "".join(
            "(?s:.)" if is_open else re.escape(character)
            for character, is_open in zip(part.text, part.is_open, strict=True)
        )
        for part in parts
    )
    return "(?s:.*)".join(found).removeprefix("(?s:.*)").removesuffix("(?s:.*)")


def regular_pattern(value: SigmaRegularExpression) -> str:
    """A regular expression with its flags."""
    flags = "".join(sorted(_FLAGS[flag] for flag in value.flags))
    text = str(value.regexp)
    pattern = f"(?{flags}){text}" if flags else text
    compile_regular(pattern)  # refused now, if it has to be, and not on the first event
    return pattern


def _string(name: str, value: SigmaString) -> Expression:
    pattern = wildcards_of(value)
    if set(pattern) == {"*"}:
        return Constraint(name, Operator.ANY)
    is_cased = isinstance(value, SigmaCasedString)
    operator = Operator.LIKE if is_cased else Operator.LIKE_FOLDED
    found: list[Expression] = [Constraint(name, operator, pattern)]
    if value.contains_special():
        # Numbers are written in lower case.
        like = like_number(name, pattern if is_cased else pattern.lower())
        return any_of((*found, *like))
    if len(value.s) == 1 and isinstance(value.s[0], str):
        text = value.s[0]
        if text.lower() in {"true", "false"} and not is_cased:
            return _boolean(name, text.lower())
        if _NUMBER.fullmatch(text):
            number = float(text) if "." in text else int(text)
            found.append(Constraint(name, Operator.EQ, number))
    return any_of(found)


def _number(name: str, number: float) -> Expression:
    as_text = Constraint(name, Operator.EQ, str(number))
    return any_of((Constraint(name, Operator.EQ, number), as_text))


def exact_number(name: str, value: SigmaNumber) -> float:
    """The number as it was written; pySigma makes floats of what fits no double."""
    number = value.number
    if isinstance(number, float) and abs(number) >= EXACT_INTEGERS:
        about = f"{name}: " if name else ""
        raise FilterError(
            f"{about}pySigma has rounded an integer to {number:.0f}",
            hint="in quotes it is exact",
        )
    return number


def _boolean(name: str, word: str) -> Expression:
    as_text = Constraint(name, Operator.EQ_FOLDED, word)
    return any_of((Constraint(name, Operator.EQ, word == "true"), as_text))


def _reference(name: str, to: str, value: SigmaFieldReference) -> Expression:
    """Two fields with the same value; strings ignore case, numbers are also texts."""
    one, other = Attribute(name), Attribute(to)
    texts = call(Operation.TEXT, one), call(Operation.TEXT, other)
    folded = [call(Operation.FOLD, text) for text in texts]
    if value.starts_with and value.ends_with:
        return call(Operation.CONTAINS, *folded)
    if value.starts_with:
        return call(Operation.STARTS_WITH, *folded)
    if value.ends_with:
        return call(Operation.ENDS_WITH, *folded)
    same = call(Operation.EQ, one, other)
    return any_of((same, call(Operation.EQ, *folded)))
