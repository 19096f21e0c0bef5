"""Templates: texts with places that are filled in anew for each publication."""

import random
import re
from collections.abc import Callable
from datetime import UTC, datetime

from siena.errors import SienaError

# {i}, {now}, {random}, {random:1:6}, {choice:a|b}
PLACE = re.compile(r"\{(i|now|random|choice)(?::([^{}]*))?\}")


class Template:
    """A text, and how to fill in its places.

    >>> template = Template("x={i}, dice={random:1:6}", random.Random(1))
    >>> template.fill(1), template.fill(2)
    ('x=1, dice=2', 'x=2, dice=5')
    >>> Template("x={random:6:1}", random.Random(1))
    Traceback (most recent call last):
    siena.errors.SienaError: {random:6:1} is not a range of numbers (as in {random:1:6})
    """

    def __init__(self, text: str, chance: random.Random) -> None:
        self._text = text
        self._chance = chance
        self._places = {
            place[0]: self._filler(place[0], place[1], place[2])
            for place in PLACE.finditer(text)
        }

    @property
    def is_constant(self) -> bool:
        """Whether there is nothing to fill in."""
        return not self._places

    def fill(self, number: int) -> str:
        """The text of the publication with this number."""
        return PLACE.sub(lambda place: self._places[place[0]](number), self._text)

    def _filler(
        self, place: str, word: str, options: str | None
    ) -> Callable[[int], str]:
        if word == "random" and options is not None:
            return self._range(place, options)
        if word == "choice":
            choices = (options or "").split("|")
            if not all(choices):
                raise SienaError(
                    f"{place} has no choices", hint="as in {choice:DIS|MSFT}"
                )
            return lambda _: self._chance.choice(choices)
        if options is not None:
            raise SienaError(f"{place} takes no options", hint=f"write {{{word}}}")
        if word == "random":
            return lambda _: f"{self._chance.random():.6f}"
        if word == "now":
            return lambda _: f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%fZ}"
        return str

    def _range(self, place: str, options: str) -> Callable[[int], str]:
        low, _, high = options.partition(":")
        try:
            if "." in options:
                least, most = float(low), float(high)
                _require(least <= most)
                return lambda _: f"{self._chance.uniform(least, most):.6f}"
            first, last = int(low), int(high)
            _require(first <= last)
        except ValueError:
            raise SienaError(
                f"{place} is not a range of numbers", hint="as in {random:1:6}"
            ) from None
        return lambda _: str(self._chance.randint(first, last))


def _require(holds: bool) -> None:  # noqa: FBT001 -- a condition
    if not holds:
        raise ValueError
