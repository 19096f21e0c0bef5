"""The tokens of SQL selectors, and what each literal among them means."""

import math
import re
from typing import NoReturn

from siena.dialects.sql.variants import Variant
from siena.errors import InvalidNotificationError
from siena.lang.expression.tokens import Tokens
from siena.model.values import Value, as_value
from siena.model.wildcards import escape

_WORD = r"[^\W\d][\w$]*|\$[\w$]+"
_LEXEME = rf"""(?:
      (?P<string>'(?:[^']|'')*')
    | (?P<quoted>"(?:[^"]|"")*")
    | (?P<bracketed>\[(?:[^\[\]]|\[\[|\]\])*\])
    | (?P<number>0[xX][0-9A-Za-z]*
        | (?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE][+-]?[0-9]))
          (?:[eE][+-]?[0-9]+)?[fFdD]?
        | [0-9]+[lLfFdD]?)(?![\w$.])
    | (?P<misspelled>\.?[0-9][\w$]*(?:\.[\w$]*)*)
    | (?P<word>{_WORD})
    | (?P<symbol><=|>=|<>|!=|[-=<>+*/%(),.@])
    | \Z
    )"""
# A name that needs no quotes, unless it is reserved.
WORD = re.compile(_WORD)
TOKEN = re.compile(r"(?:\s|--[^\r\n]*|/\*(?:[^*]|\*(?!/))*\*/)*" + _LEXEME, re.VERBOSE)
# Two signs are two signs where there are no comments.
STRICT_TOKEN = re.compile(r"[ \t\f\n\r]*" + _LEXEME, re.VERBOSE)
RESERVED = frozenset(
    {"and", "or", "not", "like", "in", "is", "null", "escape", "between"}
    | {"true", "false", "exists"}
)
_WILDCARDS = {"%": "*", "_": "?"}


def read_number(tokens: Tokens, *, variant: Variant, sign: int = 1) -> Value:
    """The number at the front, which stays there, with the sign before it."""
    text = tokens.token.lower()
    try:
        if text.startswith("0x"):
            return _read_hexadecimal(tokens, variant, sign)
        if text[-1] in "lfd" and not variant.is_java:
            fail_at_number(tokens)
        if text.isdigit() or (text[:-1].isdigit() and text[-1] == "l"):
            digits = text.rstrip("l")
            if len(digits) > 20:
                tokens.fail(f"{digits[:20]}… does not fit in 64 bits")
            is_octal = variant.is_java and len(digits) > 1 and digits[0] == "0"
            return as_value(sign * int(digits, 8 if is_octal else 10))
        found = float(text.rstrip("fd"))
        if math.isinf(found):
            tokens.fail(f"{tokens.describe()} is too large for a float")
        return as_value(sign * found)
    except ValueError:
        return fail_at_number(tokens)
    except InvalidNotificationError as error:
        return tokens.fail(error.message)


def fail_at_number(tokens: Tokens) -> NoReturn:
    """Refuse what begins like a number and is none."""
    hint = "numbers are written 15, 1.5 or 1.5E3"
    tokens.fail(f"{tokens.describe()} is not a number", hint=hint)


def _read_hexadecimal(tokens: Tokens, variant: Variant, sign: int) -> Value:
    """An integer of Java's, or a binary constant of AMQP's."""
    if variant.is_java:
        return as_value(sign * int(tokens.token, 16))
    if not variant.is_strict:
        fail_at_number(tokens)
    if sign < 0:
        tokens.fail("bytes have no sign")
    return _read_bytes(tokens)


def _read_bytes(tokens: Tokens) -> str:
    """A binary constant: the text that its bytes are, as a broker compares them."""
    try:
        return bytes.fromhex(tokens.token[2:]).decode()
    except UnicodeDecodeError:
        return tokens.fail("these bytes are no text, and values here are none")


def unquoted(token: str) -> str:
    """What stands between quotes, in which a quote is written twice.

    >>> unquoted("'it''s'"), unquoted("[a]]b]")
    ("it's", 'a]b')
    """
    body, quotes = token[1:-1], {token[0], token[-1]}
    for quote in quotes:
        body = body.replace(quote * 2, quote)
    return body


def read_pattern(tokens: Tokens, pattern: str, mark: str, variant: Variant) -> str:
    """A pattern with ``%`` and ``_`` as one with ``*`` and ``?``."""
    found: list[str] = []
    rest = list(reversed(pattern))
    while rest:
        character = rest.pop()
        if character == mark and mark:
            following = rest[-1] if rest else ""
            if variant.escapes_anything and not following:
                tokens.fail("a pattern cannot end in its escape")
            if following and (
                variant.escapes_anything or following in {"%", "_", mark}
            ):
                found.append(escape(rest.pop()))
                continue
        found.append(_WILDCARDS.get(character) or escape(character))
    return "".join(found)
