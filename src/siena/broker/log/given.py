"""Offsets that may have been given: none of them is given to something else.

Offsets are told (to readers, to neighbours) before the disk has what stands there.  A
loss of power takes that back, and not what was told.  So there is a file that says up
to where offsets may be given; it is on the disk before they are, and many at once are
allowed, so that this costs one sync for as many.  After a loss of power a log goes on
from there.

The file says as well whether the log was closed, and so is on the disk as it is; and in
which life of the machine it was written to: while that lasts, the system remembers what
a process wrote, however the process ended.
"""

from pathlib import Path

import msgspec
from msgspec import Struct

from siena.broker.log.files import Files
from siena.broker.log.limits import OFFSETS_ALLOWED
from siena.broker.log.state_file import checked, with_checksum
from siena.errors import SienaError

FILE = "given.json"


class GivenOffsets(Struct):
    """What the file has."""

    below: int = 0
    """From here on no offset was given to anything."""
    is_closed: bool = False
    """Whether all below was on the disk when nothing was written any more."""
    boot: str = ""


class Given:
    """Up to where a log may give offsets.

    Raises:
        SienaError: if the file is not what was written.
    """

    def __init__(self, folder: Path, files: Files) -> None:
        self._path = folder / FILE
        self._files = files
        self._value = GivenOffsets()
        if self._path.exists():
            try:
                line = checked(self._path.read_bytes())
                self._value = msgspec.json.decode(line, type=GivenOffsets)
            except (msgspec.MsgspecError, ValueError) as error:
                raise SienaError(
                    f"{self._path} is damaged: {error}",
                    hint="move it away; offsets that were lost may be given again then",
                ) from None

    @property
    def below(self) -> int:
        """No offset from here on was given."""
        return self._value.below

    def is_whole(self, latest: int) -> bool:
        """Whether a log that is found to come to an offset is on the disk as it is."""
        return self._value.is_closed and self.below == latest

    def are_missing(self, latest: int) -> bool:
        """Whether offsets behind that were given, and were on the disk."""
        return self._value.is_closed and self.below > latest

    def is_of_this_life(self) -> bool:
        """Whether the machine has not ended since."""
        return self._value.boot != "" and self._value.boot == self._files.boot()

    def allow(self, end: int) -> None:
        """Offsets before this one are about to be given.

        Raises:
            OSError: if the disk does not take that; then they must not be.
        """
        if end > self.below:
            self._write(end + OFFSETS_ALLOWED, is_closed=False)

    def begin(self, latest: int) -> None:
        """Records are about to be written again.

        Raises:
            OSError: if the disk does not take that; then they must not be.
        """
        self._write(max(latest + OFFSETS_ALLOWED, self.below), is_closed=False)

    def close(self, latest: int) -> None:
        """The disk has all, and nothing more is written.

        Raises:
            OSError: if the disk does not take that.
        """
        self._write(latest, is_closed=True)

    def _write(self, below: int, *, is_closed: bool) -> None:
        value = GivenOffsets(below, is_closed, self._files.boot())
        data = with_checksum(msgspec.json.encode(value))
        self._files.write_whole(self._path, data, sync=True)
        self._value = value
