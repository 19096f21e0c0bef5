"""Topics: the names that a line speaks of, and a handful of operands close together."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from brute_force.language import (
    INTEGER_MAX,
    INTEGER_MIN,
    TIME_MAX,
    TIME_MIN,
    Raw,
)
from brute_force.universe import FLOAT_MAX, LETTERS

T = TypeVar("T")

# The wants that one name is spoken of in, and how often.
THEMES = {
    ("string",): 32,
    ("integer",): 14,
    ("float",): 8,
    ("number", "integer", "float"): 20,
    ("boolean",): 7,
    ("time",): 8,
    ("string", "number"): 5,
    ("boolean", "integer", "float"): 3,
    ("time", "integer", "string"): 3,
}
INTEGER_HOMES = (
    (tuple(range(-3, 4)), 85),
    ((INTEGER_MIN, INTEGER_MIN + 1, INTEGER_MIN + 2), 5),
    ((INTEGER_MAX - 2, INTEGER_MAX - 1, INTEGER_MAX), 5),
    ((2**53 - 1, 2**53, 2**53 + 1, 2**53 + 2), 5),
)
NOW = 1_794_710_403_000_000  # 2026-11-15T02:40:03Z
TIME_HOMES = (
    (tuple(NOW + step for step in range(-2, 3)), 70),
    ((-1, 0, 1, 1_000_000), 15),
    ((TIME_MIN, TIME_MIN + 1, TIME_MIN + 2), 7),
    ((TIME_MAX - 2, TIME_MAX - 1, TIME_MAX), 8),
)
# The letters of A.5.6; neighbours of the surrogates, which succ() has to skip; and
# what a reader could take for something else.
ALPHABETS = (
    *((LETTERS, 60), ("abAB", 28), ("a\ud7ff\ue000\U0010ffff", 6), ("1\"'\\ \n*?", 4)),
    # A small letter with two capitals, and letters whose capitals are far from them.
    ("k\N{KELVIN SIGN}\u00df\u1e9e", 2),
)


@dataclass(frozen=True, slots=True)
class Topic:
    """A name, the wants that a line speaks of it in, and the operands for each."""

    name: str
    wants: Sequence[str]
    strings: Sequence[str]
    integers: Sequence[int]
    floats: Sequence[float]
    times: Sequence[int]

    def pattern(self, random: Random) -> str:
        """A pattern made of the strings, with wildcards between and inside them."""
        found = ""
        for word in random.choices(self.strings, k=random.choice((1, 2, 2, 3))):
            for character in word[: random.choice((1, 2, 3))]:
                is_special = character in "*?\\"
                found += "\\" + character if is_special else character
            found += random.choice(("*", "*", "?", ""))
        return random.choice(("", "", "*", "?")) + found

    def operands(self, wanted: str, random: Random) -> Sequence[Raw]:
        """The operands to choose from for a constraint, or a value, of that kind."""
        match wanted:
            case "string":
                return self.strings
            case "integer":
                return self.integers
            case "float":
                return self.floats
            case "number":
                return self.integers if random.random() < 0.6 else self.floats
            case "time":
                return self.times
            case _:
                return (False, True)


def draw_topic(name: str, random: Random) -> Topic:
    """A topic whose operands are neighbours of each other, mostly small ones."""
    wants = _weighted(list(THEMES.items()), random)
    integers = random.sample(_weighted(INTEGER_HOMES, random), 3)
    return Topic(
        name=name,
        wants=wants,
        strings=_strings(random),
        integers=integers,
        floats=_floats(integers, random),
        times=random.sample(_weighted(TIME_HOMES, random), 3),
    )


def _strings(random: Random) -> list[str]:
    """Three or four words; most are derived from one before them."""
    letters = _weighted(ALPHABETS, random)
    words = [_word(letters, random)]
    while len(words) < random.choice((3, 4)):
        base = random.choice(words)
        ways = (
            base[:-1],
            base[1:],
            (base + random.choice(letters))[:3],
            (random.choice(letters) + base)[:3],
            base[:-1] + random.choice(letters),
            _word(letters, random),
        )
        words.append(random.choice(ways))
    return words


def _word(letters: str, random: Random) -> str:
    length = random.choices((0, 1, 2, 3), (1, 4, 5, 3))[0]
    return "".join(random.choices(letters, k=length))


def _floats(integers: Sequence[int], random: Random) -> list[float]:
    """Three floats at or next to the integers, halves, or the ends of the domain."""
    centre = float(random.choice(integers))
    around = [
        centre,
        math.nextafter(centre, math.inf),
        math.nextafter(centre, -math.inf),
        centre + 0.5,
        centre - 0.5,
        float(random.choice(integers)),
    ]
    if random.random() < 0.1:
        tiny = math.nextafter(0, 1)
        around = [FLOAT_MAX, -FLOAT_MAX, tiny, -tiny, -0.0]
    return random.sample(around, 3)


def _weighted(pairs: Sequence[tuple[T, int]], random: Random) -> T:
    things = [thing for thing, _ in pairs]
    return random.choices(things, [weight for _, weight in pairs])[0]
