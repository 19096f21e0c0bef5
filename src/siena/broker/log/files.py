"""The file layer: all that a log does to its disk goes through here.

So a test can write down what was done, in which order, and think of every state in
which a loss of power could leave the disk (``tests/support/broker/crashes.py``).  What
counts there: what was written is on the disk once its file was synced, and not before;
a name of a file, once its folder was.
"""

import errno
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from siena.errors import SienaError

try:
    import fcntl as _fcntl
except ImportError:  # Windows, where no log is kept
    _fcntl = None  # type: ignore[assignment]

# What macOS has for it; and what a file system says that does not know it.
_FULLY: int | None = getattr(_fcntl, "F_FULLFSYNC", None)
_UNKNOWN = frozenset({errno.ENOTSUP, errno.EINVAL, errno.ENOTTY, errno.ENODEV})

# By which a folder says that a process writes to it.
LOCK = "lock"

Pieces = Sequence[bytes | memoryview]


class Files:
    """The files of the system.  Each method raises ``OSError`` if it cannot be done."""

    def open_for_append(self, path: Path) -> int:
        """The descriptor of a file that is written to at its end; made if missing."""
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0)
        return os.open(path, flags, 0o600)

    def write(self, descriptor: int, pieces: Pieces) -> None:
        """Write all pieces, with one call as a rule."""
        size = sum(map(len, pieces))
        written = os.writev(descriptor, pieces)
        if written < size:  # the disk is almost full, or a signal came
            rest = memoryview(b"".join(pieces))
            while written < size:
                written += os.write(descriptor, rest[written:])

    def truncate(self, descriptor: int, size: int) -> None:
        """Cut a file off."""
        os.ftruncate(descriptor, size)

    def sync(self, descriptor: int) -> None:
        """Have the disk keep what a file has, or which names a folder has."""
        sync_fully(descriptor)

    def duplicate(self, descriptor: int) -> int:
        """Another descriptor of the same file."""
        return os.dup(descriptor)

    def open_folder(self, folder: Path) -> int:
        """The descriptor of a folder, to sync it."""
        return os.open(folder, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))

    def close(self, descriptor: int) -> None:
        """Have no more to do with it."""
        os.close(descriptor)

    def rename(self, old: Path, new: Path) -> None:
        """Give a file the name of another, which is gone then."""
        old.replace(new)

    def delete(self, path: Path) -> None:
        """Delete a file, if it is there."""
        path.unlink(missing_ok=True)

    def free_bytes(self, folder: Path) -> int:
        """How many bytes more the disk of a folder takes, about."""
        return shutil.disk_usage(folder).free

    def boot(self) -> str:
        """Which life of the machine this is; nothing if that is not known."""
        try:
            return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
        except OSError:
            return ""

    # --- Made of these --------------------------------------------------------------

    def sync_folder(self, folder: Path) -> None:
        """Have the disk keep which names a folder has."""
        descriptor = self.open_folder(folder)
        try:
            self.sync(descriptor)
        finally:
            self.close(descriptor)

    def write_whole(self, path: Path, data: bytes, *, sync: bool) -> None:
        """A file has these bytes, or what it had before, whatever happens meanwhile.

        Also if the machine ends, with ``sync``; then it is on the disk afterwards.
        Without, a loss of power may leave the name with anything: only for what is a
        help, and is made again if it is wrong.
        """
        new = path.with_name(f"{path.name}.new")
        self.delete(new)
        descriptor = self.open_for_append(new)
        try:
            self.write(descriptor, [data])
            if sync:
                self.sync(descriptor)
        except BaseException:  # half of it only takes room
            self.close(descriptor)
            self.delete(new)
            raise
        self.close(descriptor)
        self.rename(new, path)
        if sync:
            self.sync_folder(path.parent)


def sync_fully(descriptor: int) -> None:
    """Have the disk keep what a file has, and not only its cache.

    On macOS ``fsync`` leaves it in the cache of the disk, which a loss of power
    empties; another call does not, where the file system knows it.

    Raises:
        OSError: if the disk does not keep it.
    """
    if _FULLY is not None:
        try:
            _fcntl.fcntl(descriptor, _FULLY)
        except OSError as error:
            if error.errno not in _UNKNOWN:
                raise
        else:
            return
    os.fsync(descriptor)


SYSTEM = Files()


def locked(folder: Path) -> IO[bytes]:
    """A file that no other process has locked, as long as it is open.

    Raises:
        SienaError: if one has; or on a system whose files are not those of POSIX.
    """
    try:
        import fcntl  # noqa: PLC0415 -- not on Windows
    except ImportError:
        hint = "a log is kept on Linux and macOS; without --log a broker runs here, too"
        raise SienaError(
            "this system cannot lock the files of a log", hint=hint
        ) from None
    file = (folder / LOCK).open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise SienaError(
            f"{folder} is the log of another broker that runs",
            hint="each broker has a folder of its own",
        ) from None
    return file
