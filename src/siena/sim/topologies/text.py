"""Topologies as text: a statement on each line.

::

    # Three brokers; a weight is 1 where none is given.
    broker 1 2
    broker 3 gateway
    link 1 2 7
    link 2 3

``broker`` declares brokers, with a role for all of its line if it ends in a word;
``link`` joins two of them.  Statements may come in any order, and a ``#`` begins a
comment.  Whatever is wrong is refused with its line, its column and a reason.
"""

import re
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import takewhile
from typing import NamedTuple, NoReturn

from siena.errors import InvalidTopologyError, SienaError
from siena.model.spelling import quote
from siena.routing.topology.topology import Broker, Topology, TopologyDraft, Weight
from siena.routing.topology.trees import Components
from siena.sim.topologies.drawn import barabasi_albert, random_tree, waxman
from siena.sim.topologies.examples import EXAMPLES
from siena.sim.topologies.regular import BROKERS_MAX, chain, ring, star, tree
from siena.sim.topologies.transit_stub import TransitStub

# Ten digits hold every number of a broker; Python is never asked to read a million.
_BROKER = re.compile(r"[0-9]{1,10}")
# Exact: an integer, a decimal number, or a fraction as Python prints it.
_WEIGHT = re.compile(r"-?[0-9]{1,1000}(\.[0-9]{1,1000}|/[0-9]{1,1000})?")


class Word(NamedTuple):
    """A word of a text, and where it starts."""

    text: str
    position: int


def parse_topology(text: str, *, acyclic: bool = False) -> Topology:
    r"""Read a topology; with ``acyclic``, one that must be a tree.

    >>> parse_topology("broker 1 2\nlink 1 2 7\n").links
    (Link(one=1, other=2, weight=7),)
    >>> parse_topology("broker 1 2\nlink 1 2 7\nlink 2 3\n")
    Traceback (most recent call last):
    siena.errors.InvalidTopologyError: line 3, column 8: there is no broker 3

    Raises:
        InvalidTopologyError: with the place, if the text is no topology, or if the
            network is in pieces.
    """
    return _Reader(text).read(acyclic=acyclic)


def parse_shape(text: str, *, seed: int = 1) -> Topology:
    """The network that a shape names.

    >>> len(parse_shape("tree:3x2")), len(parse_shape("waxman:20", seed=7))
    (13, 20)
    >>> parse_shape("pentagon")
    Traceback (most recent call last):
    siena.errors.InvalidTopologyError: "pentagon" is no shape of a network (chain:N,
    star:N, ring:N, tree:BxD, barabasi-albert:N, waxman:N, random-tree:N,
    transit-stub, N12, N12t, N4, tie, pruned, manual or ring7)
    """
    if text == "transit-stub":
        return TransitStub().draw(seed=seed)
    if text in EXAMPLES:
        return EXAMPLES[text]
    name, _, size = text.partition(":")
    if name == "tree" and (sizes := re.fullmatch(r"([0-9]{1,6})x([0-9]{1,6})", size)):
        return tree(int(sizes[1]), int(sizes[2]))
    drawn: dict[str, Callable[[int], Topology]] = {
        "chain": chain,
        "star": star,
        "ring": ring,
        "barabasi-albert": lambda brokers: barabasi_albert(brokers, seed=seed),
        "waxman": lambda brokers: waxman(brokers, seed=seed),
        "random-tree": lambda brokers: random_tree(brokers, seed=seed),
    }
    if name not in drawn or not re.fullmatch(r"[0-9]{1,6}", size):
        raise InvalidTopologyError(
            f"{quote(text)} is no shape of a network",
            hint="chain:N, star:N, ring:N, tree:BxD, barabasi-albert:N, waxman:N, "
            f"random-tree:N, transit-stub, {', '.join([*EXAMPLES][:-1])} or "
            f"{[*EXAMPLES][-1]}",
        )
    return drawn[name](int(size))


