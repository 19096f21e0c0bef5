"""Many texts of filters, read in several processes.

The others are Pythons of their own that run this file: they are handed chunks of texts
through a pipe, and hand back arrays.  They are not made by :mod:`multiprocessing`: to
copy a process that may have a Java machine and threads is not safe, and to start one
anew would run the user's script once more.  For their sake nothing here needs Spark.
"""

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue

import numpy as np

from siena.matching.input.filter_texts import ReadTexts, read_chunk
from siena.matching.pieces import join_pieces, make_piece

# Texts that are handed out at once.
CHUNK_TEXTS = 10_000
# Texts that are worth a process: it takes longer to start than to read a few.
PROCESS_TEXTS_MIN = 30_000
PROCESSES_MAX = 32


def read_texts(
    texts: Sequence[str | None],
    *,
    processes: int | None = None,
    report: Callable[[int], None] | None = None,
) -> ReadTexts:
    """The same as :func:`~siena.matching.input.filter_texts.read_chunk`, of many texts.

    Args:
        texts: of filters and predicates.
        processes: how many to start; if not given, as many as pay.  With fewer than
            two everything is read here.
        report: called now and then with the number of texts that are done.
    """
    if processes is None:
        worth = len(texts) // PROCESS_TEXTS_MIN
        processes = min(_cores(), PROCESSES_MAX, worth)
    chunks = [texts[i : i + CHUNK_TEXTS] for i in range(0, len(texts), CHUNK_TEXTS)]
    if processes < 2 or not Path(__file__).is_file():
        found = [read_chunk(chunk) for chunk in _reported(chunks, report)]
    else:
        found = _read_elsewhere(chunks, min(processes, len(chunks)), report)
    starts = range(0, len(texts), CHUNK_TEXTS)
    good = [part.good + start for part, start in zip(found, starts, strict=True)]
    return ReadTexts(
        join_pieces([part.piece for part in found] or [make_piece([])]),
        np.concatenate([np.empty(0, np.int32), *good]).astype(np.int32),
    )


def serve() -> None:
    """What another process does: chunks come in, and what was read goes out."""
    # Ctrl-C is for the one who started us, and who ends us then.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        try:
            texts = pickle.load(sys.stdin.buffer)  # noqa: S301 -- from whoever started us
        except EOFError:
            return
        pickle.dump(read_chunk(texts), sys.stdout.buffer, pickle.HIGHEST_PROTOCOL)
        sys.stdout.buffer.flush()


def _cores() -> int:
    # Fewer than the machine has, if that is all we may use; only Linux says so.
    mine = getattr(os, "sched_getaffinity", None)
    return len(mine(0)) if mine is not None else os.cpu_count() or 1


def _reported(
    chunks: list[Sequence[str | None]], report: Callable[[int], None] | None
) -> Iterator[Sequence[str | None]]:
    done = 0
    for chunk in chunks:
        yield chunk
        done += len(chunk)
        if report is not None:
            report(done)


def _read_elsewhere(
    chunks: list[Sequence[str | None]],
    processes: int,
    report: Callable[[int], None] | None,
) -> list[ReadTexts]:
    """A thread for each process, which hands it one chunk after the other."""
    with _processes(processes) as started, ThreadPoolExecutor(processes) as threads:
        idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        for process in started:
            idle.put(process)

        def read(chunk: Sequence[str | None]) -> ReadTexts:
            process = idle.get()
            try:
                return _ask(process, chunk)
            except (OSError, EOFError, pickle.UnpicklingError):
                return read_chunk(chunk)  # it has died; what it was given is not lost
            finally:
                idle.put(process)

        found: list[ReadTexts] = []
        for part, _ in zip(
            threads.map(read, chunks), _reported(chunks, report), strict=True
        ):
            found.append(part)
        return found


def _ask(process: "subprocess.Popen[bytes]", texts: Sequence[str | None]) -> ReadTexts:
    assert process.stdin is not None
    assert process.stdout is not None
    pickle.dump(list(texts), process.stdin, pickle.HIGHEST_PROTOCOL)
    process.stdin.flush()
    found = pickle.load(process.stdout)  # noqa: S301 -- of a process of our own
    assert isinstance(found, ReadTexts)
    return found


@contextmanager
def _processes(count: int) -> "Iterator[list[subprocess.Popen[bytes]]]":
    """Processes that :func:`serve`, until we are done with them."""
    # Where modules are found here they are found there.
    path = os.pathsep.join(part for part in sys.path if part)
    started: list[subprocess.Popen[bytes]] = []
    try:
        while len(started) < count:
            process = subprocess.Popen(  # noqa: S603 -- our own Python and code
                [sys.executable, "-P", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": path},
            )
            started.append(process)
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


if __name__ == "__main__":
    serve()
