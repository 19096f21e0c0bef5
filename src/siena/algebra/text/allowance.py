"""How much a search for a string may cost, by who asks.

A broker relates every filter that comes to others, on its one processor: what a filter
of some hundred characters can cost it is bounded closely.  Who asks a question and
waits for the answer may have more.  Beyond either the answer is "not shown", which is
safe for both: a filter is told to a neighbour that need not have it.
"""

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import NamedTuple, ParamSpec, TypeVar

# The steps of one search: each is a character that is tried, for up to 64 places that
# the patterns have together.  Some tenths of a second, and some hundredths.
SEARCH_STEPS_MAX = 200_000
ROUTING_STEPS_MAX = 20_000

P = ParamSpec("P")
T = TypeVar("T")


class Allowance(NamedTuple):
    """The name of a limit, and the limit."""

    limit: str
    steps: int


_ROUTING = Allowance("ROUTING_STEPS_MAX", ROUTING_STEPS_MAX)
_ASKED = Allowance("SEARCH_STEPS_MAX", SEARCH_STEPS_MAX)
_allowed: ContextVar[Allowance] = ContextVar("allowed", default=_ROUTING)


def allowed() -> Allowance:
    """What a search may cost here."""
    return _allowed.get()


def asked(answer: Callable[P, T]) -> Callable[P, T]:
    """A function whose caller waits for the answer, and wants to know.

    >>> asked(allowed)().limit, allowed().limit
    ('SEARCH_STEPS_MAX', 'ROUTING_STEPS_MAX')
    """

    @wraps(answer)
    def answered(*args: P.args, **kwargs: P.kwargs) -> T:
        before = _allowed.set(_ASKED)
        try:
            return answer(*args, **kwargs)
        finally:
            _allowed.reset(before)

    return answered
