"""Colours: on terminals, and nowhere else."""

import io

import pytest

from siena.cli.terminal.colour import Paint


class Terminal(io.StringIO):
    """What says that it is one."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_gets_colours_and_a_pipe_does_not() -> None:
    assert Paint(Terminal(), {})("good", "yes") == "\x1b[32myes\x1b[0m"
    assert Paint(io.StringIO(), {})("good", "yes") == "yes"


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_who_wants_no_colours_gets_none(environment: dict[str, str]) -> None:
    assert Paint(Terminal(), environment)("bad", "no") == "no"


def test_only_the_mark_of_a_line_is_coloured() -> None:
    paint = Paint(Terminal(), {})
    assert paint.marked("  ✗ x > 3  ✗") == "  \x1b[31m✗\x1b[0m x > 3  ✗"
    assert paint.marked("x > 3") == "x > 3"
