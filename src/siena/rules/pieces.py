"""Work on a large set in pieces, which others may share.

Rules are read, and compared with others, independently of each other.  So the work is
a *task* and pieces for it, and the caller may say how they are shared; this room starts
no processes itself.  What comes out does not depend on it.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

P = TypeVar("P")

# Rules in one piece: some tenths of a second.
RULES_PER_PIECE = 16


class Share(Protocol):
    """Does a task on pieces, and has the results in the order of the pieces.

    Task, pieces and results can be sent to other processes.
    """

    def __call__(
        self, task: Callable[[Any], Any], pieces: Sequence[Any], /
    ) -> Iterator[Any]:
        """The results, as they come."""


def pieces_of(items: Sequence[P]) -> list[Sequence[P]]:
    """The items in pieces, in their order."""
    step = RULES_PER_PIECE
    return [items[i : i + step] for i in range(0, len(items), step)]
