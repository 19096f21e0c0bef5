"""Factoring and delegation: which part of a pattern is looked for where.

A pattern is cut into *factors*, from left to right.  A run of steps that another
monitor of this broker looks for already is taken from it.  A run of steps all of which
one neighbour alone can provide is *delegated* to that neighbour, which looks for it as
a pattern of its own.  Every other step is a factor by itself, and subscribed to
wherever something is advertised that may match it.

Reference:
    CU-CS-888-99, section 5.2.6; our specification, B.11.
"""

from collections.abc import Callable, Collection
from typing import NamedTuple

from siena.messages import Interface
from siena.model import Pattern, Predicate

# A neighbour that a run may be delegated to.
Delegates = Callable[[Interface], bool]
Providers = Callable[[Predicate], frozenset[Interface]]


class Factor(NamedTuple):
    """A run of steps, and who looks for it.

    ``source`` is the monitor or the neighbour that hands over what it finds; it is
    ``None`` for a single step, which this broker matches itself.
    """

    steps: tuple[Predicate, ...]
    source: int | None = None

    @property
    def pattern(self) -> Pattern:
        """The run as a pattern of its own."""
        return Pattern(self.steps)


def factor(
    pattern: Pattern,
    monitored: dict[Pattern, int],
    providers: Providers,
    delegates: Delegates,
) -> tuple[Factor, ...]:
    """The factors of a pattern, in order.

    >>> from siena.lang.parser import parse_pattern as parse
    >>> pattern = parse("a any then b any then c any")
    >>> only_2 = lambda step: frozenset({2} if "c" not in str(step) else {2, 3})
    >>> [len(f.steps) for f in factor(pattern, {}, only_2, lambda hop: hop == 2)]
    [2, 1]
    """
    found: list[Factor] = []
    at = 0
    while at < len(pattern):
        taken = _monitored_run(pattern.steps[at:], monitored)
        if taken is None:
            taken = Factor((pattern.steps[at],))
        found.append(taken)
        at += len(taken.steps)
    return _grouped(found, providers, delegates)


def _monitored_run(
    steps: tuple[Predicate, ...], monitored: dict[Pattern, int]
) -> Factor | None:
    """The longest run from here that is looked for already; equal, not covered.

    A pattern that covers another finds other sequences: it is satisfied earlier, and
    starts over.
    """
    for length in range(len(steps), 1, -1):
        source = monitored.get(Pattern(steps[:length]))
        if source is not None:
            return Factor(steps[:length], source)
    return None


def _grouped(
    factors: Collection[Factor], providers: Providers, delegates: Delegates
) -> tuple[Factor, ...]:
    """Maximal runs of single steps with one and the same provider, delegated to it."""
    grouped: list[Factor] = []
    run: list[Predicate] = []
    provider: int | None = None

    def close() -> None:
        if len(run) > 1:
            grouped.append(Factor(tuple(run), provider))
        else:
            grouped.extend(Factor((step,)) for step in run)
        run.clear()

    for each in factors:
        only = None if each.source is not None else _only(each, providers, delegates)
        if only is None or only != provider:
            close()
        provider = only
        if only is None:
            grouped.append(each)
        else:
            run.extend(each.steps)
    close()
    return tuple(grouped)


def _only(each: Factor, providers: Providers, delegates: Delegates) -> int | None:
    """The one neighbour that can provide a step, if it is one."""
    found = providers(each.steps[0])
    if len(found) != 1:
        return None
    (hop,) = found
    return hop if isinstance(hop, int) and delegates(hop) else None
