"""``siena explain``: is it true, what shows it, and why."""

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, BinaryIO, TypeVar

import typer

from siena.algebra import explanation, relations
from siena.algebra.explanation import Reason
from siena.algebra.verdict import Verdict
from siena.cli.terminal.colour import Paint
from siena.cli.terminal.foreign import printable
from siena.errors import FilterError, InvalidFormError, SienaError
from siena.lang.expression.form import rule_from_json
from siena.lang.interest_form import advertisement_from_json, interest_from_json
from siena.lang.json_text import Json, read_json
from siena.lang.notification_form import notification_from_json, notification_to_json
from siena.lang.parser import parse_interest, parse_notification
from siena.model import Advertisement, Filter, Notification, Pattern, Predicate
from siena.model.expression import spell_expression
from siena.model.expression.residual import ResidualPredicate, interest_of

# One line of `--stdin`; what is longer is refused and skipped, never kept.
LINE_BYTES_MAX = 4 * 1_048_576
_ORDINALS = ("first value", "second value")
# Texts that `--stdin` remembers having read, and how long they may be.
TEXTS_REMEMBERED_MAX = 4_096
TEXT_REMEMBERED_MAX = 1_000

T = TypeVar("T")


def explain(
    relation: Annotated[
        str | None,
        typer.Argument(
            help="matches, admits, covers, covers-advertisement, overlaps, "
            "satisfiable or equivalent.",
            show_default=False,
        ),
    ] = None,
    left: Annotated[
        str | None,
        typer.Argument(
            help="A filter; for admits, covers-advertisement and overlaps an "
            "advertisement.",
            show_default=False,
        ),
    ] = None,
    right: Annotated[
        str | None,
        typer.Argument(
            help="What it is compared with: a notification, a filter or an "
            "advertisement; nothing for satisfiable.",
            show_default=False,
        ),
    ] = None,
    *,
    stdin: Annotated[
        bool,
        typer.Option(
            "--stdin",
            help='Read questions from stdin, a JSON array on each line: ["covers", '
            '"x > 3", "x > 5"]; answer each with a JSON object on a line.',
        ),
    ] = False,
    dialect: Annotated[
        str | None,
        typer.Option(
            help="The language of filters: sql, amqp, eventbridge, cesql, …",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Answer with one JSON object.")
    ] = False,
) -> None:
    """Say whether a relation holds, what shows it, and why.

    The first line is yes or no, and the exit code is 0 for yes, 1 for no and 2
    for input that cannot be read.  A witness is a notification that shows a no of
    covers, or a yes of overlaps and satisfiable.  Where a filter has a residual, as in
    "x any and y any, if x < y", matches asks it, too; the other relations are answered
    of the covering predicates, and the residuals are printed.

    \b
    Examples:
      siena explain matches 'airline = UA, price < 500' 'airline = UA, price = 449'
      siena explain covers 'price < 500' 'price < 300 and airline = UA'
      siena explain covers 's <= "az"' 's >* "a"'
      siena explain overlaps 'what in (login, logout)' 'what = alarm'
      siena explain satisfiable 'integer x > 3, integer x < 4'
      siena explain covers --dialect sql 'price BETWEEN 1 AND 9' 'price = 3'
      echo '["covers", "x > 3", "x > 5"]' | siena explain --stdin
    """  # noqa: D301 -- Typer needs the backspace itself
    if stdin:
        if relation is not None:
            raise SienaError("--stdin reads the questions; give none as arguments")
        if sys.stdin is None:
            raise SienaError("there is no standard input to read")
        _answer_lines(sys.stdin.buffer, dialect)
        return
    if relation is None:
        raise SienaError("which relation?", hint=f"one of {', '.join(RELATIONS)}")
    try:
        given: list[Json] = [t for t in (relation, left, right) if t is not None]
        question = _read_question(given, dialect)
        verdict = question.decide()
    except SienaError as error:
        if as_json:
            print(json.dumps({"error": str(error)}))
        raise
    if as_json:
        print(json.dumps(_answer(question, verdict)))
    else:
        _show(question, verdict)
    raise typer.Exit(0 if verdict.holds else 1)


@dataclass(frozen=True, slots=True)
class Relation:
    """How the sides of a relation are read, decided and explained."""

    readers: tuple[Callable[[Json], Any], ...]
    decide: Callable[..., Verdict]
    explain: Callable[..., list[Reason]]
    # What a witness does to each side, for a person.
    witness: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A relation and the values it is asked about."""

    relation: Relation
    sides: tuple[Any, ...]

    def decide(self) -> Verdict:
        """The answer."""
        return self.relation.decide(*self.asked_of())

    def residuals(self) -> list[str | None]:
        """The residual of each side, in words, where a side has one."""
        return [
            spell_expression(side.residual)
            if isinstance(side, ResidualPredicate)
            else None
            for side in self.sides
        ]

    def reasons(self) -> list[Reason]:
        """Why, constraint by constraint; of patterns there is nothing to add."""
        if any(isinstance(side, Pattern) for side in self.sides):
            return []
        return self.relation.explain(*self.asked_of())

    def asked_of(self) -> tuple[Any, ...]:
        """The sides; only a notification is asked a residual, too."""
        if self.relation is RELATIONS["matches"]:
            return self.sides
        return tuple(
            side.cover if isinstance(side, ResidualPredicate) else side
            for side in self.sides
        )


def _read_question(form: Json, dialect: str | None = None) -> Question:
    name, *sides = form if isinstance(form, list) and form else [None]
    if not isinstance(name, str):
        raise InvalidFormError(
            "a question is an array", hint='such as ["covers", "x > 3", "x > 5"]'
        )
    relation = RELATIONS.get(name)
    if relation is None:
        raise InvalidFormError(
            f'"{name[:40]}" is not a relation', hint=f"one of {', '.join(RELATIONS)}"
        )
    wanted = len(relation.readers)
    if len(sides) != wanted:
        noun = "value" if wanted == 1 else "values"
        raise InvalidFormError(f"{name} takes {wanted} {noun}, and has {len(sides)}")
    read = zip(relation.readers, sides, _ORDINALS[:wanted], strict=True)
    return Question(
        relation,
        tuple(_read_side(reader, side, which, dialect) for reader, side, which in read),
    )


def _read_side(
    reader: Callable[[Json], Any], side: Json, which: str, dialect: str | None
) -> Any:  # noqa: ANN401 -- each relation knows its own
    is_foreign = dialect is not None and reader in {_read_interest, _read_predicate}
    try:
        if is_foreign and dialect is not None and isinstance(side, str):
            return _interest_in(dialect, side)
        return reader(side)
    except SienaError as error:
        raise error.about(which) from None


def _answer(question: Question, verdict: Verdict) -> dict[str, Json]:
    answer: dict[str, Json] = {"answer": verdict.holds}
    if verdict.witness is not None:
        answer["witness"] = notification_to_json(verdict.witness)
    if verdict.reason:
        answer["reason"] = verdict.reason
    if not verdict.shown:
        answer["shown"] = False
        answer["limit"] = verdict.limit
    residuals = question.residuals()
    if any(residuals):
        answer["residuals"] = list[Json](residuals)
    return answer


def _answer_lines(source: BinaryIO, dialect: str | None) -> None:
    for line in _lines(source):
        try:
            question = _read_question(_read_line(line), dialect)
            answer = _answer(question, question.decide())
        except SienaError as error:
            answer = {"error": str(error)}
        # Flushed, so that a program can ask, wait for the answer and ask again.
        print(json.dumps(answer), flush=True)


def _lines(source: BinaryIO) -> Iterator[bytes]:
    """The lines; of one that is too long, enough to see that it is."""
    while line := source.readline(LINE_BYTES_MAX + 1):
        yield line
        while len(line) > LINE_BYTES_MAX and not line.endswith(b"\n"):
            line = source.readline(LINE_BYTES_MAX + 1)


def _read_line(line: bytes) -> Json:
    try:
        return read_json(line.decode("utf-8-sig").rstrip("\r\n"))
    except UnicodeDecodeError as error:
        raise InvalidFormError(f"byte {error.start + 1} is not UTF-8") from None


def _show(question: Question, verdict: Verdict) -> None:
    paint = Paint(sys.stdout)
    print(paint("good", "yes") if verdict.holds else paint("bad", "no"))
    if not verdict.shown:
        print(f"not shown: it could not be decided within {verdict.limit}")
    if verdict.reason:
        print(verdict.reason)
    if verdict.witness is not None:
        print(f"witness: {verdict.witness}")
        is_step = any(isinstance(side, Pattern) for side in question.sides)
        print(f"         {question.relation.witness}{', at one step' * is_step}")
    reasons = question.reasons()
    if reasons:
        width = min(max(len(r.subject) for r in reasons), 60)
        for reason in reasons:
            mark = "✓" if reason.holds else "✗"
            print(paint.marked(f"  {mark} {reason.subject:{width}}  {reason.because}"))
    residuals = question.residuals()
    if any(residuals) and question.relation is not RELATIONS["matches"]:
        print("this is said of the covering predicates; beside them there is")
    for residual, which in zip(residuals, _ORDINALS, strict=False):
        if residual is not None:
            print(f"  the residual of the {which}: if {printable(residual)}")


def _remembered(read: Callable[[str], T]) -> Callable[[str], T]:
    """Read a short text once, and a long one each time: memory stays bounded."""
    remember = lru_cache(maxsize=TEXTS_REMEMBERED_MAX)(read)
    return lambda text: (remember if len(text) <= TEXT_REMEMBERED_MAX else read)(text)


@_remembered
def _interest_from_text(text: str) -> Filter | Predicate | Pattern:
    form = _form_or_text(text)
    if isinstance(form, str):
        return parse_interest(form, residuals=True)
    return _interest_from_form(form)


def _interest_from_form(form: Json) -> Filter | Predicate | Pattern:
    """The interest of a JSON form; of a rule's, with its residual."""
    if isinstance(form, dict) and "where" in form:
        return interest_of(rule_from_json(form))
    return interest_from_json(form)


def _interest_in(dialect: str, text: str) -> Predicate:
    from siena.dialects import read_rule

    return interest_of(read_rule(dialect, text))


@_remembered
def _advertisement_from_text(text: str) -> Advertisement:
    return advertisement_from_json(_form_or_text(text))


def _form_or_text(text: str) -> Json:
    """A text in the language, or the JSON form that the text is."""
    start = text.lstrip()
    is_form = start.startswith("{") or (
        start.startswith("[") and start[1:].lstrip().startswith("{")
    )
    return read_json(text) if is_form else text


def _read_interest(form: Json) -> Filter | Predicate | Pattern:
    if isinstance(form, str):
        return _interest_from_text(form)
    return _interest_from_form(form)


def _read_predicate(form: Json) -> Filter | Predicate:
    interest = _read_interest(form)
    if isinstance(interest, Pattern):
        raise FilterError(
            "a filter is wanted here, and this is a pattern",
            hint="only covers and equivalent compare patterns, step by step",
        )
    return interest


def _read_advertisement(form: Json) -> Advertisement:
    if isinstance(form, str):
        return _advertisement_from_text(form)
    return advertisement_from_json(form)


def _read_notification(form: Json) -> Notification:
    if isinstance(form, str):
        return parse_notification(form)
    return notification_from_json(form)


def _decide_matches(interest: Filter | Predicate, n: Notification) -> Verdict:
    return Verdict(interest.matches(n))


def _decide_admits(advertisement: Advertisement, n: Notification) -> Verdict:
    return Verdict(advertisement.admits(n))


def _explain_equivalent(
    left: Filter | Predicate, right: Filter | Predicate
) -> list[Reason]:
    return [
        *explanation.explain_covers(left, right),
        *explanation.explain_covers(right, left),
    ]


RELATIONS = {
    "matches": Relation(
        (_read_predicate, _read_notification),
        _decide_matches,
        explanation.explain_matches,
    ),
    "admits": Relation(
        (_read_advertisement, _read_notification),
        _decide_admits,
        explanation.explain_admits,
    ),
    "covers": Relation(
        (_read_interest, _read_interest),
        relations.decide_covers,
        explanation.explain_covers,
        "matches the second and not the first",
    ),
    "covers-advertisement": Relation(
        (_read_advertisement, _read_advertisement),
        relations.decide_covers_advertisement,
        explanation.explain_covers_advertisement,
        "is admitted by the second and not by the first",
    ),
    "overlaps": Relation(
        (_read_advertisement, _read_predicate),
        relations.decide_overlaps,
        explanation.explain_overlaps,
        "is admitted by the first and matches the second",
    ),
    "satisfiable": Relation(
        (_read_predicate,),
        relations.decide_satisfiable,
        explanation.explain_satisfiable,
        "matches",
    ),
    "equivalent": Relation(
        (_read_interest, _read_interest),
        relations.decide_equivalent,
        _explain_equivalent,
        "matches only one of the two",
    ),
}