def words_of_lines(text: str) -> Iterator[list[Word]]:
    """The words of each line that has any, without comments."""
    start = 0
    for line in text.split("\n"):
        said = line.partition("#")[0]
        words = [Word(m[0], start + m.start()) for m in re.finditer(r"\S+", said)]
        if words:
            yield words
        start += len(line) + 1


class _Reader:
    """Reads one text: the brokers first, since links may come before them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.draft = TopologyDraft()

    def read(self, *, acyclic: bool) -> Topology:
        statements = list(words_of_lines(self.text))
        for words in statements:
            if words[0].text == "broker":
                self.read_brokers(words)
            elif words[0].text != "link":
                self.fail(
                    words[0],
                    f"{quote(words[0].text)} is no statement",
                    "broker or link",
                )
        joined = Components()
        apart = len(self.draft.neighbours) - 1
        for words in statements:
            if words[0].text == "link":
                one, other = self.read_link(words)
                if joined.join(one, other):
                    apart -= 1
                elif acyclic:
                    self.fail(
                        words[0],
                        f"link {one}-{other} closes a cycle",
                        "a tree is wanted",
                    )
        if apart != 0:
            self.complain_of_pieces()
        return self.draft.finish()

    def read_brokers(self, words: list[Word]) -> None:
        numbers = list(takewhile(lambda word: _BROKER.fullmatch(word.text), words[1:]))
        role = words[len(numbers) + 1 :]
        if not numbers:
            self.fail(words[-1], "a number of a broker is wanted")
        if len(role) > 1:
            self.fail(role[0], f"{quote(role[0].text)} is no number of a broker")
        for word in numbers:
            broker = int(word.text)
            if broker in self.draft.neighbours:
                self.fail(word, f"broker {broker} is there already")
            self.at(word, self.draft.add_broker, broker)
            for name in role:
                self.at(name, self.draft.add_role, broker, name.text)
        if len(self.draft.neighbours) > BROKERS_MAX:
            self.fail(words[0], f"more than {BROKERS_MAX} brokers", "limit BROKERS_MAX")

    def read_link(self, words: list[Word]) -> tuple[Broker, Broker]:
        if len(words) not in {3, 4}:
            self.fail(words[0], "a link has two brokers, and a weight if not 1")
        one, other = self.read_broker(words[1]), self.read_broker(words[2])
        weight = self.read_weight(words[3]) if len(words) == 4 else 1
        self.at(words[-1], self.draft.add_link, one, other, weight)
        return one, other

    def read_broker(self, word: Word) -> Broker:
        if not _BROKER.fullmatch(word.text):
            self.fail(word, f"{quote(word.text)} is no number of a broker")
        if int(word.text) not in self.draft.neighbours:
            self.fail(word, f"there is no broker {int(word.text)}")
        return int(word.text)

    def read_weight(self, word: Word) -> Weight:
        try:
            if _WEIGHT.fullmatch(word.text):
                return Fraction(word.text)
        except ZeroDivisionError:
            pass
        return self.fail(word, f"{quote(word.text)} is no weight")

    def complain_of_pieces(self) -> NoReturn:
        topology = self.draft.finish()
        if not topology.brokers:
            raise InvalidTopologyError("a network has a broker or more")
        reached = topology.component(topology.brokers[0])
        lost = min(b for b in topology.brokers if b not in reached)
        raise InvalidTopologyError(
            f"the network is in pieces: nothing leads from broker "
            f"{topology.brokers[0]} to broker {lost}"
        )

    def at(self, word: Word, action: Callable[..., None], *arguments: object) -> None:
        """Do something; if it is refused, because of this word."""
        try:
            action(*arguments)
        except SienaError as error:
            raise error.at(self.text, word.position) from None

    def fail(self, word: Word, message: str, hint: str = "") -> NoReturn:
        error = InvalidTopologyError(message, hint=hint)
        raise error.at(self.text, word.position)
