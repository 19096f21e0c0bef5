"""``siena explain``: the answer, what shows it, and what is said of bad input."""

import io
import json
import subprocess
import sys
from typing import Any

import pytest

from siena.cli.data import explain as command
from siena.cli.main import main

TIME = '{"d": {"time": "2026-11-15T00:00:00Z"}}'
MANY = "x " + "(" * 1_000_000


def run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str, str]:
    monkeypatch.setattr(sys, "argv", ["siena", "explain", *arguments])
    with pytest.raises(SystemExit) as leaving:
        main()
    out, err = capsys.readouterr()
    code = leaving.value.code
    assert isinstance(code, int)
    return code, out, err


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (("covers", "integer x = 4", "integer x > 3, integer x < 5"), "yes"),
        (("covers", 's <= "az"', 's >* "a"'), "no"),
        (("covers", "x > 3", 'x > "a"'), "no"),
        (("covers", "x > 3 then y > 3", "x > 4 then y = 5"), "yes"),
        (("covers", "x > 3 then y > 3", "x > 4"), "no"),
        (("covers", '[{"name": "x", "operator": "any"}]', '{"or": ["x = 1"]}'), "yes"),
        (("matches", "what any, level > 3", '{"what": "alarm", "level": 5}'), "yes"),
        (("matches", "level > 3", "what = alarm"), "no"),
        (("matches", "d >= 2026-11-15T00:00:00Z", TIME), "yes"),
        (("admits", "what = alarm", "what = alarm, level = 3"), "no"),
        (("covers-advertisement", "x < 5, x >= 5", "number x any"), "yes"),
        (("overlaps", "integer x = 3, integer x = 7", "x > 3, x < 5"), "no"),
        (("satisfiable", "integer x > 3, integer x < 4"), "no"),
        (("equivalent", "x in (1, 2)", "x = 2 or x = 1"), "yes"),
    ],
)  # fmt: skip
def test_the_first_line_and_the_exit_code_are_the_answer(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    answer: str,
) -> None:
    code, out, err = run(monkeypatch, capsys, *arguments)
    assert out.splitlines()[0] == answer
    assert code == (0 if answer == "yes" else 1)
    assert err == ""
    code_json, out_json, _ = run(monkeypatch, capsys, *arguments, "--json")
    assert code_json == code
    assert json.loads(out_json)["answer"] == (answer == "yes")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("covers", 'x = "a', "y = 3"), "column 5: this quote is never closed"),
        (("covers", MANY, "y = 3"), "column 3: expected an operator"),
        (("covers", MANY[2:], "y = 3"), "column 101: more than 100 levels"),
        (("covers", "x ~ 3", "y = 3"), 'column 3: "~" is not an operator'),
        (("covers", "x >* 3", "y = 3"), "column 6: >* does not apply to number values"),
        (("matches", "x > 3", "y = 3, y = 4"), "column 8: two attributes"),
        (("matches", "x > 3", '{"y": 3, "y": 4}'), "column 1: the name"),
        (("matches", "x > 3", '{"y": NaN}'), "column 1: NaN is not a value"),
        (("matches", "x > 3", "y = NaN"), 'column 5: "NaN" is not a value'),
        (("matches", "float x = nan", "y = 3"), 'column 11: "nan" is not a value'),
        (("matches", "x > 3 then y > 3", "y = 3"), "this is a pattern"),
        (("covers", "x > 3"), "covers takes 2 values, and has 1"),
        (("covered", "x > 3", "x > 5"), '"covered" is not a relation (one of matches'),
        ((), "which relation? (one of matches"),
        (("covers", "--stdin"), "--stdin reads the questions"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line_with_the_place(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    code, out, err = run(monkeypatch, capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert said in err


def answers(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: bytes
) -> list[Any]:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    monkeypatch.setattr(sys, "argv", ["siena", "explain", "--stdin"])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_every_line_gets_an_answer_and_errors_do_not_end_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        b'["covers", "x > 3", "x > 5"]',
        b'["covers", "x > 5", "x > 3"]',
        b"not JSON",
        b"",
        b'["covers", "x > 5", {"or": 3}]',
        b'["overlaps", "x any", "x > 3"]',
        b'["satisfiable", "x > 3, x < 3"]',
        b'["matches", "x = 1", {"x": 1, "x": 2}]',
        b'["matches", "x = \xff", "x = 1"]',
        b"[" * 100_000,
        b'["matches", "x any", {"x": 1.0}]',
    ]
    got = answers(monkeypatch, capsys, b"\n".join(lines))
    assert got[0] == {"answer": True}
    assert got[1] == {"answer": False, "witness": {"x": 4}}
    assert got[5] == {"answer": True, "witness": {"x": 4}}
    assert got[6] == {"answer": False}
    assert got[10] == {"answer": True}
    for bad in (2, 3, 4, 7, 8, 9):
        assert list(got[bad]) == ["error"]
    assert len(got) == len(lines)


def test_a_line_that_is_too_long_is_refused_and_skipped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "LINE_BYTES_MAX", 100)
    long = b'["satisfiable", "' + b"x" * 1000 + b' any"]\n'
    got = answers(monkeypatch, capsys, long + b'["satisfiable", "x any"]\n')
    assert "error" in got[0]
    assert got[1]["answer"] is True
    assert len(got) == 2


def test_what_could_not_be_decided_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"p{n}" for n in range(9)]
    shared = " or ".join(
        f"{a} = {hole}, {b} = {hole}"
        for hole in range(8)
        for a in names
        for b in names
        if a < b
    )
    placed = ", ".join(f"integer {n} >= 0, integer {n} < 8" for n in names)
    code, out, _ = run(monkeypatch, capsys, "covers", shared, placed, "--json")
    answer = {"answer": False, "shown": False, "limit": "SEARCH_STEPS_MAX"}
    assert (code, json.loads(out)) == (1, answer)
    code, out, _ = run(monkeypatch, capsys, "covers", shared, placed)
    assert out.splitlines()[:2] == [
        "no",
        "not shown: it could not be decided within SEARCH_STEPS_MAX",
    ]


