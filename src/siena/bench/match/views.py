"""The engine, asked in other ways than on encoded notifications; it is built once."""

from concurrent.futures import ThreadPoolExecutor

from siena.bench.match.contenders import (
    EngineContender,
    InterfacesContender,
    MatchContender,
    Messages,
    Runner,
    parts,
    room,
    split,
)
from siena.bench.match.workload import Question
from siena.block import encode
from siena.matching.engine.engine import Engine
from siena.matching.input.buffers import encode_all

# What a thread matches before it waits for the others.
MESSAGES_AT_A_TIME = 50_000


class ManyInterfacesContender(InterfacesContender):
    """The table on bytes, for more interfaces than there are bits."""

    form = "bytes"

    def _engine(self, question: Question) -> Engine:
        self.interfaces = question.interfaces or 0
        return self.table.engine()

    def prepare(self, messages: Messages) -> Runner:
        """Encode blocks; match them batch by batch."""
        return InterfacesBytesContender(self).prepare(messages)

    def find(self, messages: Messages) -> list[list[int]]:
        """The interfaces that want each."""
        return InterfacesBytesContender(self).find(messages)


class View(MatchContender):
    """An engine that is built, asked in another way; it is not built twice."""

    def __init__(self, built: EngineContender) -> None:
        self.built = built
        self.build_seconds = built.build_seconds
        self.arena_bytes = built.arena_bytes
        self.vocabulary_bytes = built.vocabulary_bytes


class BytesContender(View):
    """The table on msgpack bytes that it reads itself: what a broker does."""

    name = "engine-bytes"
    form = "bytes"

    def prepare(self, messages: Messages) -> Runner:
        """Encode blocks; match them batch by batch."""
        batches = [encode_all(part) for part in parts(messages, self.built.batch)]
        match = self.built.table.match_buffer
        out = room(self.built.engine, (len(match(*b).filters) for b in batches))

        def run() -> int:
            for blocks, offsets in batches:
                match(blocks, offsets, out)
            return len(messages)

        return run

    def find(self, messages: Messages) -> list[list[int]]:
        """What matches each, from bytes."""
        return split(*self.built.table.match_buffer(*encode_all(messages)))


class InterfacesBytesContender(View):
    """The table on msgpack bytes; the interfaces that match are wanted."""

    name = "engine-bytes"
    form = "bytes"

    def prepare(self, messages: Messages) -> Runner:
        """Encode blocks; match them batch by batch."""
        batches = [encode_all(part) for part in parts(messages, self.built.batch)]
        match = self.built.table.match_interfaces

        def run() -> int:
            for blocks, offsets in batches:
                match(blocks, offsets)
            return len(messages)

        return run

    def find(self, messages: Messages) -> list[list[int]]:
        """The interfaces that want each."""
        return split(*self.built.table.match_interfaces(*encode_all(messages)))


class OneByOneContender(View):
    """The engine on one block after the other, ids into an array that is reused."""

    name = "engine-one"
    form = "bytes, one by one"

    def prepare(self, messages: Messages) -> Runner:
        """Encode each block on its own; match block after block."""
        blocks = [encode(message) for message in messages]
        match = self.built.engine.cursor().match

        def run() -> int:
            for block in blocks:
                match(block)
            return len(blocks)

        return run

    def find(self, messages: Messages) -> list[list[int]]:
        """What matches each, one by one."""
        cursor = self.built.engine.cursor()
        return [
            sorted(cursor.out[: cursor.match(encode(message))].tolist())
            for message in messages
        ]


class ThreadsContender(View):
    """Threads that match at the same time, on one table, each everything."""

    form = "bytes"
    in_threads = True

    def __init__(self, built: EngineContender, threads: int) -> None:
        super().__init__(built)
        self.threads = threads
        self.name = f"engine-{threads}-thread{'s' if threads > 1 else ''}"
        if isinstance(built, InterfacesContender):
            self._one: MatchContender = InterfacesBytesContender(built)
        else:
            self._one = BytesContender(built)

    def prepare(self, messages: Messages) -> Runner:
        """For each thread its own batches and its own array."""
        runners = [self._one.prepare(messages) for _ in range(self.threads)]
        pool = ThreadPoolExecutor(self.threads)
        # To wake a thread takes as long as some hundred messages.
        times = max(1, MESSAGES_AT_A_TIME // len(messages))

        def several(runner: Runner) -> int:
            return sum(runner() for _ in range(times))

        def run() -> int:
            return sum(pool.map(several, runners))

        return run

    def find(self, messages: Messages) -> list[list[int]]:
        """What matches each; all threads must find the same."""
        with ThreadPoolExecutor(self.threads) as pool:
            found = list(pool.map(self._one.find, [messages] * self.threads))
        assert all(part == found[0] for part in found), "threads disagree"
        return found[0]
