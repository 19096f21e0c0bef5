r"""Puts random questions to ``siena explain --stdin`` and to the brute-force evaluator.

From the root of the repository::

    PYTHONPATH=tests/support .venv/bin/python -m brute_force.compare \
        --lines 200000 --seed 1 --command ".venv/bin/siena explain --stdin"

Line number ``i`` depends on the seed and ``i`` alone, so a complaint is repeated with
``--seed S --first i --lines 1``.  Exit code 1 if there was any disagreement.

A witness that the command shows is always checked by the definitions.  If it proves a
side that brute force found no witness for, the command is right and our universe was
incomplete; such lines are counted, and there should be none.
"""

import argparse
import json
import shlex
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from brute_force.drawing import draw_question
from brute_force.evaluator import (
    LOOKED_UP,
    WITNESS_MEANS_YES,
    Question,
    Verdict,
    decide,
    is_witness,
)
from brute_force.language import (
    EPOCH,
    MICROSECOND,
    All,
    Constraint,
    Notification,
    Value,
    in_domain,
)
from brute_force.spelling import spell_question

COMPLAINTS_SHOWN = 10
MALFORMED_SHARE = 0.02
# Each must be answered by an error, and must not stop the stream.
MALFORMED = (
    "not JSON",
    '["covers", "x > 3", ',
    "null",
    "42",
    "{}",
    "[]",
    '"covers"',
    '["covers", "x > 3"]',
    '["satisfiable", "x > 3", "x > 4", "x > 5"]',
    '["implies", "x > 3", "x > 4"]',
    '["COVERS ", "x > 3", "x > 4"]',
    '[["covers"], "x > 3", "x > 4"]',
    '["covers", null, "x > 4"]',
    '["satisfiable", "x >"]',
    '["satisfiable", "x > 3 x < 5"]',
    '["satisfiable", "x ~ 3"]',
    '["satisfiable", "x = \\"a"]',
    '["satisfiable", "x > 3)"]',
    '["satisfiable", "(x > 3"]',
    '["satisfiable", "x in ()"]',
    '["satisfiable", "x > 3 or"]',
    '["satisfiable", "integer x = 1.5"]',
    '["satisfiable", "integer x = 9223372036854775808"]',
    '["satisfiable", "x = 9223372036854775808"]',
    '["satisfiable", "x = -9223372036854775809"]',
    '["satisfiable", "x = 1e999"]',
    '["satisfiable", "float x = NaN"]',
    '["satisfiable", "float x = 9007199254740993"]',
    '["satisfiable", "integer x >* \\"a\\""]',
    '["satisfiable", "x contains 3"]',
    '["satisfiable", "boolean x = 1"]',
    '["satisfiable", "string x = 1"]',
    '["satisfiable", "x = \\"\\ud800\\""]',
    '["satisfiable", "integer x absent"]',
    '["satisfiable", "x does not have \\"a\\""]',
    '["satisfiable", "x < \\"a\\" ignoring case"]',
    '["satisfiable", "x = 3 ignoring case"]',
    '["satisfiable", "x like a"]',
    '["satisfiable", "x like \\"a\\\\\\\\b\\""]',
    '["satisfiable", "x > 3 except"]',
    '["overlaps", "x absent", "x > 5"]',
    '["overlaps", "x any except x > 3", "x > 5"]',
    '["overlaps", "x > 3 or x < 1", "x > 5"]',
    '["admits", "not x > 3", {"x": 1}]',
    '["matches", "x > 3", "x > 3"]',
    '["matches", "x > 3", "x = 1, x = 2"]',
    '["matches", "x > 3", {"x": 1, "x": 2}]',
    '["matches", "x > 3", {"x": NaN}]',
    '["matches", "x > 3", {"x": Infinity}]',
    '["matches", "x > 3", {"x": 9223372036854775808}]',
    '["matches", "x > 3", {"x": [1]}]',
    '["matches", "x > 3", {"x": {"time": "yesterday"}}]',
    '["matches", "x > 3", {"x": "\\udc00"}]',
)


class Complaint(Exception):  # noqa: N818 # it is a finding of the comparison
    """What is wrong with an answer of the command."""


