"""Every error that Siena raises on purpose, and where in a text it happened.

::

    SienaError                      catch this at the edge of a program
    ├── FilterError                 the language was misused
    │   ├── InvalidConstraintError    an operator and a value that do not go together
    │   └── FilterSyntaxError         text that is not in the language
    ├── InvalidNotificationError    a value, a name or a set that cannot be published
    ├── InvalidFormError            JSON that is not the form of anything of ours
    ├── InvalidTopologyError        brokers and links that make no network
    ├── TableFileError              a file that is no table of ours, or a damaged one
    ├── ServiceError                something between a client and its broker
    │   ├── NotEnteredError           a client outside of its ``with`` block
    │   ├── NoBrokerError             no broker answers there, or not as one does
    │   ├── ConnectionLostError       the connection ended before the answer came
    │   ├── RequestRefusedError       the broker said no; has the number of its reason
    │   ├── NotSettledError           brokers did not say whether it is in force there
    │   ├── OverflowedError           a subscription got more than it may keep
    │   └── NoReplyError              no reply to a request in time
    └── LimitError                  a declared limit was reached; names it

A mistake of ours is never a :class:`SienaError`: it is an ``AssertionError``,
and it is meant to be loud.
"""

from dataclasses import dataclass
from typing import Self

# What a person sees of a long text around the place of an error.
EXCERPT_CHARACTERS = 60


@dataclass(frozen=True, slots=True)
class Place:
    """A position in a text, and how to point at it.

    >>> place = Place("price >> 3", 7)
    >>> str(place)
    'column 8'
    >>> print(place.pointer())
    price >> 3
           ^
    """

    text: str
    position: int

    @property
    def line(self) -> int:
        """The number of the line, from 1."""
        return self.text.count("\n", 0, self.position) + 1

    @property
    def column(self) -> int:
        """The number of the character in its line, from 1."""
        return self.position - self.text.rfind("\n", 0, self.position)

    def pointer(self) -> str:
        """The line with a caret under the place, cut to a readable width."""
        start = self.text.rfind("\n", 0, self.position) + 1
        end = self.text.find("\n", self.position)
        line = self.text[start : end if end >= 0 else len(self.text)]
        cut = max(0, self.position - start - EXCERPT_CHARACTERS // 2)
        shown = line[cut : cut + EXCERPT_CHARACTERS]
        before = "… " if cut else ""
        after = " …" if cut + EXCERPT_CHARACTERS < len(line) else ""
        caret = " " * (len(before) + self.position - start - cut) + "^"
        # A control character would move the caret; each becomes one visible mark.
        visible = "".join(c if c.isprintable() else "·" for c in shown)
        return f"{before}{visible}{after}\n{caret}"

    def __str__(self) -> str:
        if "\n" in self.text:
            return f"line {self.line}, column {self.column}"
        return f"column {self.column}"


class SienaError(Exception):
    """Something that a user, a peer or a file did wrong, said in one line."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message = _visible(message)
        super().__init__(self.message)
        self.hint = hint
        self.place: Place | None = None
        self.context = ""

    def at(self, text: str, position: int) -> Self:
        """This error, at a place of a text; an inner place, once known, stays."""
        if self.place is None:
            self.place = Place(text, position)
        return self

    def about(self, context: str) -> Self:
        """This error, with which of several texts it is about."""
        self.context = context
        return self

    def __reduce__(self) -> tuple[object, ...]:
        # An error travels between processes with all that it knows.
        return _restore, (type(self), self.args, self.__dict__)

    def __str__(self) -> str:
        known = (self.context, str(self.place) if self.place else "")
        where = ", ".join(part for part in known if part)
        where = f"{where}: " if where else ""
        hint = f" ({self.hint})" if self.hint else ""
        return f"{where}{self.message}{hint}"


class FilterError(SienaError):
    """The language was misused."""


class InvalidConstraintError(FilterError):
    """An operator and a value, or a type, that do not go together."""


class FilterSyntaxError(FilterError):
    """Text that is not in the language; ``place`` says where it stops being so."""


class InvalidNotificationError(SienaError):
    """A value, a name or a set of attributes that cannot be published."""


class InvalidFormError(SienaError):
    """JSON that is not the form of a filter, pattern, advertisement or notification."""


class InvalidTopologyError(SienaError):
    """Brokers and links that make no network, or not one of the kind wanted."""


class TableFileError(SienaError):
    """A file that is not a stored table, is damaged, or newer than this version."""


class ServiceError(SienaError):
    """Something between a client and its broker."""


class NotEnteredError(ServiceError, AttributeError):
    """What ``siena.connect`` returns was used before its block was entered."""


class NoBrokerError(ServiceError):
    """No broker answers at an address, or not as one does."""


class ConnectionLostError(ServiceError):
    """The connection ended, by whomever, before the answer came."""


class RequestRefusedError(ServiceError):
    """The broker said no.

    >>> raise RequestRefusedError(105, "more than 1024 advertisements")
    Traceback (most recent call last):
    siena.errors.RequestRefusedError: more than 1024 advertisements (error 105)

    ``fault`` is the number of :class:`siena.protocol.error_codes.Fault`.
    """

    def __init__(self, fault: int, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint or f"error {fault}")
        self.fault = fault


class OverflowedError(ServiceError):
    """A subscription got more than it may keep, and was to end rather than lose."""


class NotSettledError(ServiceError):
    """Some brokers did not say in time whether a subscription is in force there.

    It stands, and is in force wherever brokers answered; ``silent`` are the others.
    """

    def __init__(self, silent: tuple[str, ...]) -> None:
        self.silent = silent
        names = ", ".join(silent)
        super().__init__(
            f"it may not be in force everywhere: no answer from {names}",
            hint="it stands; settled() asks again",
        )


class NoReplyError(ServiceError):
    """There was no reply to a request in time."""


class LimitError(SienaError):
    """A declared limit was reached.

    >>> raise LimitError("NESTING_MAX", 100, "levels of parentheses")
    Traceback (most recent call last):
    siena.errors.LimitError: more than 100 levels of parentheses (limit NESTING_MAX)
    """

    def __init__(self, limit: str, value: int, what: str) -> None:
        super().__init__(f"more than {value} {what}", hint=f"limit {limit}")
        self.limit = limit
        self.value = value


def _visible(text: str) -> str:
    """The text on one line, every character of which can be seen."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def _restore(
    kind: type[SienaError], arguments: tuple[str, ...], state: dict[str, object]
) -> SienaError:
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(state)
    return error
