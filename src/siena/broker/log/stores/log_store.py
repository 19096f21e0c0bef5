"""What a broker asks of where its log is kept: records by offset, and until when.

There are two such: ``Store`` of ``broker/log/store.py``, which is a folder, and
``RemoteStore`` of this room, which is a folder and a stream of others.
"""

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
import numpy.typing as npt

from siena.broker.log.records import Record


class LogStore(Protocol):
    """Records by offset; one broker writes, and others do not.

    What raises ``OSError`` can be tried again, but for :meth:`sync` and what
    :meth:`syncing` returns: what is kept is not known then.
    """

    @property
    def where(self) -> str:
        """What keeps it, as people are told."""
        ...

    @property
    def is_elsewhere(self) -> bool:
        """Whether it outlives the disk of this machine."""
        ...

    @property
    def earliest(self) -> int:
        """The first offset that there is, or should be."""
        ...

    @property
    def latest(self) -> int:
        """The offset behind the last."""
        ...

    @property
    def size(self) -> int:
        """How many bytes it has."""
        ...

    # --- Writing --------------------------------------------------------------------

    def append(
        self,
        blocks: bytes | memoryview,
        offsets: npt.NDArray[np.int64],
        time: int,
        tag: int = 0,
    ) -> None:
        """Write blocks that stand back to back; all, or raise and have none of them.

        They have the offsets from :attr:`latest` on, and outlive the process; they are
        kept once they were synced.
        """
        ...

    def skip_to(self, offset: int) -> None:
        """Give no offset before this one."""
        ...

    def write_anew(self) -> None:
        """Have the disk keep in fresh files what a failed sync leaves in doubt."""
        ...

    def sync(self) -> None:
        """Have everything kept that is written, now."""
        ...

    def syncing(self) -> Callable[[], None]:
        """The same, for another thread: what is written before this is called."""
        ...

    def leave_unsynced(self) -> None:
        """What is written now need not be kept."""
        ...

    def want_states(self) -> None:
        """Have the next sync keep the small files beside the log, too."""
        ...

    @property
    def has_more(self) -> bool:
        """Whether a sync would keep something, though no record was written."""
        ...

    # --- Reading, and giving up -----------------------------------------------------

    def scan(self, start: int, budget: int) -> Iterator[Record]:
        """Records from the one with an offset on, of about so many bytes together.

        Raises:
            DamagedLogError: if that is not what was written.
        """
        ...

    def last_bytes_from(self, size: int) -> int:
        """The first offset of the newest that have no more than so many bytes."""
        ...

    def make_room(self, floor: int, bytes_max: int, older_than: float | None) -> int:
        """Delete what is oldest and below an offset, if there is too much of it."""
        ...

    # --- The end --------------------------------------------------------------------

    def hurry(self) -> None:
        """Wait no longer than some seconds for anything, from now on."""
        ...

    def close(self) -> None:
        """Have everything kept, and let others have it."""
        ...

    def snapshot(self) -> dict[str, object]:
        """What there is to know of where it is kept, if that is elsewhere."""
        ...