@dataclass(frozen=True, slots=True)
class Case:
    """A line of input and, unless it is malformed, the question that it asks."""

    index: int
    line: str
    question: Question | None

    @property
    def topic(self) -> str:
        """The row of the summary that it belongs to."""
        return self.question.relation if self.question else "malformed"


@dataclass(slots=True)
class Tally:
    """What happened to the lines of one relation."""

    lines: int = 0
    yes: int = 0
    no: int = 0
    witnesses: int = 0
    not_shown: int = 0
    incomplete: int = 0
    disagreements: int = 0


@dataclass(slots=True)
class Report:
    """The whole comparison."""

    tallies: dict[str, Tally] = field(default_factory=lambda: defaultdict(Tally))
    complaints: list[str] = field(default_factory=list)
    command_s: float = 0.0
    judging_s: float = 0.0

    @property
    def lines(self) -> int:
        """How many lines were asked."""
        return sum(tally.lines for tally in self.tallies.values())

    def total(self, column: str) -> int:
        """The sum of one column of the tallies."""
        return sum(getattr(tally, column) for tally in self.tallies.values())


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, print what was found, and return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="index of the first line")
    parser.add_argument("--command", default="siena explain --stdin")
    options = parser.parse_args(arguments)
    indexes = range(options.first, options.first + options.lines)
    report = compare(options.seed, indexes, shlex.split(options.command))
    sys.stdout.write(describe(report))
    return 1 if report.complaints else 0


def compare(seed: int, indexes: Iterable[int], command: Sequence[str]) -> Report:
    """Ask the command about the lines with these indexes, and judge its answers.

    Questions and answers go through files: no pipe can fill up, and the time of the
    command is its own.  The lines are drawn again for judging rather than kept.
    """
    report = Report()
    with TemporaryDirectory() as folder:
        asked, answered = Path(folder, "asked"), Path(folder, "answered")
        with asked.open("w", encoding="utf-8") as file:
            file.writelines(draw_case(seed, index).line + "\n" for index in indexes)
        report.command_s = _run(command, asked, answered)
        start = time.perf_counter()
        answers = answered.read_bytes().split(b"\n")
        _judge_all((draw_case(seed, index) for index in indexes), answers, report)
        report.judging_s = time.perf_counter() - start
    return report


def draw_case(seed: int, index: int) -> Case:
    """The line of that index; the same seed and index always give the same line."""
    random = Random(f"{seed}/{index}")
    if random.random() < MALFORMED_SHARE:
        return Case(index, random.choice(MALFORMED), None)
    question = draw_question(random)
    return Case(index, spell_question(question, random), question)


def describe(report: Report) -> str:
    """The summary as a table, and the first complaints."""
    columns = list(Tally.__slots__)
    rows = [["relation", *columns]]
    for relation, tally in sorted(report.tallies.items()):
        rows.append([relation, *(str(getattr(tally, c)) for c in columns)])
    rows.append(["all", *(str(report.total(c)) for c in columns)])
    text = "".join(_row(row) for row in rows)
    text += f"\ncommand      {_pace(report.lines, report.command_s)}"
    text += f"brute force  {_pace(report.lines, report.judging_s)}"
    for complaint in report.complaints[:COMPLAINTS_SHOWN]:
        text += f"\n{complaint}\n"
    return text


def _row(cells: Iterable[str]) -> str:
    first, *others = cells
    return f"{first:22}" + "".join(f"{cell:>14}" for cell in others) + "\n"


def _pace(lines: int, seconds: float) -> str:
    return f"{seconds:8.1f} s {lines / seconds:10,.0f} lines/s\n"


def _run(command: Sequence[str], asked: Path, answered: Path) -> float:
    """Run the command from file to file, and return its seconds."""
    start = time.perf_counter()
    with asked.open("rb") as stdin, answered.open("wb") as stdout:
        # Exit codes are not judged: a stream with errors in it may well have one.
        subprocess.run(command, stdin=stdin, stdout=stdout, check=False)
    return time.perf_counter() - start


