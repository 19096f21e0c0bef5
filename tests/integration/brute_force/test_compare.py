"""``siena explain --stdin`` against brute force, and the judge against liars."""

import json
import sys

import pytest

from brute_force.compare import (
    Case,
    Complaint,
    Tally,
    compare,
    describe,
    draw_case,
    judge,
)
from brute_force.evaluator import Question
from brute_force.language import All, Constraint

COMMAND = [sys.executable, "-m", "siena", "explain", "--stdin"]
SEED = 20_261_115


def test_3_000_random_lines_agree_with_brute_force() -> None:
    _compare(3_000)


@pytest.mark.slow
@pytest.mark.timeout(1800)  # 200 000 lines, twice drawn, asked and judged
def test_200_000_random_lines_agree_with_brute_force() -> None:
    _compare(200_000)


def _compare(lines: int) -> None:
    report = compare(SEED, range(lines), COMMAND)
    summary = f"seed {SEED}\n{describe(report)}"
    assert not report.complaints, summary
    assert report.lines == lines
    assert report.total("incomplete") == 0, summary
    assert report.total("witnesses") > lines / 5, summary


def test_a_line_depends_on_its_seed_and_index_alone() -> None:
    assert draw_case(1, 5) == draw_case(1, 5)
    assert draw_case(1, 5) != draw_case(2, 5)


def test_a_line_is_one_line() -> None:
    assert not any("\n" in draw_case(1, index).line for index in range(300))


COVERED = Case(
    0,
    "",
    Question(
        "covers",
        (
            All((Constraint("x", "number", ">", 3),)),
            All((Constraint("x", "integer", ">", 5),)),
        ),
    ),
)
NOT_COVERED = Case(
    0,
    "",
    Question(
        "covers",
        (
            All((Constraint("x", "integer", ">", 5),)),
            All((Constraint("x", "integer", ">", 3),)),
        ),
    ),
)
MALFORMED = Case(0, "nonsense", None)
NOW = "2026-11-15T02:40:03Z"


@pytest.mark.parametrize(
    ("case", "answer"),
    [
        (COVERED, {"answer": True}),
        (NOT_COVERED, {"answer": False, "witness": {"x": 4}}),
        (NOT_COVERED, {"answer": False, "witness": {"x": 5, "y": {"time": NOW}}}),
        (MALFORMED, {"error": "not JSON"}),
    ],
)
def test_a_right_answer_is_accepted(case: Case, answer: object) -> None:
    judge(case, json.dumps(answer).encode(), Tally())


@pytest.mark.parametrize(
    ("case", "answer"),
    [
        (COVERED, {"answer": False, "witness": {"x": 6}}),
        (COVERED, {"answer": False}),
        (COVERED, {"answer": False, "shown": False}),
        (COVERED, {"answer": "yes"}),
        (COVERED, {"error": "not today"}),
        (COVERED, []),
        (NOT_COVERED, {"answer": True}),
        (NOT_COVERED, {"answer": False}),
        (NOT_COVERED, {"answer": False, "witness": {"x": 4.0}}),
        (NOT_COVERED, {"answer": False, "witness": {"x": "4"}}),
        (NOT_COVERED, {"answer": False, "witness": {"x": 3}}),
        (NOT_COVERED, {"answer": False, "witness": {"x": 4, "y": float("nan")}}),
        (NOT_COVERED, {"answer": False, "witness": {"x": 4, "y": 2**63}}),
        (NOT_COVERED, {"answer": False, "witness": {"x": 4, "y": {"time": "1"}}}),
        (MALFORMED, {"answer": True}),
    ],
)
def test_a_wrong_answer_is_a_complaint(case: Case, answer: object) -> None:
    with pytest.raises(Complaint):
        judge(case, json.dumps(answer).encode(), Tally())


def test_a_command_that_says_nothing_is_found_out() -> None:
    report = compare(SEED, range(20), [sys.executable, "-c", ""])
    assert report.total("disagreements") == 20


def test_a_command_that_always_says_yes_is_found_out() -> None:
    says_yes = "import sys\nfor _ in sys.stdin.buffer: print('{\"answer\": true}')"
    report = compare(SEED, range(300), [sys.executable, "-c", says_yes])
    looked_up_or_proved = report.total("yes") - report.total("disagreements")
    assert report.total("yes") == 300 - report.tallies["malformed"].lines
    assert 0 < looked_up_or_proved < 200
