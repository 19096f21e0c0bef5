"""Options that take one of a few words complete them."""

import os
import subprocess
import sys
from typing import get_args

import pytest
import typer
from typer.core import TyperGroup

from siena.cli.data.match import ANSWERS
from siena.cli.data.matchers import SIEVES
from siena.cli.main import app
from siena.cli.terminal.completion import PERIODS, WRITTEN
from siena.dialects.registry import DIALECTS
from siena.dialects.writing import WRITERS
from siena.rules.review.findings import FindingKind
from siena.spark.batch.backtesting import Period
from siena.spark.batch.matching import OUTPUTS
from siena.testing.chaos.faults import FAULTS

# As the command is called that a shell completes.
AS_SIENA = "import sys; sys.argv[0] = 'siena'; from siena.cli.main import main; main()"
SOURCES = ["attributes", "windows", "none"]


def completed(command: str, option: str, typed: str = "") -> list[str]:
    """What is offered behind an option."""
    group = typer.main.get_command(app)
    with group.make_context("siena", [], resilient_parsing=True) as context:
        for word in command.split():
            assert isinstance(group, TyperGroup)
            found = group.get_command(context, word)
            assert found is not None
            group = found
        (named,) = (each for each in group.params if option in each.opts)
        return [item.value for item in named.shell_complete(context, typed)]


@pytest.mark.parametrize(
    ("command", "option", "words"),
    [
        ("sub", "--dialect", DIALECTS),
        ("sub", "--start", ["new", "all"]),
        ("durable seek", "where", ["new", "all"]),
        ("sift", "--dialect", DIALECTS),
        ("sift", "--matcher", SIEVES),
        ("match", "--answer", ANSWERS),
        ("match", "--dialect", DIALECTS),
        ("match", "--nan", ["refuse", "absent"]),
        ("compile", "--dialect", DIALECTS),
        ("backtest", "--every", PERIODS),
        ("backtest", "--nan", ["refuse", "absent"]),
        ("replay", "--speed", ["max"]),
        ("serve", "--log-format", ["text", "json"]),
        ("translate", "--from", DIALECTS),
        ("translate", "--to", WRITTEN),
        ("translate", "--logsource", SOURCES),
        *[(f"rules {name}", "--logsource", SOURCES) for name in ("review", "apply")],
        *[(f"rules {name}", "--dialect", DIALECTS) for name in ("test", "publish")],
        ("rules backtest", "--every", PERIODS),
        ("rules review", "--ignore", FindingKind),
        ("chaos", "--fault", FAULTS),
        ("bench match", "--workload", ["tr0605", "ssbg"]),
    ],
)
def test_words_are_completed(command: str, option: str, words: list[str]) -> None:
    assert completed(command, option) == list(words)
    first = next(iter(words))
    assert first in completed(command, option, first[:2])
    assert completed(command, option, "no such word") == []


def test_what_is_completed_is_what_is_taken() -> None:
    assert get_args(Period) == PERIODS
    assert {*WRITTEN} == {*WRITERS, "expression"}
    assert {*ANSWERS} <= {*OUTPUTS}


def test_a_shell_is_told() -> None:
    done = subprocess.run(
        [sys.executable, "-c", AS_SIENA],
        env={
            **os.environ,
            "_SIENA_COMPLETE": "complete_bash",
            "COMP_WORDS": "siena backtest --every w",
            "COMP_CWORD": "3",
        },
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stdout.split() == ["week"], done.stderr
