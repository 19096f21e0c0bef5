"""Writing questions down, in as many ways as the language allows (design part 4).

The same constraint is written with and without its type, with symbols or words, with
spaces or none, its strings bare, in single or in double quotes, escaped or raw.  Which
way is drawn at random; the meaning never changes.
"""

import json
import re
from datetime import timedelta, timezone
from random import Random

from brute_force.evaluator import Question
from brute_force.language import (
    EPOCH,
    FOLDING,
    MICROSECOND,
    All,
    Constraint,
    Either,
    Except,
    Expression,
    Negation,
    Notification,
    OneOf,
    Raw,
    Value,
)

BAREWORD = re.compile(r"[A-Za-z_][\w./:-]*", re.ASCII)
# Bare, these would mean something else, or would look as if they did.
MEANINGFUL = frozenset(
    {"and", "or", "not", "in", "then", "any", "exists", "starts", "ends", "with"}
    | {"contains", "true", "false", "nan", "inf", "infinity"}
    | {"string", "integer", "float", "boolean", "time", "number"}
)
WORDS = {">*": "starts with", "*<": "ends with", "*": "contains", "any": "exists"}
ZONES = [timezone(timedelta(minutes=minutes)) for minutes in (60, -330, 840)]
# Far enough from both ends of time for every zone above.
ZONED_MIN, ZONED_MAX = 0, 4_000_000_000_000_000


def spell_question(question: Question, random: Random) -> str:
    """The question as one line for ``siena explain --stdin``, without its end."""
    speller = Speller(random)
    parts: list[object] = [question.relation]
    is_promise = question.relation in {"admits", "covers-advertisement"}
    for position, expression in enumerate(question.expressions):
        if is_promise or (question.relation == "overlaps" and position == 0):
            assert isinstance(expression, All)
            parts.append(speller.advertisement(expression))
        else:
            parts.append(speller.predicate(expression))
    if question.notification is not None:
        parts.append(speller.notification(question.notification))
    return json.dumps(parts, ensure_ascii=random.random() < 0.5)


