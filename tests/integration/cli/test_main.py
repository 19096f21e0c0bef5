"""The entry point: every way to leave ``siena`` has its code and its line."""

import os
import subprocess
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import NoReturn, Protocol

import pytest

from siena.cli import main as entry
from siena.errors import FilterSyntaxError

SIENA = Path(sys.executable).with_name("siena")
ENTERED = dict(entry.COMMANDS)


class Run(Protocol):
    """Runs ``siena`` here; answers its exit code, its stdout and its stderr."""

    def __call__(self, *arguments: str) -> tuple[object, str, str]: ...


def greet(name: str, *, loud: bool = False) -> None:
    """Say hello.  A filter such as [x > 3] stays as it is."""
    print("HELLO" if loud else "hello", name)  # noqa: T201 -- commands print


def fail(how: str) -> NoReturn:
    """Fail in one of the ways there are."""
    errors = {
        "filter": FilterSyntaxError("what is\nthis").at("price >> 3", 7),
        "interrupt": KeyboardInterrupt(),
        "file": FileNotFoundError(2, "No such file or directory", "filters.txt"),
        "silent": TimeoutError(),
        "ours": AssertionError("this cannot be"),
    }
    raise errors[how]


@pytest.fixture
def siena(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """``siena`` with the two commands above instead of its own."""
    shelf = ModuleType("shelf")
    vars(shelf).update(greet=greet, fail=fail)
    monkeypatch.setitem(sys.modules, "shelf", shelf)
    commands = {"greet": "shelf:greet", "fail": "shelf:fail"}
    monkeypatch.setattr(entry, "COMMANDS", commands)

    def run(*arguments: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["siena", *arguments])
        with pytest.raises(SystemExit) as leaving:
            entry.main()
        return (leaving.value.code, *capfd.readouterr())

    return run


def test_a_command_runs_with_its_arguments(siena: Run) -> None:
    assert siena("greet", "Siena", "--loud") == (0, "HELLO Siena\n", "")


def test_only_the_command_that_was_asked_for_is_imported(siena: Run) -> None:
    entry.COMMANDS["other"] = "no.such.module:other"
    assert siena("greet", "Siena") == (0, "hello Siena\n", "")


def test_help_lists_the_commands(siena: Run) -> None:
    code, out, _ = siena("--help")
    assert code == 0
    assert "greet  Say hello." in out


def test_help_leaves_brackets_alone(siena: Run) -> None:
    assert "[x > 3]" in siena("greet", "--help")[1]


def test_a_misspelt_command_is_bad_input_with_a_suggestion(siena: Run) -> None:
    code, _, error = siena("gret")
    assert code == 2
    assert "Did you mean 'greet'?" in error


def test_an_error_is_one_line_with_its_place(siena: Run) -> None:
    said = "siena: error: column 8: what is\\u000athis\n"
    assert siena("fail", "filter") == (2, "", said)


def test_a_person_is_shown_the_place(
    siena: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    code, _, error = siena("fail", "filter")
    assert code == 2
    assert error.splitlines()[1:] == ["price >> 3", "       ^"]


def test_an_interrupt_is_quiet(siena: Run) -> None:
    assert siena("fail", "interrupt") == (130, "", "")


def test_a_missing_file_is_one_line(siena: Run) -> None:
    code, _, error = siena("fail", "file")
    assert code == 2
    assert error.startswith("siena: error: ")
    assert "filters.txt" in error
    assert error.count("\n") == 1


def test_an_error_without_words_has_its_name(siena: Run) -> None:
    assert siena("fail", "silent") == (2, "", "siena: error: TimeoutError\n")


def test_a_mistake_of_ours_is_loud(siena: Run) -> None:
    """And is not taken for an answer: 1 would be a no."""
    code, out, err = siena("fail", "ours")
    assert (code, out) == (70, "")
    assert "Traceback" in err
    assert "this cannot be" in err


def test_the_version_is_that_of_the_distribution() -> None:
    done = subprocess.run([SIENA, "--version"], capture_output=True, check=True)
    assert done.stdout.decode() == f"siena {version('siena-pubsub')}\n"


def test_a_closed_pipe_is_quiet() -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer) as stdout:
        done = subprocess.run(
            [SIENA, "--help"], stdout=stdout, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("place", ENTERED.values(), ids=ENTERED)
def test_every_command_is_where_the_table_says(place: str) -> None:
    module, function = place.split(":")
    assert callable(getattr(import_module(module), function))


@pytest.mark.parametrize(
    "command",
    [
        *(
            *ENTERED,
            "bench match",
            "bench http",
            "bench client",
            "sim check",
            "sim draw",
            "sim play",
            "sim run",
        ),
        *("study list", "study report", "study run", "study show"),
    ],
)
def test_help_has_examples_that_can_be_pasted(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.setattr(sys, "argv", ["siena", *command.split(), "--help"])
    with pytest.raises(SystemExit):
        entry.main()
    out = capsys.readouterr().out
    assert "\\b" not in out
    if command not in {
        "bench",
        "sim",
        "study",
    }:  # groups, whose commands have the examples
        assert f"\n    siena {command}" in out
