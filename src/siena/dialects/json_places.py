"""Places in JSON texts: where the value at a path begins.

A JSON reader keeps values and forgets where they stood.  When something is wrong with
one of them, its place is found again by going through the text once more.
"""

import json
import re
from collections.abc import Sequence

from siena.errors import SienaError

Path = Sequence[str | int]

_TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+)', re.DOTALL)


def place_of(text: str, path: Path) -> int:
    """Where the value at a path begins; of a path too long, where it leaves off.

    >>> place_of('{"a": [1, {"b": 2}]}', ["a", 1, "b"])
    16
    """
    return _Walk(text).find(list(path))


def placed(error: SienaError, text: str, path: Path) -> SienaError:
    """The error, at the place of the value at a path."""
    return error.at(text, min(place_of(text, path), len(text)))


class _Walk:
    """One walk through a text that is known to be JSON."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0

    def find(self, path: list[str | int]) -> int:
        while path:
            start = self._start()
            if not self._enter(path[0]):
                return start
            path = path[1:]
        return self._start()

    def _enter(self, step: str | int) -> bool:
        """Go to the value of a key or an index, if there is one here."""
        opening = self._next()
        if (opening == "{") is not isinstance(step, str) or opening not in "{[":
            return False
        for index in range(len(self.text)):
            key: str | int = index
            if opening == "{":
                key = _plain(self._next())
                self._next()  # the colon
            if key == step:
                return True
            self._skip()
            if self._next() != ",":
                return False
        return False

    def _skip(self) -> None:
        """Go behind one value."""
        depth = 0
        while True:
            token = self._next()
            depth += (token in {"{", "["}) - (token in {"}", "]"})
            if depth <= 0 or not token:
                return

    def _next(self) -> str:
        found = _TOKEN.match(self.text, self.position)
        if found is None:
            return ""
        self.position = found.end()
        return found[1]

    def _start(self) -> int:
        found = _TOKEN.match(self.text, self.position)
        return found.start(1) if found else len(self.text)


def _plain(token: str) -> str:
    return str(json.loads(token)) if "\\" in token else token[1:-1]
