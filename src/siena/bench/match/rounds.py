"""How ``siena bench match`` measures: build, let all agree, then round after round."""

import gc
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from time import perf_counter, thread_time

from siena.bench.match.contenders import (
    TREE_FILTERS_MAX,
    CountingContender,
    EngineContender,
    InterfacesContender,
    MatchContender,
    Messages,
    Runner,
    reference,
    tree,
)
from siena.bench.match.views import (
    BytesContender,
    InterfacesBytesContender,
    ManyInterfacesContender,
    OneByOneContender,
    ThreadsContender,
)
from siena.bench.match.workload import Question
from siena.matching.table import MASK_BITS
from siena.model import Filter

# Messages on which all matchers must agree before anything is measured.
MESSAGES_VERIFIED = 50
# Parts into which the messages are cut, from those that match least to most.
PARTS = 4


@dataclass(frozen=True, slots=True)
class Part:
    """The messages that match about as much as each other, and how fast they go."""

    matches_per_message: float
    messages_per_second: float


@dataclass(frozen=True, slots=True)
class Run:
    """One matcher at one size: the median of the rounds, and their spread."""

    workload: str
    matcher: str
    form: str
    threads: int
    filters: int
    names: int
    distribution: str
    interfaces: str | int
    constraints_min: int
    batch: int
    messages: int
    messages_per_second: float
    slowest: float
    fastest: float
    matches_per_message: float
    bytes_per_filter: float | None
    vocabulary_bytes: int | None
    build_seconds: float
    by_matches: list[Part]


class Progress:
    """What is being done, for a terminal."""

    def __init__(self) -> None:
        self._shows = sys.stderr.isatty()

    def say(self, what: str) -> None:
        """Put this in the place of what was said before."""
        if self._shows:
            print(f"\r\x1b[K{what}", end="", file=sys.stderr, flush=True)


def measure(
    question: Question,
    size: int,
    messages: Messages,
    *,
    rounds: int,
    seconds: float,
    threads: Sequence[int],
    progress: Progress,
) -> list[Run]:
    """Every matcher that applies, at one size; nothing of it stays in memory.

    Raises:
        AssertionError: if two of them disagree.
    """
    say = _saying(progress, f"{size:,} filters: ")
    say("drawing them")
    filters = question.filters(size)
    engine, *others = build(question, filters, threads, say)
    assert isinstance(engine, EngineContender)
    contenders = [engine, *others]
    say("verifying that all agree")
    verify(contenders, messages)
    counts = engine.count(messages)
    say("preparing messages")
    asked = [contender.asked(messages) for contender in contenders]
    runners = [c.prepare(part) for c, part in zip(contenders, asked, strict=True)]
    gc.collect()
    rates: list[list[float]] = [[] for _ in contenders]
    for number in range(rounds):
        for contender, runner, found in zip(contenders, runners, rates, strict=True):
            say(f"round {number + 1} of {rounds}, {contender.name}")
            found.append(_rate(runner, seconds, _clock(contender)))
    say("messages that match little, and much")
    by_matches = _by_matches(
        contenders, messages, counts, rounds=rounds, seconds=seconds
    )
    return [
        Run(
            workload=question.workload,
            matcher=contender.name,
            form=contender.form,
            threads=contender.threads,
            filters=size,
            names=question.name_count,
            distribution=question.distribution,
            interfaces=question.interfaces or "all",
            constraints_min=question.constraints_min,
            batch=question.batch,
            messages=len(part),
            messages_per_second=statistics.median(found),
            slowest=min(found),
            fastest=max(found),
            matches_per_message=statistics.fmean(counts[: len(part)]),
            bytes_per_filter=_share(contender.arena_bytes, size),
            vocabulary_bytes=contender.vocabulary_bytes,
            build_seconds=contender.build_seconds,
            by_matches=by_matches.get(contender.name, []),
        )
        for contender, part, found in zip(contenders, asked, rates, strict=True)
    ]


def build(
    question: Question,
    filters: Sequence[Filter],
    threads: Sequence[int],
    say: Callable[[str], None],
) -> list[MatchContender]:
    """All that apply, the engine first."""
    say("building the engine")
    contenders: list[MatchContender] = []
    if question.interfaces is None:
        engine = EngineContender(question, filters)
        contenders += [engine, BytesContender(engine), OneByOneContender(engine)]
    elif min(question.interfaces, len(filters)) <= MASK_BITS:
        engine = InterfacesContender(question, filters)
        contenders += [engine, InterfacesBytesContender(engine)]
    else:
        engine = ManyInterfacesContender(question, filters)
        contenders += [engine]
    contenders += [ThreadsContender(engine, count) for count in threads]
    say("building counting")
    contenders.append(CountingContender(question, filters))
    if why_no_tree(len(filters)) is None:
        say("building the tree")
        contenders.append(tree(question, filters))
    contenders.append(reference(question, filters))
    return contenders


def why_no_tree(size: int) -> str | None:
    """Why the tree is left out at a size, if it is.

    >>> why_no_tree(1_000_000)
    'tree: only up to 10,000 filters, because these test many different names'
    """
    if size <= TREE_FILTERS_MAX:
        return None
    return (
        f"tree: only up to {TREE_FILTERS_MAX:,} filters, because these test many "
        f"different names"
    )


def verify(contenders: Sequence[MatchContender], messages: Messages) -> None:
    """Make sure that all agree on the first messages.

    Raises:
        AssertionError: if they do not, with the message about which they disagree.
    """
    first, *others = contenders
    sample = messages[:MESSAGES_VERIFIED]
    expected = first.find(sample)
    for other in others:
        asked = other.asked(sample)
        for message, want, found in zip(
            asked, expected[: len(asked)], other.find(asked), strict=True
        ):
            if want != found:
                raise AssertionError(
                    f"{first.name} and {other.name} disagree about {message}: "
                    f"{len(want)} and {len(found)} matches"
                )


def _by_matches(
    contenders: Sequence[MatchContender],
    messages: Messages,
    counts: Sequence[int],
    *,
    rounds: int,
    seconds: float,
) -> dict[str, list[Part]]:
    """Of engine and counting, how time falls as fewer match."""
    if len(messages) < PARTS:
        return {}
    order = sorted(range(len(messages)), key=counts.__getitem__)
    ends = [len(order) * part // PARTS for part in range(PARTS + 1)]
    pieces = [order[a:b] for a, b in pairwise(ends)]
    compared = [c for c in contenders if c.name in {"engine", "counting"}]
    result: dict[str, list[Part]] = {c.name: [] for c in compared}
    for piece in pieces:
        runners = [c.prepare([messages[i] for i in piece]) for c in compared]
        rates = [
            [_rate(runner, seconds, thread_time) for runner in runners]
            for _ in range(rounds)
        ]
        matches = statistics.fmean(counts[i] for i in piece)
        for contender, found in zip(compared, zip(*rates, strict=True), strict=True):
            result[contender.name].append(Part(matches, statistics.median(found)))
    return result


def _rate(runner: Runner, seconds: float, clock: Callable[[], float]) -> float:
    """Messages per second of the clock; again and again until time is up."""
    start = clock()
    count = 0
    while True:
        count += runner()
        elapsed = clock() - start
        if elapsed >= seconds:
            return count / elapsed


def _clock(contender: MatchContender) -> Callable[[], float]:
    """What one thread does is timed by its own CPU: machines are shared and noisy."""
    return perf_counter if contender.in_threads else thread_time


def _share(total: int | None, count: int) -> float | None:
    return None if total is None else total / count


def _saying(progress: Progress, before: str) -> Callable[[str], None]:
    return lambda what: progress.say(before + what)
