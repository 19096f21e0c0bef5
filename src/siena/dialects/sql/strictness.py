"""What AMQP's filter expressions and Azure refuse, where JMS is lenient.

AMQP's keywords are in capitals, and reserved in any case; names are plain words, or in
brackets; sections and their fields are known; numbers have digits on both sides of a
dot; control characters stand neither in names nor in patterns.  Azure's names are
letters of any language, digits and _, and begin with a letter.

Reference:
    AMQP Filter Expressions 1.0, section 6.4; RabbitMQ 4.2; Azure Service Bus,
    "Subscription rule SQL filter syntax", `<regular_identifier>`.
"""

import re
from typing import NoReturn

from siena.dialects.sql.tokens import RESERVED
from siena.lang.expression.tokens import Tokens

_RESERVED = RESERVED - {"between"} | {
    *("nan", "inf", "lower", "upper", "left", "right", "substring", "utc", "date"),
}
# Of AMQP's keywords; `between` is none of them, and `exists` only reserved.
KEYWORDS = frozenset(
    {"AND", "OR", "NOT", "LIKE", "IN", "IS", "NULL", "ESCAPE", "TRUE", "FALSE"}
)
# What may stand before a parenthesis.
_SPACE = " \t\f\n\r"
# How some functions are written that are not read.
_INSTEAD = {"EXISTS": "write x IS NOT NULL"}
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+(?:E[+-]?[0-9]+)?)?|0x(?:[0-9A-F]{2})+")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
FIELDS = {
    "header.": frozenset({"priority"}),
    "properties.": frozenset(
        {"message_id", "user_id", "to", "subject", "reply_to", "correlation_id"}
        | {"content_type", "content_encoding", "absolute_expiry_time"}
        | {"creation_time", "group_id", "group_sequence", "reply_to_group_id"}
    ),
}


def has_control(text: str) -> bool:
    """Whether there is a control character in a name or a pattern."""
    return _CONTROL.search(text) is not None


def is_plain_name(name: str) -> bool:
    """Whether a name needs no brackets."""
    return (
        _WORD.fullmatch(name) is not None
        and name.lower() not in _RESERVED
        and name not in KEYWORDS
    )


def check_token(tokens: Tokens) -> None:
    """Refuse the token at the front if AMQP would."""
    token = tokens.token
    if tokens.kind == "word" and token not in KEYWORDS:
        if token.lower() in _RESERVED:
            _refuse_reserved(tokens)
        if not _WORD.fullmatch(token):
            hint = "letters A to Z, then also digits and _; or in brackets"
            tokens.fail(f"{tokens.describe()} is not a name", hint=hint)
    elif tokens.kind == "number" and not _NUMBER.fullmatch(token):
        tokens.fail(f"{tokens.describe()} is not a number here")
    elif tokens.kind == "bracketed":
        check_characters(tokens, token, tokens.start)


def _refuse_reserved(tokens: Tokens) -> NoReturn:
    """Say what a reserved word would be there, and why it is not read."""
    word, token = tokens.token.upper(), tokens.describe()
    if word in KEYWORDS:
        hint = "keywords are in capitals; a name in brackets may be any word"
        tokens.fail(f"{token} is a reserved word", hint=hint)
    if tokens.text[tokens.end :].lstrip(_SPACE).startswith("(") or word == "EXISTS":
        if word == "UTC":
            hint = "whether a rule matches does not depend on the time"
            tokens.fail(
                f"{token} asks for the time, and rules have no clock", hint=hint
            )
        tokens.fail(f"the function {token} is not read", hint=_INSTEAD.get(word, ""))
    hint = "a name in brackets may be any word"
    tokens.fail(f"{token} is a reserved word", hint=hint)


def is_azure_name(name: str) -> bool:
    """Whether a name needs no brackets or quotes, if it is not reserved."""
    letters = name.replace("_", "")
    return name[:1].isalpha() and all(c.isalpha() or c.isdecimal() for c in letters)


def check_word(tokens: Tokens) -> None:
    """Refuse the word at the front if it is no name to Azure."""
    if not is_azure_name(tokens.token):
        hint = "letters, then also digits and _; or in brackets"
        tokens.fail(f"{tokens.describe()} is not a name", hint=hint)


def check_characters(tokens: Tokens, text: str, position: int) -> None:
    """Refuse a control character in a name or a pattern."""
    if has_control(text):
        tokens.fail("there is a control character in this", position=position)


def check_field(tokens: Tokens, section: str, field: str, position: int) -> None:
    """Refuse a field that its section does not have; some have any."""
    known = FIELDS.get(section)
    if known is not None and field not in known:
        hint = "it has " + ", ".join(sorted(known))
        message = f"{section}{field[:40]} does not exist"
        tokens.fail(message, hint=hint, position=position)
