"""Who covers whom in a whole set, one rule after the other or side by side.

Filters of the set are named by their numbers on the way between processes: both sides
have them.
"""

import io
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

from siena.model import Filter
from siena.rules.pieces import Share, pieces_of
from siena.rules.review.covers import RuleCovers, find_covers
from siena.rules.review.index import RuleIndex


def all_covers(index: RuleIndex, share: Share | None = None) -> Iterator[RuleCovers]:
    """What is known about each rule of an index, in their order."""
    numbers = range(len(index.rules))
    if share is None:
        for number in numbers:
            yield find_covers(index, number)
        return
    index.prepare()
    task = _CoversOfPiece(index)
    for data in share(task, pieces_of(numbers)):
        yield from _Unpickler(data, index).load()


class _CoversOfPiece:
    """The task of a worker: rules by number, and what is known about them."""

    def __init__(self, index: RuleIndex) -> None:
        self.index = index

    def __call__(self, numbers: Sequence[int]) -> bytes:
        stream = io.BytesIO()
        found = [find_covers(self.index, number) for number in numbers]
        _Pickler(stream, self.index).dump(found)
        return stream.getvalue()


class _Pickler(pickle.Pickler):
    def __init__(self, stream: io.BytesIO, index: RuleIndex) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self._index = index

    def persistent_id(self, obj: Any) -> int | None:  # noqa: ANN401 -- as pickle has it
        return self._index.label_of(obj) if type(obj) is Filter else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, data: bytes, index: RuleIndex) -> None:
        super().__init__(io.BytesIO(data))
        self._index = index

    def persistent_load(self, pid: int) -> Filter:
        return self._index.filter_at(pid)
