"""How far a command has come: one line of a terminal, written over and over."""

from time import perf_counter
from typing import TextIO

# A person reads no faster, and a terminal takes time for each.
SECONDS_BETWEEN = 0.1

_TO_THE_END = "\x1b[K"  # erases what is left of a longer line


class Progress:
    """A line that shows how far it is; nothing at all where it is not a terminal.

    Before anything else is written to the same terminal, clear the line first.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_wanted = stream.isatty()
        self._is_shown = False
        self._shown_at = -SECONDS_BETWEEN

    def show(self, text: str) -> None:
        """Show the text, unless the last one has just been shown."""
        now = perf_counter()
        if self._is_wanted and now - self._shown_at >= SECONDS_BETWEEN:
            print(f"\r{text}{_TO_THE_END}", end="", file=self._stream, flush=True)
            self._is_shown = True
            self._shown_at = now

    def clear(self) -> None:
        """Leave the terminal as it was."""
        if self._is_shown:
            print(f"\r{_TO_THE_END}", end="", file=self._stream, flush=True)
            self._is_shown = False
