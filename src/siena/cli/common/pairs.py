"""A notification as the arguments of a command: the same for all commands."""

import re
from collections.abc import Iterable

from siena.errors import FilterSyntaxError, SienaError
from siena.model import Notification, Value
from siena.protocol.text.requests import read_pairs

# An attribute among filters: name, =, value, and no space that is not in quotes.
_PAIR = re.compile(
    r"""\s*(?:"[^"]*"|[^\s"=<>!*,()\[\]]+)=(?:"(?:[^"\\]|\\.)*"|[^\s"<>=*]+)\s*"""
)


def read_attributes(arguments: Iterable[str]) -> Notification:
    """The notification that some arguments describe together.

    >>> read_attributes(["symbol=DIS", 'what="two words"', "x=1 y=2"])
    <Notification symbol = DIS and what = "two words" and x = 1 and y = 2>
    >>> read_attributes(['{"symbol": "DIS"}'])
    <Notification symbol = DIS>
    >>> read_attributes(["what=two words!"])
    Traceback (most recent call last):
    siena.errors.FilterSyntaxError: what=two words!, column 15: "!" is not an operator
    (if it is a text, write 'what="two words!"')

    Raises:
        SienaError: about the argument that is wrong, and how it is written.
    """
    pairs: list[tuple[str, Value]] = []
    for text in arguments:
        try:
            pairs += read_pairs(text).items()
        except SienaError as error:
            raise _with_advice(error, text) from None
    return Notification(pairs)


def split_attributes(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Which arguments are attributes, and which are filters: the first is no filter.

    >>> split_attributes(["symbol=DIS", "change=-4", "symbol = DIS and change < 0"])
    (['symbol=DIS', 'change=-4'], ['symbol = DIS and change < 0'])
    >>> split_attributes(["symbol=DIS change=-4", "change<0", "symbol any"])
    (['symbol=DIS change=-4'], ['change<0', 'symbol any'])
    """
    for place, text in enumerate(arguments):
        if place and not _PAIR.fullmatch(text):
            return arguments[:place], arguments[place:]
    return arguments, []


def _with_advice(error: SienaError, text: str) -> SienaError:
    name, equals, value = text.partition("=")
    if not equals:
        error.hint = "attributes are written name=value"
    elif value and isinstance(error, FilterSyntaxError) and '"' not in value:
        error.hint = f"""if it is a text, write '{name}="{value}"'"""
    return error.about(text)
