"""A plain evaluator of Sigma rules: a loop over pySigma's tree, with nothing of ours.

It is slow and obvious, and what rules of ours are compared with.  Strings are matched
by Python's own regular expressions: values of tests are too short to tire them.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from ipaddress import ip_address, ip_network
from typing import Any

from sigma.conditions import (
    ConditionAND,
    ConditionFieldEqualsValueExpression,
    ConditionNOT,
    ConditionOR,
    ConditionValueExpression,
)
from sigma.rule import SigmaRule
from sigma.types import (
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
    SigmaString,
    SpecialChars,
)


def fires(rule: SigmaRule, event: Mapping[str, Any]) -> bool:
    """Whether a rule fires on an event, the log source left aside."""
    return any(true(c.parsed, event) for c in rule.detection.parsed_condition)


def true(condition: Any, event: Mapping[str, Any]) -> bool:  # noqa: ANN401 -- pySigma's tree
    """Whether a part of a condition is true of an event."""
    match condition:
        case ConditionOR():
            return any(true(part, event) for part in condition.args)
        case ConditionAND():
            return all(true(part, event) for part in condition.args)
        case ConditionNOT():
            return not true(condition.args[0], event)
        case ConditionFieldEqualsValueExpression():
            return equals(event.get(condition.field), condition.value, event)
        case ConditionValueExpression():
            return any(occurs(str(value), condition.value) for value in event.values())
        case _:
            raise AssertionError(condition)


def closure_of(condition: Any) -> Callable[[Mapping[str, Any]], bool]:  # noqa: ANN401 -- pySigma's tree
    """What says of an event whether a condition is true: :func:`true`, one event later.

    The tree is walked once and not for each event, which is what makes all rules on
    ten thousand events bearable; a field's value is still asked by :func:`equals`.
    """
    match condition:
        case ConditionOR():
            return _any_of([closure_of(part) for part in condition.args])
        case ConditionAND():
            return _all_of([closure_of(part) for part in condition.args])
        case ConditionNOT():
            part = closure_of(condition.args[0])
            return lambda event: not part(event)
        case ConditionFieldEqualsValueExpression():
            return _field_of(condition.field, condition.value)
        case _:
            return lambda event: true(condition, event)


Closures = list[Callable[[Mapping[str, Any]], bool]]


def _any_of(parts: Closures) -> Callable[[Mapping[str, Any]], bool]:
    def any_of(event: Mapping[str, Any]) -> bool:
        for part in parts:  # noqa: SIM110 -- three times as fast as a generator
            if part(event):
                return True
        return False

    return any_of


def _all_of(parts: Closures) -> Callable[[Mapping[str, Any]], bool]:
    def all_of(event: Mapping[str, Any]) -> bool:
        for part in parts:  # noqa: SIM110 -- as above
            if not part(event):
                return False
        return True

    return all_of


def _field_of(field: str, wanted: Any) -> Callable[[Mapping[str, Any]], bool]:  # noqa: ANN401 -- a value of theirs
    if type(wanted) not in {SigmaString, SigmaCasedString}:
        return lambda event: equals(event.get(field), wanted, event)
    fullmatch, spelled = pattern_of(wanted).fullmatch, str(wanted).lower()
    is_special, is_all = wanted.contains_special(), means_present(wanted)

    def has(event: Mapping[str, Any]) -> bool:
        found = event.get(field)
        if isinstance(found, str):
            return fullmatch(found) is not None
        if is_special and type(found) in {int, float}:
            return fullmatch(str(found)) is not None
        if is_all:
            return found is not None
        return found is not None and spelled == str(found).lower()

    return has


def equals(found: Any, wanted: Any, event: Mapping[str, Any]) -> bool:  # noqa: ANN401 -- a value of theirs
    """Whether a field has a value."""
    if isinstance(wanted, SigmaExpansion):
        return any(equals(found, each, event) for each in wanted.values)
    if isinstance(wanted, SigmaNull):
        return found is None
    if isinstance(wanted, SigmaExists):
        return (found is not None) == wanted.exists
    if found is None:
        return False
    return _has(found, wanted, event)


def _has(found: Any, wanted: Any, event: Mapping[str, Any]) -> bool:  # noqa: ANN401 -- as above, case by case
    is_text, is_number = isinstance(found, str), type(found) in {int, float}
    match wanted:
        case SigmaString():
            if is_text or (is_number and wanted.contains_special()):
                return bool(pattern_of(wanted).fullmatch(str(found)))
            return means_present(wanted) or str(wanted).lower() == str(found).lower()
        case SigmaBool():
            return str(found).lower() == str(wanted.boolean).lower()
        case SigmaNumber():
            number = wanted.number
            return bool(found == (number if is_number else str(number)))
        case SigmaRegularExpression():
            return (is_text or is_number) and _found(wanted, str(found))
        case SigmaCIDRExpression():
            return is_text and _inside(found, wanted.cidr)
        case SigmaCompareExpression():
            return is_number and _compared(found, wanted)
        case SigmaFieldReference():
            other = event.get(wanted.field)
            return str(found).lower() == str(other).lower()
        case _:
            raise AssertionError(wanted)


def occurs(text: str, wanted: Any) -> bool:  # noqa: ANN401 -- a value of theirs
    """Whether a keyword is somewhere in a text."""
    if isinstance(wanted, SigmaExpansion):
        return any(occurs(text, each) for each in wanted.values)
    if isinstance(wanted, SigmaRegularExpression):
        return _found(wanted, text)
    if isinstance(wanted, SigmaNumber):
        return str(wanted.number) in text
    return bool(pattern_of(wanted).search(text))


def pattern_of(wanted: SigmaString) -> re.Pattern[str]:
    """A string with wildcards as a regular expression."""
    return _compiled(tuple(wanted.s), flags_of(wanted))


@cache  # the library itself remembers 512, and rules have many more
def _compiled(parts: tuple[Any, ...], flags: int) -> re.Pattern[str]:
    text = "".join(
        re.escape(part)
        if isinstance(part, str)
        else (".*" if part is SpecialChars.WILDCARD_MULTI else ".")
        for part in parts
    )
    return re.compile(text, flags)


def means_present(wanted: SigmaString) -> bool:
    """Whether there is nothing in a string but wildcards for anything."""
    return bool(wanted.s) and set(wanted.s) == {SpecialChars.WILDCARD_MULTI}


def flags_of(wanted: SigmaString) -> int:
    """Dots match everything, and letters any case unless they are said to matter."""
    cased = isinstance(wanted, SigmaCasedString)
    return int(re.DOTALL if cased else re.DOTALL | re.IGNORECASE)


def values_of(condition: Any) -> Iterator[tuple[str, Any]]:  # noqa: ANN401 -- pySigma's tree
    """The fields of a condition, each with a value that it is compared with."""
    if isinstance(condition, ConditionFieldEqualsValueExpression):
        for wanted in _each(condition.value):
            yield condition.field, wanted
    elif hasattr(condition, "args"):
        for part in condition.args:
            yield from values_of(part)


def _each(wanted: Any) -> list[Any]:  # noqa: ANN401 -- as above
    if isinstance(wanted, SigmaExpansion):
        return [one for value in wanted.values for one in _each(value)]
    return [wanted]


def _found(wanted: SigmaRegularExpression, text: str) -> bool:
    flags = re.NOFLAG
    for flag in wanted.flags:
        flags |= re.RegexFlag[flag.name]
    return bool(re.search(str(wanted.regexp), text, flags))


def _inside(text: str, network: str) -> bool:
    try:
        return ip_address(text) in ip_network(network, strict=False)
    except ValueError:
        return False


def _compared(found: float, wanted: SigmaCompareExpression) -> bool:
    number = wanted.number.number
    return {
        "LT": found < number,
        "LTE": found <= number,
        "GT": found > number,
        "GTE": found >= number,
        "NEQ": found != number,
    }[wanted.op.name]