def test_a_residual_is_asked_or_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rule = "x any and y any, if x < y"
    code, out, _ = run(monkeypatch, capsys, "satisfiable", rule)
    assert code == 0
    assert out.splitlines()[0] == "yes"
    assert out.splitlines()[-2:] == [
        "this is said of the covering predicates; beside them there is",
        "  the residual of the first value: if x < y",
    ]
    for given, answer in (("x = 1, y = 2", "yes"), ("x = 2, y = 1", "no")):
        code, out, _ = run(monkeypatch, capsys, "matches", rule, given)
        assert (out.splitlines()[0], code) == (answer, 0 if answer == "yes" else 1)
        assert "if x < y" in out
    code, out, _ = run(monkeypatch, capsys, "covers", "x any", rule, "--json")
    assert json.loads(out) == {"answer": True, "residuals": [None, "x < y"]}
    form = '{"where": "x any", "if": {"<": [{"attribute": "x"}, 3]}}'
    code, out, _ = run(monkeypatch, capsys, "matches", form, "x = 2")
    assert code == 0


def test_filters_in_another_language_are_explained(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = "covers", "x BETWEEN 1 AND 9", "x = 3 AND y < z", "--dialect", "sql"
    code, out, _ = run(monkeypatch, capsys, *arguments)
    assert code == 0
    assert "the residual of the second value: if y < z" in out
    code, _, err = run(monkeypatch, capsys, "covers", "x =", "y = 1", *arguments[3:])
    assert code == 2
    assert "first value, column 4" in err


def test_a_program_can_wait_for_each_answer() -> None:
    """Answers are not held back: ask, wait, ask again."""
    with subprocess.Popen(
        [sys.executable, "-m", "siena", "explain", "--stdin"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(3):
            process.stdin.write('["covers", "x > 3", "x > 5"]\n')
            process.stdin.flush()
            assert process.stdout.readline() == '{"answer": true}\n'
        process.stdin.close()


def test_patterns_of_other_lengths_have_a_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(
        monkeypatch, capsys, "covers", "x any", "x = 1 then y = 2", "--json"
    )
    reason = "patterns of 1 and 2 steps"
    assert (code, json.loads(out)) == (1, {"answer": False, "reason": reason})
    code, out, _ = run(monkeypatch, capsys, "covers", "x any", "x = 1 then y = 2")
    assert out == f"no\n{reason}\n"


def test_a_terminal_that_knows_few_characters_still_gets_its_answer() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "siena", "explain", "covers", "x > 3", "x > 5"],
        env={"PYTHONIOENCODING": "ascii", "PATH": ""},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"yes\n  \\u2713 x > 3")
