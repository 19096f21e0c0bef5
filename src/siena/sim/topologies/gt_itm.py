"""The specification files of GT-ITM, the generator that the Siena study used.

::

    ts 10 47            how many graphs, and the seed of the first
    3 0 0               stubs per transit broker, extra links transit-stub, stub-stub
    1 20 3 1.0          domains: how many, their scale, the method, its probability
    4 20 3 0.6          the same for the brokers of a transit domain
    8 10 3 0.42         and of a stub domain

Only method 3, pure random, is understood.  The scale is where GT-ITM would place the
brokers; our weights are drawn instead, between the bounds of
:class:`~siena.sim.topologies.transit_stub.Costs`.
"""

import re
from typing import NamedTuple, NoReturn

from siena.errors import InvalidTopologyError, SienaError
from siena.model.spelling import quote
from siena.routing.topology.topology import Topology
from siena.sim.topologies.text import Word, words_of_lines
from siena.sim.topologies.transit_stub import Level, TransitStub

_PURE_RANDOM = 3
_INTEGER = re.compile(r"[0-9]{1,9}")
_NUMBER = re.compile(r"[0-9]{1,9}(\.[0-9]{0,17})?|\.[0-9]{1,17}")
# How many words each line has.
_SHAPE = (3, 3, 4, 4, 4)


class Request(NamedTuple):
    """What a specification file asks for: so many networks, from a seed on."""

    plan: TransitStub
    graphs: int
    seed: int

    def draw(self) -> list[Topology]:
        """The networks; each has the seed after that of the one before."""
        return [self.plan.draw(seed=self.seed + i) for i in range(self.graphs)]


def parse_gt_itm(text: str) -> Request:
    r"""Read a specification file.

    >>> sample = "ts 10 47\n3 0 0\n1 20 3 1.0\n4 20 3 0.6\n8 10 3 0.42\n"
    >>> request = parse_gt_itm(sample)
    >>> request.graphs, request.seed, request.plan == TransitStub()
    (10, 47, True)
    """
    return _Reader(text).read()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = list(words_of_lines(text))

    def read(self) -> Request:
        for words, length in zip(self.lines, _SHAPE, strict=False):
            if len(words) != length:
                self.fail(words[0], f"{length} words are wanted on this line")
        if len(self.lines) != len(_SHAPE):
            raise InvalidTopologyError(f"{len(_SHAPE)} lines are wanted", hint="GT-ITM")
        if self.lines[0][0].text != "ts":
            self.fail(self.lines[0][0], "a transit-stub network is wanted: ts")
        graphs, seed = map(self.integer, self.lines[0][1:])
        stubs, transit_stub, stub_stub = map(self.integer, self.lines[1])
        domains, transit, stub = map(self.level, self.lines[2:])
        try:
            plan = TransitStub(domains, transit, stub, stubs, transit_stub, stub_stub)
        except SienaError as error:
            raise error.at(self.text, self.lines[1][0].position) from None
        return Request(plan, graphs, seed)

    def level(self, words: list[Word]) -> Level:
        size, scale, method, probability = words
        self.number(scale)
        if self.integer(method) != _PURE_RANDOM:
            self.fail(
                method, f"method {method.text} is not understood", "3, pure random"
            )
        chance = self.number(probability)
        if not 0 < chance <= 1:
            self.fail(probability, f"{probability.text} is no probability of a link")
        return Level(self.integer(size), chance)

    def integer(self, word: Word) -> int:
        if not _INTEGER.fullmatch(word.text):
            self.fail(word, f"{quote(word.text)} is no whole number")
        return int(word.text)

    def number(self, word: Word) -> float:
        if not _NUMBER.fullmatch(word.text):
            self.fail(word, f"{quote(word.text)} is no number")
        return float(word.text)

    def fail(self, word: Word, message: str, hint: str = "") -> NoReturn:
        error = InvalidTopologyError(message, hint=hint)
        raise error.at(self.text, word.position)
