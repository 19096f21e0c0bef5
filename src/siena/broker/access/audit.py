"""The audit log: who came, what was refused, and who changed what may be done.

One JSON object in a line, in a file that only its owner reads.  When it is full it is
put aside under another name, and the oldest goes.  Refusals of one principal are
written down a few times a second, with how many there were: a principal that is refused
often does not fill the disk.
"""

import json
import logging
import os
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from siena.clock import Clock, SystemClock

log = logging.getLogger("siena.broker")

# A file of it, and how many there are besides the one that is written.
AUDIT_BYTES = 16 * 1024 * 1024
AUDIT_FILES = 4
# Lines about one event and one identity in a second; the others are counted.
LINES_A_SECOND_MAX = 5
# Identities, with their events, that are counted; of more, together.
REMEMBERED_MAX = 4_096


class Audit:
    """Writes lines, if it was told where.

    Ownership: of the file, until :meth:`close`.

    Args:
        path: the file; without one nothing is written.
    """

    def __init__(
        self,
        path: Path | None = None,
        clock: Clock | None = None,
        *,
        bytes_max: int = AUDIT_BYTES,
        files: int = AUDIT_FILES,
    ) -> None:
        self._path = path
        self._clock = clock or SystemClock()
        self._bytes_max = bytes_max
        self._files = files
        self._file: IO[bytes] | None = None
        self._size = 0
        # Of each event and identity: the second, its lines, and what was left out.
        self._recent: dict[tuple[str, str | None], list[int]] = {}
        if path is not None:
            self._open(path)

    def write(self, event: str, identity: str | None, **details: object) -> None:
        """Write that something has happened; not too often."""
        if self._file is None:
            return
        left_out = self._left_out(event, identity)
        if left_out is None:
            return
        now = datetime.fromtimestamp(self._clock.now(), UTC)
        line = {
            "time": now.isoformat(timespec="milliseconds"),
            "event": event,
            "identity": identity,
            **details,
            **({"left_out": left_out} if left_out else {}),
        }
        self._append(json.dumps(line).encode() + b"\n")

    def close(self) -> None:
        """Write no more."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def _left_out(self, event: str, identity: str | None) -> int | None:
        """How many lines like this one were left out before; None if this one is."""
        key = event, identity
        second = int(self._clock.now())
        recent = self._recent.get(key)
        if recent is None:
            if len(self._recent) >= REMEMBERED_MAX:
                self._recent.clear()
            recent = self._recent[key] = [second, 0, 0]
        if recent[0] != second:
            recent[0], recent[1] = second, 0
        recent[1] += 1
        if recent[1] > LINES_A_SECOND_MAX:
            recent[2] += 1
            return None
        left_out, recent[2] = recent[2], 0
        return left_out

    def _append(self, line: bytes) -> None:
        assert self._path is not None
        try:
            if self._size + len(line) > self._bytes_max:
                self._rotate(self._path)
            assert self._file is not None
            self._file.write(line)
            self._size += len(line)
        except OSError as error:  # a full disk ends no service
            log.warning("the audit log cannot be written: %s", error)

    def _rotate(self, path: Path) -> None:
        self.close()
        for number in range(self._files - 1, -1, -1):
            older = path.with_name(f"{path.name}.{number + 1}")
            newer = path if number == 0 else path.with_name(f"{path.name}.{number}")
            with suppress(FileNotFoundError):
                newer.replace(older)
        self._open(path)

    def _open(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        number = os.open(path, flags, 0o600)
        if hasattr(os, "fchmod"):  # Windows has had it since Python 3.13
            os.fchmod(number, 0o600)
        self._file = os.fdopen(number, "ab", buffering=0)
        self._size = os.fstat(number).st_size
