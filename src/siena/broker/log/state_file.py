"""Small things that outlive the process: one value in a file, replaced as a whole."""

import os
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from siena.errors import SienaError

T = TypeVar("T")


class Kept(Generic[T]):
    """A value, and the file that has it; without a file it lives as long as we do.

    Args:
        sync: whether a value is on the disk once it is saved.
    """

    def __init__(
        self, path: Path | None, kind: type[T], default: T, *, sync: bool = False
    ) -> None:
        self._path = path
        self._sync = sync
        self.value = default
        if path is not None and path.exists():
            try:
                self.value = msgspec.json.decode(path.read_bytes(), type=kind)
            except msgspec.MsgspecError as error:
                raise SienaError(
                    f"{path} is damaged: {error}", hint="move it away to go on without"
                ) from None

    def save(self) -> None:
        """Write it: whatever happens, the file has this value or the one before.

        Whatever happens to the machine, too, if the value was to be synced.

        Raises:
            OSError: if the disk does not take it.
        """
        if self._path is None:
            return
        new = self._path.with_suffix(".new")
        with new.open("wb") as file:
            file.write(msgspec.json.encode(self.value))
            if self._sync:
                file.flush()
                os.fsync(file.fileno())
        new.replace(self._path)
        if self._sync:
            folder = os.open(self._path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
