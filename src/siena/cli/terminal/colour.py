"""Colours on terminals: for people, never in files and pipes, nor where refused."""

import os
import sys
from collections.abc import Mapping
from typing import TextIO

_RESET = "\x1b[0m"
CODES = {
    "good": "\x1b[32m",
    "bad": "\x1b[31m",
    "note": "\x1b[33m",
    "dim": "\x1b[2m",
    "name": "\x1b[36m",
}
# A mark at the beginning of a line, and what it means.
MARKS = {"✓": "good", "✗": "bad", "·": "note"}


class Paint:
    """Colours what is written to a stream, if that shows colours.

    ``NO_COLOR`` (https://no-color.org) and ``TERM=dumb`` say that it does not.

    >>> import io
    >>> Paint(io.StringIO())("good", "yes")
    'yes'
    """

    def __init__(
        self, stream: TextIO, environment: Mapping[str, str] = os.environ
    ) -> None:
        is_refused = environment.get("NO_COLOR") or environment.get("TERM") == "dumb"
        self.is_wanted = stream.isatty() and not is_refused

    def __call__(self, style: str, text: str) -> str:
        """The text in this style."""
        return f"{CODES[style]}{text}{_RESET}" if self.is_wanted else text

    def marked(self, line: str) -> str:
        """A line, with its first mark coloured by what it means."""
        for mark, style in MARKS.items():
            if line.lstrip().startswith(mark):
                return line.replace(mark, self(style, mark), 1)
        return line


def say(line: str) -> None:
    """Print a line that may begin with a mark, which is coloured on a terminal."""
    print(Paint(sys.stdout).marked(line))
