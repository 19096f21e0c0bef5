"""Interests by shape: what it costs to compare them depends on how they look."""

import random
from collections.abc import Callable, Iterator
from enum import StrEnum
from itertools import count, islice

from siena.sim.workload import TR0605

SYMBOLS = 1_000
PRICE_MAX = 1_000


class Shape(StrEnum):
    """How an interest looks."""

    POINTS = "points"
    W = "w"
    BANDS = "bands"
    PREFIXES = "prefixes"
    USERS = "users"
    BOXES = "boxes"
    SUFFIXES = "suffixes"
    SUBSTRINGS = "substrings"
    UNEQUAL = "unequal"
    MIXTURE = "mixture"


def texts(shape: Shape, number: int, seed: int) -> Iterator[str]:
    """So many interests of a shape, the same for a seed.

    >>> for shape in Shape:
    ...     print(next(texts(shape, 1, seed=1)))
    id = u0
    s123 != telephone and s67 = peace
    symbol = S627 and price > 730 and price < 802
    path >* "/36/36/2/7/"
    user = u0 and amount > 146
    x > 824 and x < 838 and y > 219 and y < 272
    path *< "/24/91/"
    path * "/40/91/77/21/"
    id != u0
    id = u0
    """
    rng = random.Random(f"{seed}/{shape.value}")
    if shape is Shape.W:
        return TR0605(seed=seed).texts(number)
    if shape is Shape.MIXTURE:
        return islice(_mixed(number, seed), number)
    return (_DRAWN[shape](rng, at) for at in range(number))


def _mixed(number: int, seed: int) -> Iterator[str]:
    """One of each shape in turn."""
    shapes = [shape for shape in Shape if shape is not Shape.MIXTURE]
    drawn = [texts(shape, number, seed) for shape in shapes]
    for at in count():
        yield next(drawn[at % len(drawn)])


def _point(_rng: random.Random, at: int) -> str:
    return f"id = u{at}"


def _band(rng: random.Random, _at: int) -> str:
    low = rng.randrange(PRICE_MAX)
    high = low + rng.randrange(2, 100)
    return f"symbol = S{rng.randrange(SYMBOLS)} and price > {low} and price < {high}"


def _prefix(rng: random.Random, _at: int) -> str:
    parts = (rng.randrange(100) for _ in range(rng.randrange(2, 5)))
    return f'path >* "/{"/".join(map(str, parts))}/"'


def _suffix(rng: random.Random, at: int) -> str:
    return _prefix(rng, at).replace(">*", "*<")


def _substring(rng: random.Random, at: int) -> str:
    return _prefix(rng, at).replace(">*", "*")


def _unequal(_rng: random.Random, at: int) -> str:
    return f"id != u{at}"


def _user(rng: random.Random, at: int) -> str:
    return f"user = u{at} and amount > {rng.randrange(PRICE_MAX)}"


def _box(rng: random.Random, _at: int) -> str:
    x, y = rng.randrange(PRICE_MAX), rng.randrange(PRICE_MAX)
    wide, high = rng.randrange(2, 100), rng.randrange(2, 100)
    return f"x > {x} and x < {x + wide} and y > {y} and y < {y + high}"


_DRAWN: dict[Shape, Callable[[random.Random, int], str]] = {
    Shape.POINTS: _point,
    Shape.BANDS: _band,
    Shape.PREFIXES: _prefix,
    Shape.USERS: _user,
    Shape.BOXES: _box,
    Shape.SUFFIXES: _suffix,
    Shape.SUBSTRINGS: _substring,
    Shape.UNEQUAL: _unequal,
}
