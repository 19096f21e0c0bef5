"""The matchers that ``siena bench match`` measures, each in the forms it can take.

A contender is built once, with its build timed.  Then it *prepares* notifications in
its own form and gives back what is timed: a function that matches all of them once.
Engine and counting get notifications encoded beforehand, with the same head start:
names and strings have been found in what each of them knows.  Where a value stands
among the operands is for both a part of matching.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter

import numpy as np
import numpy.typing as npt

from siena.bench.match.workload import Question
from siena.errors import SienaError
from siena.matching.engine.engine import MATCHES_AT_FIRST, Encoded, Engine
from siena.matching.input.buffers import encode_all
from siena.matching.kernels.join import spread
from siena.matching.matcher import Matcher
from siena.matching.reference import ReferenceMatcher
from siena.matching.table import ForwardingTable
from siena.model import Filter, Notification
from siena.research.matchers.counting import CountingMatcher
from siena.research.matchers.tree import TreeMatcher

Ints = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.int32] | npt.NDArray[np.int64]
Messages = Sequence[Notification]
# Matches everything that was prepared, once; how many notifications that were.
Runner = Callable[[], int]

# Matchers in Python get so many notifications that these times the filters are this.
PYTHON_WORK = 2_000_000
# Where every filter tests other names, the tree has a node for each of them.
TREE_FILTERS_MAX = 10_000


class MatchContender(ABC):
    """A matcher that is built, in one form."""

    name: str
    form: str
    threads: int = 1
    # Whether others do the work than the thread that asks for it.
    in_threads: bool = False
    build_seconds: float
    # What grows with the filters, and names and vocabulary; None if it is objects.
    arena_bytes: int | None = None
    vocabulary_bytes: int | None = None

    def asked(self, messages: Messages) -> Messages:
        """Those that it can be asked about in reasonable time."""
        return messages

    @abstractmethod
    def prepare(self, messages: Messages) -> Runner:
        """Encode notifications; what matches them."""

    @abstractmethod
    def find(self, messages: Messages) -> list[list[int]]:
        """What matches each, in ascending order, found in the way that is timed."""


class EngineContender(MatchContender):
    """The engine, on what it has read beforehand; all matching filters are wanted."""

    name = "engine"
    form = "encoded"

    def __init__(self, question: Question, filters: Sequence[Filter]) -> None:
        start = perf_counter()
        self.table = ForwardingTable()
        for number, f in enumerate(filters):
            self.table.add(question.interface(number), f)
        self.table.consolidate()
        self.engine = self._engine(question)
        self.build_seconds = perf_counter() - start
        self.batch = question.batch
        self.arena_bytes = self.engine.nbytes
        self.vocabulary_bytes = self.engine.vocabulary_nbytes

    def _engine(self, question: Question) -> Engine:
        assert question.interfaces is None
        return self.table.engine()

    def count(self, messages: Messages) -> list[int]:
        """How much matches each; no more than a batch of it is kept."""
        match = self.table.match_buffer
        batches = (encode_all(part) for part in parts(messages, self.batch))
        return [n for batch in batches for n in match(*batch).counts.tolist()]

    def prepare(self, messages: Messages) -> Runner:
        """Encode notifications; match them batch by batch."""
        batches = self._encode(messages).batches(self.batch)
        match = self.engine.match_encoded
        out = room(self.engine, (len(match(batch).filters) for batch in batches))

        def run() -> int:
            for batch in batches:
                match(batch, out)
            return len(messages)

        return run

    def find(self, messages: Messages) -> list[list[int]]:
        """What matches each, of encoded notifications."""
        return split(*self.engine.match_encoded(self._encode(messages)))

    def _encode(self, messages: Messages) -> Encoded:
        try:
            return self.engine.encode(messages)
        except ValueError:
            raise SienaError(
                "the engine cannot remember so many values beforehand",
                hint="take fewer --messages",
            ) from None


class InterfacesContender(EngineContender):
    """The engine in which interfaces are bits, encoded; they are wanted as numbers."""

    def _engine(self, question: Question) -> Engine:
        assert question.interfaces is not None
        self.interfaces = min(question.interfaces, len(self.table))
        return self.table.engine(as_masks=True)

    def count(self, messages: Messages) -> list[int]:
        """How many interfaces want each."""
        match = self.table.match_interfaces
        batches = (encode_all(part) for part in parts(messages, self.batch))
        return [n for batch in batches for n in match(*batch).counts.tolist()]

    def prepare(self, messages: Messages) -> Runner:
        """Encode notifications; match them batch by batch."""
        batches = self._encode(messages).batches(self.batch)
        out, counts = self._room(min(self.batch, len(messages)))

        def run() -> int:
            for batch in batches:
                self._match(batch, out, counts)
            return len(messages)

        return run

    def find(self, messages: Messages) -> list[list[int]]:
        """The interfaces that want each."""
        out, counts = self._room(len(messages))
        found = self._match(self._encode(messages), out, counts)
        return split(counts, out[:found])

    def _match(self, batch: Encoded, out: Ints, counts: Ints) -> int:
        masks = self.engine.match_encoded_masks(batch, (1 << self.interfaces) - 1)
        good = np.zeros(len(masks), np.int32)
        return int(spread(masks, good, self.interfaces, out, counts[: len(masks)]))

    def _room(self, batch: int) -> tuple[Ints, Ints]:
        out = np.empty(batch * self.interfaces + 1, np.int32)
        return out, np.empty(batch, np.int32)


class CountingContender(MatchContender):
    """The algorithm of SIGCOMM 2003, on notifications encoded for its table."""

    name = "counting"
    form = "encoded"

    def __init__(self, question: Question, filters: Sequence[Filter]) -> None:
        self.batch = question.batch
        self.by_interface = question.interfaces is not None
        start = perf_counter()
        self.matcher = CountingMatcher()
        for number, f in enumerate(filters):
            self.matcher.add(question.interface(number), f)
        self._match(())  # the index is made by the first match
        self.build_seconds = perf_counter() - start
        self.arena_bytes = self.matcher.sizes.bytes

    def prepare(self, messages: Messages) -> Runner:
        """Encode notifications; match them batch by batch."""
        matcher = self.matcher
        batches = [matcher.encode(part) for part in parts(messages, self.batch)]

        def run_interfaces() -> int:
            for batch in batches:
                matcher.match_interfaces(batch)
            return len(messages)

        if self.by_interface:
            return run_interfaces
        largest = max(len(matcher.match_encoded(batch)[1]) for batch in batches)
        out = np.empty(len(matcher) + largest + MATCHES_AT_FIRST, np.int32)

        def run() -> int:
            for batch in batches:
                matcher.match_encoded(batch, out)
            return len(messages)

        return run

    def find(self, messages: Messages) -> list[list[int]]:
        """What matches each."""
        offsets, numbers = self._match(messages)
        return split(np.diff(offsets), numbers)

    def _match(self, messages: Messages) -> tuple[Numbers, Numbers]:
        batch = self.matcher.encode(messages)
        if self.by_interface:
            return self.matcher.match_interfaces(batch)
        return self.matcher.match_encoded(batch)


class PythonContender(MatchContender):
    """A matcher in plain Python, asked about objects."""

    form = "objects"

    def __init__(
        self, name: str, matcher: Matcher, question: Question, filters: Sequence[Filter]
    ) -> None:
        self.name = name
        start = perf_counter()
        for number, f in enumerate(filters):
            matcher.add(question.interface(number), f)
        if isinstance(matcher, TreeMatcher):
            matcher.match_filters({})  # the tree is planted by the first match
        self.build_seconds = perf_counter() - start
        self.limit = max(2, PYTHON_WORK // len(filters))
        self._match: Callable[[Notification], Sequence[int] | frozenset[int]] = (
            matcher.match_filters if question.interfaces is None else matcher.match
        )

    def asked(self, messages: Messages) -> Messages:
        """Fewer, the more filters there are."""
        return messages[: self.limit]

    def prepare(self, messages: Messages) -> Runner:
        """Nothing to encode: matches one after the other."""

        def run() -> int:
            for message in messages:
                self._match(message)
            return len(messages)

        return run

    def find(self, messages: Messages) -> list[list[int]]:
        """What matches each."""
        return [sorted(self._match(message)) for message in messages]


def reference(question: Question, filters: Sequence[Filter]) -> MatchContender:
    """The loop."""
    return PythonContender("reference", ReferenceMatcher(), question, filters)


def tree(question: Question, filters: Sequence[Filter]) -> MatchContender:
    """Gryphon's search tree."""
    return PythonContender("tree", TreeMatcher(), question, filters)


def parts(messages: Messages, size: int) -> Iterator[Messages]:
    """The notifications, so many at a time."""
    for first in range(0, len(messages), size):
        yield messages[first : first + size]


def room(engine: Engine, found: Iterator[int]) -> Ints:
    """An array that is long enough for the largest batch."""
    return np.empty(engine.filters + max(found) + MATCHES_AT_FIRST, np.int32)


def split(counts: Numbers, found: Numbers) -> list[list[int]]:
    """What stands back to back, apart and each part in ascending order."""
    ends = np.cumsum(counts)
    return [sorted(part.tolist()) for part in np.split(found, ends[:-1])]
