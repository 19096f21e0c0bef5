"""``siena bench covering`` measures what it says."""

import json

import pytest
from typer.testing import CliRunner

from siena.bench.covering.routers import Pair, measure
from siena.bench.network.shapes import Shape
from siena.cli.lab.bench import app


@pytest.mark.parametrize("shape", Shape)
def test_interests_of_every_shape_come_are_uncovered_and_go(shape: Shape) -> None:
    row = measure(shape, 60, seed=2)
    assert row.interests == 60
    assert 0 < row.told <= 60
    assert min(row.first, row.last, row.uncovered, row.cancelled) > 0


def test_what_covers_others_is_told_instead_of_them() -> None:
    pair = Pair()
    for number, text in enumerate(("x > 3", "x > 5", "y = 1", "[]")):
        pair.subscribe(number, text)
    assert (pair.settled, pair.told) == (4, 1)
    pair.unsubscribe(3)
    assert pair.told == 2


def test_the_command_prints_one_object() -> None:
    asked = ["covering", "--shape", "bands", "--interests", "50", "--json"]
    printed = CliRunner().invoke(app, asked)
    assert printed.exit_code == 0, printed.output
    [row] = json.loads(printed.output)["rows"]
    assert (row["shape"], row["interests"]) == ("bands", 50)
    assert "growth" in row


def test_the_command_prints_a_table() -> None:
    asked = ["covering", "--shape", "points", "--interests", "50"]
    printed = CliRunner().invoke(app, asked)
    assert printed.exit_code == 0, printed.output
    assert "points" in printed.output