class Speller:
    """Texts for expressions and notifications; the generator picks among the ways."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def predicate(self, expression: Expression) -> str:
        """The text of a filter or a predicate."""
        text = self._expression(expression)
        if not text:
            return "[]"  # the empty filter has one spelling
        return self._pick((text, f"[{text}]"), (9, 1))

    def advertisement(self, expression: All) -> str:
        """The text of an advertisement: a plain list, without parentheses."""
        text = self._separated([self._expression(part) for part in expression.parts])
        return self._pick((text, f"[{text}]"), (9, 1)) if text else "[]"

    def notification(self, notification: Notification) -> object:
        """A JSON object, as such or as text, or the notation for people."""
        if not notification or self._chance(0.5):
            entries = {name: _json_value(value) for name, value in notification.items()}
            if self._chance(0.1):
                entries["absent"] = None
            return json.dumps(entries) if self._chance(0.2) else entries
        attributes = [self._attribute(*item) for item in notification.items()]
        return self._separated(attributes)

    def _expression(self, expression: Expression) -> str:
        match expression:
            case Constraint():
                return self._constraint(expression)
            case OneOf(options=options):
                return self._membership(options)
            case Negation(part=part):
                text = self._operand(part, bare_allowed=_is_atom(part))
                return f"{self._word('not')} {text}"
            case Except(wanted=kept, unwanted=taken):
                one = self._operand(kept, bare_allowed=True)
                other = self._operand(taken, bare_allowed=not _is_except(taken))
                return f"{one} {self._word('except')} {other}"
            case Either(parts=parts):
                texts = [
                    self._operand(part, bare_allowed=not _is_except(part))
                    for part in parts
                ]
                return f" {self._word('or')} ".join(texts)
            case All(parts=parts):
                return self._separated(
                    [
                        self._operand(p, bare_allowed=not (_is_or(p) or _is_except(p)))
                        for p in parts
                    ]
                )

    def _membership(self, options: tuple[Constraint, ...]) -> str:
        subject = self._subject(options[0])
        if any(option.wanted != options[0].wanted for option in options):
            subject = self._string(options[0].name)
        values = ", ".join(self._literal(option) for option in options)
        return f"{subject} {self._word('in')} ({values})"

    def _operand(self, part: Expression, *, bare_allowed: bool) -> str:
        text = self._expression(part) or "[]"
        if bare_allowed and self._chance(0.9):
            return text
        return self._pick((f"({text})", f"[{text}]", f"( {text} )"), (6, 1, 1))

    def _separated(self, texts: list[str]) -> str:
        parts = texts[:1]
        for text in texts[1:]:
            separator = self._pick((", ", ",", f" {self._word('and')} "), (4, 1, 4))
            parts += [separator, text]
        return "".join(parts)

    def _constraint(self, constraint: Constraint) -> str:
        subject = self._subject(constraint)
        symbol = constraint.operator.removesuffix(FOLDING)
        if symbol == "absent":
            return f"{self._string(constraint.name)} {self._word(symbol)}"
        word = WORDS.get(symbol, symbol if symbol[0].isalpha() else None)
        if word == symbol:
            symbol = self._word(word)
        if word and self._chance(0.4):
            symbol = self._word(word)
        if constraint.operator == "any":
            return f"{subject} {symbol}"
        if "like" in constraint.operator:
            literal = self._quoted(str(constraint.operand))
        else:
            literal = self._literal(constraint)
        if constraint.operator.endswith(FOLDING):
            literal += f" {self._word(FOLDING.strip())}"
        if not symbol[0].isalpha() and self._chance(0.2):
            return f"{subject}{symbol}{literal}"
        return f"{subject} {symbol} {literal}"

    def _subject(self, constraint: Constraint) -> str:
        """The name, with its type where the literal would not say it."""
        name = self._string(constraint.name)
        wanted = constraint.wanted
        if wanted == "untyped":
            return name
        is_needed = wanted in {"integer", "float"} or constraint.operator == "any"
        return f"{wanted} {name}" if is_needed or self._chance(0.2) else name

    def _literal(self, constraint: Constraint) -> str:
        assert constraint.operand is not None
        if constraint.wanted in {"float", "number"}:
            return self._number(constraint.operand)
        return self._value(Value(constraint.wanted, constraint.operand))

    def _attribute(self, name: str, value: Value) -> str:
        typed = f"{value.kind} " if self._chance(0.3) else ""
        raw = value.raw
        is_whole = value.kind == "float" and float(raw).is_integer()
        if typed and is_whole and self._chance(0.3):
            return f"{typed}{self._string(name)} = {self._number(raw)}"
        return f"{typed}{self._string(name)} = {self._value(value)}"

    def _number(self, raw: Raw) -> str:
        """A float may be written as an integer that it equals, and a small one back."""
        assert not isinstance(raw, str | bool)
        if abs(raw) < 2**53 and float(raw).is_integer() and self._chance(0.3):
            return str(int(raw)) if isinstance(raw, float) else repr(float(raw))
        return repr(raw)

    def _value(self, value: Value) -> str:
        match value:
            case Value(kind="string", raw=str(raw)):
                return self._string(raw)
            case Value(kind="boolean", raw=raw):
                return self._word("true" if raw else "false")
            case Value(kind="time", raw=int(raw)):
                return self._time(raw)
            case _:
                return repr(value.raw)

    def _string(self, text: str) -> str:
        is_bare = BAREWORD.fullmatch(text) and text.lower() not in MEANINGFUL
        return text if is_bare and self._chance(0.6) else self._quoted(text)

    def _quoted(self, text: str) -> str:
        quote = self._pick(('"', "'"), (4, 1))
        if self._chance(0.2):
            return quote + "".join(map(self._escaped, text)) + quote
        return quote + text.replace("\\", "\\\\").replace(quote, "\\" + quote) + quote

    def _escaped(self, character: str) -> str:
        if character in {'"', "'", "\\"} and self._chance(0.5):
            return "\\" + character
        code = ord(character)
        return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"

    def _time(self, microseconds: int) -> str:
        is_zoned = ZONED_MIN < microseconds < ZONED_MAX and self._chance(0.3)
        if not is_zoned:
            return spell_time(microseconds)
        moment = EPOCH + microseconds * MICROSECOND
        return moment.astimezone(self._random.choice(ZONES)).isoformat()

    def _word(self, word: str) -> str:
        return self._pick((word, word.upper(), word.title()), (8, 1, 1))

    def _pick(self, ways: tuple[str, ...], weights: tuple[int, ...]) -> str:
        return self._random.choices(ways, weights)[0]

    def _chance(self, probability: float) -> bool:
        return self._random.random() < probability


def spell_time(microseconds: int) -> str:
    """ISO 8601 in UTC.

    >>> spell_time(1)
    '1970-01-01T00:00:00.000001Z'
    """
    moment = EPOCH + microseconds * MICROSECOND
    return moment.isoformat().removesuffix("+00:00") + "Z"


def _json_value(value: Value) -> object:
    if value.kind == "time":
        assert isinstance(value.raw, int)
        return {"time": spell_time(value.raw)}
    return value.raw


def _is_atom(part: Expression) -> bool:
    return isinstance(part, Constraint | OneOf | Negation)


def _is_except(part: Expression) -> bool:
    return isinstance(part, Except)


def _is_or(part: Expression) -> bool:
    return isinstance(part, Either)
