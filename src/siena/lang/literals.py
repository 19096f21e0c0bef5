r"""Literals: from the token at the front of a scanner to a value.

In this order: quoted text is a string, ``true`` and ``false`` are booleans, then
numbers, then times with a zone, and days; any other word is a string.  What looks like
a number or a time and is none is refused, never taken for a string.
"""

import re
from datetime import UTC, date, datetime, time

from siena.lang.scanner import KEYWORD, NUMBER, QUOTED, TIME, WORD, Scanner
from siena.model.spelling import NOT_VALUES
from siena.model.values import INTEGER_MAX, INTEGER_MIN, Kind, Value

_WHOLE = re.compile(r"[+-]?[0-9]+")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"} | {
    character: character for character in "\"'\\/"
}
# Beyond this many digits a number need not be converted to be refused.
_INTEGER_DIGITS_MAX = len(str(INTEGER_MAX))
# Where a time of day without a date is put (the papers' examples have such times).
_DAY_WITHOUT_DATE = date(1970, 1, 1)


def read_literal(scanner: Scanner, kind: Kind | None = None) -> Value:
    """The value of the token at the front, which stays there.

    ``kind`` is the type that the text names; only ``time`` makes a difference
    here, because it may be followed by a time of day without a date.
    """
    if scanner.kind == WORD:
        return _read_word(scanner)
    if scanner.kind == NUMBER:
        return _read_number(scanner)
    if scanner.kind == QUOTED:
        return read_string(scanner)
    if scanner.kind == TIME:
        return _read_time(scanner, kind)
    if scanner.kind == KEYWORD:
        return _read_keyword(scanner)
    return scanner.fail(f"expected a value, found {scanner.describe()}")


def read_string(scanner: Scanner) -> str:
    """The text inside the quotes at the front, its escapes undone."""
    body = scanner.token[1:-1]
    if "\\" not in body:
        return body

    def unescape(match: re.Match[str]) -> str:
        short, long, single = match.groups()
        if single is None:
            code = int(short or long, 16)
            if code <= 0x10FFFF:
                return chr(code)
        elif single in _ESCAPED:
            return _ESCAPED[single]
        return scanner.fail(
            f"{match.group()} is not an escape",
            hint='escapes are \\" \\\\ \\n \\r \\t \\uXXXX \\UXXXXXXXX',
            position=scanner.start + 1 + match.start(),
        )

    text = _ESCAPE.sub(unescape, body)
    try:
        # JSON writes characters beyond U+FFFF as two halves: join them.
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        return scanner.fail("an escape in this string is half of a character")


def _read_word(scanner: Scanner) -> str:
    word = scanner.token
    if word.lower() in NOT_VALUES:
        message = f'"{word}" is not a value here'
        scanner.fail(message, hint="quote it to mean the string")
    return word


def _read_keyword(scanner: Scanner) -> bool:
    if scanner.keyword in {"true", "false"}:
        return scanner.keyword == "true"
    message = f'"{scanner.token}" is a reserved word'
    return scanner.fail(message, hint="quote it to mean the string")


def _read_number(scanner: Scanner) -> int | float:
    token = scanner.token
    if _WHOLE.fullmatch(token):
        return _read_integer(scanner)
    number = float(token)
    if number in {float("inf"), float("-inf")}:
        scanner.fail(f"{scanner.describe()} is too large for a float")
    return number


def _read_integer(scanner: Scanner) -> int:
    digits = scanner.token.lstrip("+-")
    if len(digits) > 1 and digits[0] == "0":
        # A postal code or a part number: read as an integer it would match nothing.
        scanner.fail(
            f"{scanner.describe()} starts with a zero", hint="quote it to mean a string"
        )
    value = (
        int(scanner.token) if len(digits) <= _INTEGER_DIGITS_MAX else INTEGER_MAX + 1
    )
    if not INTEGER_MIN <= value <= INTEGER_MAX:
        scanner.fail(f"{scanner.describe()} does not fit in 64 bits")
    return value


def _read_time(scanner: Scanner, kind: Kind | None) -> datetime:
    token = scanner.token.upper()
    if ":" not in token:
        return _read_day(scanner)
    has_date = "T" in token
    if not has_date and kind is not Kind.TIME:
        scanner.fail(
            f"{token} is a time of day without a date",
            hint="write the type time before the name, or quote it",
        )
    if has_date and token[-1] != "Z" and token[-6] not in "+-":
        scanner.fail(f"{token} has no time zone", hint=f"write {token}Z")
    try:
        # Python cuts off what is less than a microsecond, as a time is cut everywhere.
        if has_date:
            return datetime.fromisoformat(token).astimezone(UTC)
        clock = time.fromisoformat(token.removesuffix("Z"))
        clock = clock if clock.tzinfo else clock.replace(tzinfo=UTC)
        return datetime.combine(_DAY_WITHOUT_DATE, clock).astimezone(UTC)
    except (ValueError, OverflowError):
        return scanner.fail(f"{token} is not a time")


def _read_day(scanner: Scanner) -> datetime:
    """The time at which a day begins, in UTC: as a column of dates has it."""
    try:
        return datetime.fromisoformat(scanner.token).replace(tzinfo=UTC)
    except ValueError:
        return scanner.fail(f"{scanner.token} is not a day")
