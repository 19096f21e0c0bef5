"""Random predicates and notifications over a tiny domain: they touch each other."""

import random

from siena.model import Value

NAMES = ("x", "y", "z")
WORDS = ("ann", "bob", "an", "b")
OPERATORS = ("=", "!=", "<", ">=")


def constraint(rng: random.Random) -> str:
    name = rng.choice(NAMES)
    kind = rng.randrange(5)
    if kind == 0:
        return f"{name} absent"
    if kind == 1:
        return f"{name} starts with {rng.choice(WORDS)}"
    if kind == 2:
        return f"{name} {rng.choice(OPERATORS)} {rng.choice(WORDS)}"
    return f"{name} {rng.choice(OPERATORS)} {rng.randrange(5)}"


def text(rng: random.Random) -> str:
    def one() -> str:
        return " and ".join(constraint(rng) for _ in range(rng.randint(1, 2)))

    said = " or ".join(one() for _ in range(rng.randint(1, 2)))
    return f"({said}) except {constraint(rng)}" if rng.random() < 0.2 else said


def notification(rng: random.Random) -> dict[str, Value]:
    drawn: tuple[Value, ...] = (*WORDS, *range(5), 2.5, True)
    return {name: rng.choice(drawn) for name in NAMES if rng.random() < 0.7}