def _judge_all(cases: Iterator[Case], answers: Sequence[bytes], report: Report) -> None:
    """Judge each answer; the last element of ``answers`` follows the last newline."""
    count = 0
    for count, case in enumerate(cases, 1):
        answer = answers[count - 1] if count < len(answers) else None
        tally = report.tallies[case.topic]
        tally.lines += 1
        try:
            if answer is None:
                raise Complaint("no answer")  # noqa: TRY301
            judge(case, answer, tally)
        except Complaint as complaint:
            tally.disagreements += 1
            shown = (answer or b"").decode("utf-8", "replace")
            report.complaints.append(
                f"line {case.index}: {complaint}\n  asked    {case.line}\n"
                f"  answered {shown}"
            )
    if len(answers) - 1 > count:
        report.complaints.append(f"{len(answers) - 1} answers to {count} lines")


def judge(case: Case, answer: bytes, tally: Tally) -> None:
    """Count the answer in the tally.

    Raises:
        Complaint: if the answer is wrong, or not what the contract says.
    """
    found = _decoded(answer)
    if case.question is None:
        if not isinstance(found.get("error"), str) or "answer" in found:
            raise Complaint("malformed input was not refused")
        return
    if not isinstance(found.get("answer"), bool):
        raise Complaint("no answer of yes or no")
    said_yes = found["answer"] is True
    tally.yes += said_yes
    tally.no += not said_yes
    verdict = decide(case.question)
    if verdict.witness is not None:
        assert is_witness(case.question, verdict.witness), "brute force is broken"
    if case.question.relation in LOOKED_UP:
        if said_yes is not verdict.answer:
            raise Complaint(f"brute force says {verdict.answer}")
        return
    _judge_witnessed(case.question, found, verdict, tally)


def _judge_witnessed(
    question: Question, found: dict[str, object], verdict: Verdict, tally: Tally
) -> None:
    is_proved_by_witness = found["answer"] is (question.relation in WITNESS_MEANS_YES)
    if not is_proved_by_witness:
        if verdict.witness is not None:
            raise Complaint(f"brute force has a witness: {dict(verdict.witness)}")
        if "witness" in found:
            raise Complaint("a witness for an answer that none can prove")
        return
    if found.get("shown") is False and "witness" not in found:
        if all(_is_filter(expression) for expression in question.expressions):
            raise Complaint("not shown, though no predicate is involved")
        tally.not_shown += 1
        return
    if not is_witness(question, _witness(found.get("witness"))):
        raise Complaint("the witness does not prove the answer")
    tally.witnesses += 1
    if verdict.witness is None:
        tally.incomplete += 1


def _is_filter(expression: object) -> bool:
    return isinstance(expression, All) and all(
        isinstance(part, Constraint) for part in expression.parts
    )


def _decoded(answer: bytes) -> dict[str, object]:
    try:
        found = json.loads(answer, parse_constant=_refuse_constant)
    except ValueError as error:
        raise Complaint(f"not JSON: {error}") from None
    if not isinstance(found, dict):
        raise Complaint("not an object")
    return found


def _refuse_constant(constant: str) -> object:
    raise Complaint(f"{constant} is no JSON")


def _witness(found: object) -> Notification:
    if not isinstance(found, dict):
        raise Complaint("no witness")
    return {name: _witness_value(raw) for name, raw in found.items()}


def _witness_value(raw: object) -> Value:
    match raw:
        case bool():
            value = Value("boolean", raw)
        case int():
            value = Value("integer", raw)
        case float():
            value = Value("float", raw)
        case str():
            value = Value("string", raw)
        case {"time": str(text), **others} if not others:
            value = Value("time", _microseconds(text))
        case _:
            raise Complaint(f"{raw!r} is no value")
    if not in_domain(value):
        raise Complaint(f"{raw!r} is outside the domain of its kind")
    return value


def _microseconds(text: str) -> int:
    try:
        return (datetime.fromisoformat(text) - EPOCH) // MICROSECOND
    except (TypeError, ValueError) as error:  # no zone, or no time at all
        raise Complaint(f"{text!r} is no time: {error}") from None


if __name__ == "__main__":
    sys.exit(main())
