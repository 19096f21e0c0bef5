"""Runs: publications in a row stay together, to be matched in one call."""

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Op

Other = TypeVar("Other")


@dataclass(frozen=True, slots=True, eq=False)
class Publications:
    """Notifications that were published one right after the other, back to back.

    Block ``i`` is ``blocks[offsets[i] : offsets[i + 1]]``.  None of them was looked at.
    """

    blocks: bytes
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1


class Gathering(Generic[Other]):
    """Events in order, with publications that follow each other in one of them.

    >>> found = Gathering[str](block_bytes=100)
    >>> for block in (b"a", b"bc"):
    ...     found.publish(block)
    >>> found.add("something else")
    >>> run, other = found.events()
    >>> run.blocks, run.offsets.tolist(), other
    (b'abc', [0, 1, 3], 'something else')
    """

    def __init__(self, block_bytes: int) -> None:
        self._block_bytes = block_bytes
        self._events: list[Publications | ProtocolError | Other] = []
        self._run: list[bytes] = []

    def publish(self, block: bytes) -> None:
        """A block came; one that is too long is a mistake among the events."""
        if len(block) > self._block_bytes:
            self.add(too_long(block, self._block_bytes, Op.PUB))
        else:
            self._run.append(block)

    def add(self, event: ProtocolError | Other) -> None:
        """Something else came."""
        self._end_run()
        self._events.append(event)

    def events(self) -> list[Publications | ProtocolError | Other]:
        """All that came."""
        self._end_run()
        return self._events

    def _end_run(self) -> None:
        if self._run:
            offsets = np.zeros(len(self._run) + 1, np.int64)
            np.cumsum([len(block) for block in self._run], out=offsets[1:])
            self._events.append(Publications(b"".join(self._run), offsets))
            self._run.clear()


def too_long(block: bytes, limit: int, op: int) -> ProtocolError:
    """What is said of a block that is longer than a limit."""
    return ProtocolError(
        Fault.BAD_NOTIFICATION,
        f"a notification of {len(block)} bytes; at most {limit} are allowed",
        request=op,
    )
