"""The line of progress: now and then on a terminal, never elsewhere."""

import io

import pytest

from siena.cli.common import progress as module
from siena.cli.common.progress import Progress


class Terminal(io.StringIO):
    """Remembers everything that was written to it."""

    def isatty(self) -> bool:
        return True


def test_a_file_gets_nothing() -> None:
    file = io.StringIO()
    progress = Progress(file)
    progress.show("half")
    progress.clear()
    assert file.getvalue() == ""


def test_a_terminal_is_not_flooded(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter((5.0, 5.05, 5.2))
    monkeypatch.setattr(module, "perf_counter", lambda: next(times))
    terminal = Terminal()
    progress = Progress(terminal)
    for text in ("first", "too soon", "second"):
        progress.show(text)
    assert terminal.getvalue() == "\rfirst\x1b[K\rsecond\x1b[K"


def test_what_was_shown_is_cleared_once() -> None:
    terminal = Terminal()
    progress = Progress(terminal)
    progress.clear()
    progress.show("half")
    progress.clear()
    progress.clear()
    assert terminal.getvalue() == "\rhalf\x1b[K\r\x1b[K"
