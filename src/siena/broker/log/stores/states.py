"""The small files beside a log: cursors, publishers, identities, and where each is."""

from pathlib import Path

from siena.broker.log.files import Files
from siena.broker.log.given import FILE as GIVEN
from siena.broker.log.stores.limits import STATE_BYTES_PER_SECOND, STATE_SECONDS
from siena.broker.log.stores.writer import StateOf
from siena.clock import Clock

SUFFIXES = (".json", ".state", ".lines")
# What is about the folder itself, and means nothing elsewhere.
EARLIEST, STORE = "earliest.json", "store.json"
_OURS = (EARLIEST, STORE, GIVEN)


def state_files(folder: Path) -> list[Path]:
    """The small files that are there."""
    return sorted(
        path
        for path in folder.iterdir()
        if path.suffix in SUFFIXES and path.name not in _OURS
    )


def is_state(name: str) -> bool:
    """Whether a file of this name could be one of them.

    >>> is_state("cursors.state"), is_state("../cursors.state"), is_state("store.json")
    (True, False, False)
    """
    path = Path(name)
    return path.name == name and path.suffix in SUFFIXES and name not in _OURS


def write_state(folder: Path, state: StateOf, files: Files) -> None:
    """Have a file be what it was elsewhere."""
    files.write_whole(folder / state.name, state.data, sync=True)


class States:
    """Which of the files the stream has not as they are now."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock
        # Of each file that the stream has: which one it was, when, and how long.
        self._kept: dict[str, tuple[int, int, int]] = {}
        # The same of those that are on their way.
        self._taken: dict[str, tuple[int, int, int]] = {}
        self._next = 0.0

    def have_all_kept(self) -> None:
        """The stream may have lost them: all of them are to be kept again."""
        self._kept.clear()

    def is_due(self) -> bool:
        """Whether something has changed, and it is time to have it kept."""
        return self._clock.elapsed() >= self._next and bool(self._changed())

    def take(self, *, at_once: bool) -> list[StateOf]:
        """What has changed, if it is time, or an answer waits for it.

        It is taken again unless :meth:`have_taken_kept` is called.
        """
        self._taken.clear()
        if not at_once and self._clock.elapsed() < self._next:
            return []
        found: list[StateOf] = []
        for path, mark in self._changed():
            try:
                # What is appended meanwhile changes the mark, and comes the next time.
                found.append(StateOf(path.name, path.read_bytes()))
            except FileNotFoundError:
                continue
            self._taken[path.name] = mark
        size = sum(len(state.data) for state in found)
        pause = max(STATE_SECONDS, size / STATE_BYTES_PER_SECOND)
        self._next = self._clock.elapsed() + pause
        return found

    def have_taken_kept(self) -> None:
        """The stream has what was taken last."""
        self._kept |= self._taken
        self._taken.clear()

    def _changed(self) -> list[tuple[Path, tuple[int, int, int]]]:
        found = []
        for path in state_files(self._folder):
            try:
                seen = path.stat()
            except FileNotFoundError:
                continue
            mark = (seen.st_ino, seen.st_mtime_ns, seen.st_size)
            if self._kept.get(path.name) != mark:
                found.append((path, mark))
        return found
