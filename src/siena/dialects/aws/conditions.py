"""The entries of an event pattern: what one value of a field may be.

A field is followed by a list of entries and matches if one of its values satisfies one
of them.  An entry that says two things says them about the same value, which ``some``
keeps together where a field has several.
"""

from collections.abc import Callable, Iterable

from siena.dialects.aws.events import NULL
from siena.dialects.aws.numbers import as_number, is_comparable
from siena.errors import FilterError
from siena.lang.json_text import Json
from siena.model import Constraint, Operator
from siena.model.expression import (
    Attribute,
    Expression,
    Literal,
    Operation,
    all_of,
    any_of,
    call,
)
from siena.model.expression.networks import read_network
from siena.model.wildcards import escape

_NUMERIC = {
    "=": Operation.EQ,
    "<": Operation.LT,
    "<=": Operation.LE,
    ">": Operation.GT,
    ">=": Operation.GE,
}


class EntryError(FilterError):
    """Something wrong inside an entry, and the way to it."""

    def __init__(self, message: str, *path: str | int, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.path = path


def read_entry(name: str, entry: Json) -> Expression:
    """The condition of one entry of a field's list.

    >>> read_entry("state", {"prefix": "run"})
    <Constraint state >* run>
    """
    if isinstance(entry, dict):
        if len(entry) != 1:
            raise EntryError("one key says what is matched, and here are others")
        ((key, value),) = entry.items()
        if key not in _MATCHERS:
            hint = "known are " + ", ".join(_MATCHERS)
            raise EntryError(f'"{key[:40]}" is not a way to match', key, hint=hint)
        return _MATCHERS[key](name, value)
    if isinstance(entry, list):
        raise EntryError("a list stands in a list")
    return _equals(name, entry)


def _equals(name: str, value: Json) -> Expression:
    if value is None:
        return Constraint(name, Operator.EQ, NULL)
    assert not isinstance(value, (list, dict))
    if isinstance(value, str) and is_long_address(value):
        # An address of version 6 has many texts, and all of them are meant.
        return call(Operation.IN_NETWORK, Attribute(name), Literal(value))
    return Constraint(name, Operator.EQ, as_number(value))


def _exactly(name: str, value: Json) -> Expression:
    return Constraint(name, Operator.EQ, _string(value, "exactly"))


def is_long_address(text: str) -> bool:
    """Whether a text is an address of version 6, which is compared as one."""
    if ":" not in text or "/" in text:
        return False
    try:
        return read_network(text).version == 6
    except FilterError:
        return False


def _strings(value: Json, key: str) -> list[str]:
    """A string or a list of strings, none of them empty."""
    found = value if isinstance(value, list) else [value]
    if not found:
        raise EntryError("an empty list matches nothing", key)
    for text in found:
        if not isinstance(text, str):
            raise EntryError(f"{key} compares strings", key)
    return [text for text in found if isinstance(text, str)]


def _string(value: Json, key: str) -> str:
    if not isinstance(value, str):
        raise EntryError(f"{key} compares with one string", key)
    return value


def _affix(key: str, plain: Operator, folded: Operator) -> Callable[..., Expression]:
    def read(name: str, value: Json) -> Expression:
        if isinstance(value, dict):
            if value.keys() != {"equals-ignore-case"}:
                raise EntryError(f"{key} takes a string or equals-ignore-case", key)
            text = _string(value["equals-ignore-case"], "equals-ignore-case")
            return Constraint(name, folded, text)
        return Constraint(name, plain, _string(value, key))

    return read


def _ignoring_case(name: str, value: Json) -> Expression:
    text = _string(value, "equals-ignore-case")
    return Constraint(name, Operator.EQ_FOLDED, text)


def _wildcard(name: str, value: Json) -> Expression:
    return Constraint(name, Operator.LIKE, wildcard_pattern(_string(value, "wildcard")))


def wildcard_pattern(text: str) -> str:
    r"""A pattern in which only ``*`` is a wildcard, as one of ours.

    >>> wildcard_pattern("a?*.jpg") == r"a\?*.jpg"
    True
    """
    found: list[str] = []
    characters = iter(text)
    for character in characters:
        if character == "*" and found[-1:] == ["*"]:
            raise EntryError("two wildcards stand side by side", "wildcard")
        if character == "\\":
            escaped = next(characters, "")
            if escaped not in {"*", "\\"}:
                raise EntryError(
                    "a backslash stands before * or a backslash", "wildcard"
                )
            found.append(escape(escaped))
        else:
            found.append(character if character == "*" else escape(character))
    return "".join(found)


def _cidr(name: str, value: Json) -> Expression:
    network = _string(value, "cidr")
    found = read_network(network)
    _, slash, bits = network.partition("/")
    if slash and not (bits.isascii() and bits.isdigit()):
        hint = "how many bits it has, as in 10.0.0.0/8"
        raise EntryError("behind the slash of a network is a number", "cidr", hint=hint)
    if not slash or found.prefixlen == found.max_prefixlen:
        hint = "write one address as a string"
        raise EntryError("a network has more than one address", "cidr", hint=hint)
    return call(Operation.IN_NETWORK, Attribute(name), Literal(network))


def _exists(name: str, value: Json) -> Expression:
    if not isinstance(value, bool):
        raise EntryError("exists is true or false", "exists")
    return Constraint(name, Operator.ANY if value else Operator.ABSENT)


def _numeric(name: str, value: Json) -> Expression:
    if not isinstance(value, list) or len(value) not in {2, 4}:
        raise EntryError(
            "numeric is a comparison and a number, or two of them", "numeric"
        )
    parts: list[Expression] = []
    for i in range(0, len(value), 2):
        sign, number = value[i], value[i + 1]
        if not isinstance(sign, str) or sign not in _NUMERIC:
            hint = "comparisons are " + " ".join(_NUMERIC)
            raise EntryError(f"{sign!r} is not a comparison", "numeric", i, hint=hint)
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise EntryError("numeric compares with numbers", "numeric", i + 1)
        _check_number(number, "numeric", i + 1)
        parts.append(call(_NUMERIC[sign], Attribute(name), Literal(number)))
    if len(parts) == 2:
        _check_range(value)
    return _of_one_value(name, all_of(parts))


def _check_number(number: float, *path: str | int) -> None:
    if not is_comparable(number):
        hint = "numbers are doubles there"
        raise EntryError(f"{number} has too many digits", *path, hint=hint)


def _check_range(value: list[Json]) -> None:
    low, high = str(value[0]), str(value[2])
    if low[0] != ">" or high[0] != "<":
        raise EntryError("a range goes from > or >= to < or <=", "numeric", 2)
    if not (float(str(value[1])) < float(str(value[3]))):
        raise EntryError("a range ends above its beginning", "numeric", 3)


def _anything_but(name: str, value: Json) -> Expression:
    if isinstance(value, dict):
        return _nothing_like(name, value)
    members = value if isinstance(value, list) else [value]
    kinds = {isinstance(member, str) for member in members}
    is_allowed = all(
        isinstance(member, (str, int, float)) and not isinstance(member, bool)
        for member in members
    )
    if len(kinds) != 1 or not is_allowed:
        message = "anything-but takes strings, or numbers, and not both"
        raise EntryError(message, "anything-but")
    for member in members:
        if isinstance(member, (int, float)):
            _check_number(member, "anything-but")
    literals = [Literal(m) for m in members if isinstance(m, (str, int, float))]
    among = call(Operation.ONE_OF, Attribute(name), *literals)
    return _of_one_value(name, call(Operation.NOT, among))


def _nothing_like(name: str, value: dict[str, Json]) -> Expression:
    if len(value) != 1 or next(iter(value)) not in _UNWANTED:
        hint = "it takes " + ", ".join(_UNWANTED)
        raise EntryError("anything-but does not take this", "anything-but", hint=hint)
    ((key, texts),) = value.items()
    operator = _UNWANTED[key]
    unwanted = any_of(
        Constraint(
            name,
            operator,
            wildcard_pattern(text) if key == "wildcard" else _full(text, key),
        )
        for text in _strings(texts, key)
    )
    there = Constraint(name, Operator.ANY)
    return _of_one_value(name, call(Operation.EXCEPT, there, unwanted))


def _full(text: str, key: str) -> str:
    if not text and key != "equals-ignore-case":
        raise EntryError(f"every string has the empty {key}", "anything-but", key)
    return text


def _of_one_value(name: str, condition: Expression) -> Expression:
    """The condition on one value, kept together if it says more than one thing."""
    if isinstance(condition, Constraint):
        return condition
    return call(Operation.SOME, Attribute(name), condition)


_UNWANTED = {
    "prefix": Operator.PREFIX,
    "suffix": Operator.SUFFIX,
    "equals-ignore-case": Operator.EQ_FOLDED,
    "wildcard": Operator.LIKE,
}
_MATCHERS: dict[str, Callable[[str, Json], Expression]] = {
    "exactly": _exactly,
    "prefix": _affix("prefix", Operator.PREFIX, Operator.PREFIX_FOLDED),
    "suffix": _affix("suffix", Operator.SUFFIX, Operator.SUFFIX_FOLDED),
    "equals-ignore-case": _ignoring_case,
    "wildcard": _wildcard,
    "anything-but": _anything_but,
    "numeric": _numeric,
    "cidr": _cidr,
    "exists": _exists,
}
# What no field inside `$or` is called: what matches, compares, or may do so one day.
RESERVED = frozenset(
    {*_MATCHERS, *_NUMERIC, "regex", "not-wildcard", "not-equals-ignore-case"}
    | {"date-after", "date-on-or-after", "date-before", "date-on-or-before"}
    | {"in-date-range", "ip-address-in-range", "ip-address-not-in-range"}
)


def read_entries(name: str, entries: Iterable[Json]) -> Expression:
    """The condition of a field's list: one of its entries."""
    found = []
    for i, entry in enumerate(entries):
        try:
            found.append(read_entry(name, entry))
        except EntryError as error:
            error.path = (i, *error.path)
            raise
        except FilterError as error:
            raise EntryError(error.message, i, hint=error.hint) from None
    if not found:
        raise EntryError("an empty list matches nothing")
    return any_of(found)
