"""``--help``: every example can be pasted, and every command says what it is for."""

import re
import shlex
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.core import TyperGroup

from siena.cli.main import app, main
from siena.dialects.writing import WRITERS

# What needs neither a broker nor a file nor much time is run; of the rest it is checked
# that the command takes it.
RUN = re.compile(
    r"siena (?:explain|why (?!.*--server)|tour|doctor --no-spark|flights --limit"
    r"|study list|sim check --worlds 2\b)"
)
# Answers, and not mistakes.
CODES = {0, 1}


def commands() -> Iterator[tuple[str, Any]]:
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    with root.make_context("siena", ["--help"], resilient_parsing=True) as context:
        for name in root.list_commands(context):
            command = root.get_command(context, name)
            assert command is not None
            if not isinstance(command, TyperGroup):
                yield name, command
                continue
            with command.make_context(name, [], resilient_parsing=True) as inner:
                for below in command.list_commands(inner):
                    found = command.get_command(inner, below)
                    assert found is not None
                    yield f"{name} {below}", found


ALL = dict(commands())


def examples(command: str) -> list[str]:
    """The lines below Examples, without what is said beside them."""
    with ALL[command].make_context("siena", [], resilient_parsing=True) as context:
        text = ALL[command].get_help(context)
    below = re.split(r"^ *Examples?:\n", text, flags=re.MULTILINE)
    if len(below) < 2:
        return []
    shown = re.sub(r"\\\n\s*", "", re.split(r"\n\s*\n", below[1])[0])
    lines = shown.splitlines()
    return [re.split(r"(?<=\S) {3,}", line.strip())[0] for line in lines]


def calls(line: str) -> list[list[str]]:
    """What is said to siena in a line of a shell."""
    words = shlex.shlex(line, posix=True, punctuation_chars="|&<>")
    words.whitespace_split = True
    found: list[list[str]] = [[]]
    for word in words:
        if word in {"|", "&&"}:
            found.append([])
        elif word in {"<", ">", ">>"}:
            next(words)  # the file
        else:
            found[-1].append(word)
    return [said[1:] for said in found if said[0] == "siena"]


@pytest.mark.parametrize("command", ALL)
def test_examples_pasted_one_after_the_other_do_not_meet_in_a_folder(
    command: str,
) -> None:
    outputs = [
        word
        for line in examples(command)
        for call in calls(line)
        for before, word in pairwise(call)
        if before == "--output" and "--overwrite" not in call
    ]
    assert len(outputs) == len(set(outputs)), outputs


EXAMPLES = [line for name in ALL for line in examples(name)]


@pytest.mark.parametrize("command", ALL)
def test_help_has_a_sentence_and_examples(command: str) -> None:
    help_text = ALL[command].help or ""
    assert re.match(r"[A-Z].*[.:]", help_text.split("\n\n")[0].replace("\n", " "))
    # What a group of small commands does is in the help of the group.
    words = command.split()
    said = [call[: len(words)] for line in examples(command) for call in calls(line)]
    assert words in said or command.startswith("context "), help_text


@pytest.mark.parametrize("line", EXAMPLES)
def test_an_example_can_be_pasted(
    line: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    if RUN.match(line) and "|" not in line and ">" not in re.sub(r"'[^']*'", "", line):
        monkeypatch.setattr(sys, "argv", shlex.split(line))
        with pytest.raises(SystemExit) as leaving:
            main()
        assert leaving.value.code in CODES
        assert "error" not in capsys.readouterr().err
    for arguments in calls(line):
        name = arguments[0] if arguments[0] in ALL else " ".join(arguments[:2])
        rest = arguments[len(name.split()) :]
        # Raises what the command line would say, if it does not take it.
        with ALL[name].make_context(name, rest):
            pass


# What says how rules are read, and where alerts go: the same everywhere.
READING = ("--dialect", "--many", "--logsource", "--rename", "--pipeline", "--json")


@pytest.mark.parametrize("command", [c for c in ALL if c.startswith("rules ")])
def test_all_commands_about_rules_take_the_same_options(command: str) -> None:
    taken = {option for p in ALL[command].params for option in p.opts}
    assert set(READING) <= taken


def test_what_little_needs_is_said() -> None:
    help_text = " ".join((ALL["match"].help or "").split())
    assert "matched at once, without Java; the Python packages of Spark" in help_text


def test_translate_names_all_languages_that_it_writes() -> None:
    (to,) = [p for p in ALL["translate"].params if "--to" in p.opts]
    words = set(re.findall(r"\w+", getattr(to, "help", "")))
    assert words >= {*WRITERS, "expression", "always"}
