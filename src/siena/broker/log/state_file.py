"""Small things that outlive the process: one value in a file, replaced as a whole.

The value is a line of JSON; a second line has its checksum.  A file of one line, as
older versions wrote it, is read as well.
"""

import zlib
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from siena.broker.log.files import SYSTEM, Files
from siena.errors import SienaError

T = TypeVar("T")


class StateFile(Generic[T]):
    """A value, and the file that has it; without a file it lives as long as we do.

    Raises:
        SienaError: if the file is not what was written.
    """

    def __init__(
        self,
        path: Path | None,
        kind: type[T],
        default: T,
        *,
        files: Files = SYSTEM,
    ) -> None:
        self._path = path
        self._files = files
        self.value = default
        if path is not None and path.exists():
            try:
                self.value = msgspec.json.decode(checked(path.read_bytes()), type=kind)
            except (msgspec.MsgspecError, ValueError) as error:
                raise SienaError(
                    f"{path} is damaged: {error}", hint="move it away to go on without"
                ) from None

    def save(self) -> None:
        """Write it: whatever happens, the file has this value or the one before.

        It is on the disk afterwards, however the log is synced: a name that is there
        before its bytes would be one of a file that is damaged.

        Raises:
            OSError: if the disk does not take it.
        """
        if self._path is not None:
            data = with_checksum(msgspec.json.encode(self.value))
            self._files.write_whole(self._path, data, sync=True)


def with_checksum(line: bytes) -> bytes:
    r"""A line, and one with its checksum.

    >>> with_checksum(b"{}")
    b'{}\n#a3a6bf43\n'
    """
    return line + b"\n#%08x\n" % zlib.crc32(line)


def checked(data: bytes) -> bytes:
    """The line before its checksum.

    Raises:
        ValueError: if the checksum is another.
    """
    line, mark, rest = data.partition(b"\n")
    if mark and with_checksum(line) != data:
        found = rest[:9].decode(errors="replace")
        raise ValueError(f"its checksum is not {found}")
    return line
