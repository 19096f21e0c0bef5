"""A node of a search tree: the tests of one attribute, and where each of them leads.

A test is all that a filter says about one attribute.  Most are equalities, and of
those a dictionary finds the right one; the others are tried one after the other.

Kinds never blur.  A dictionary key is a kind with a value, so ``1``, ``1.0`` and
``true`` are three keys; ``x = 1`` is about integers and floats, and therefore has a
fourth, which values of both kinds look up.
"""

import sys
from collections.abc import Collection, Container, Iterator
from typing import TypeVar

from siena.model import Constraint, Kind, Operator, Value
from siena.research.matchers.attribute_order import Test

Key = tuple[Kind, Value]
"""The value that an equality asks for, and of which kind."""

Entry = tuple[int, int]
"""A filter in a tree: the number of its interest, and which filter of that."""

L = TypeVar("L")

# The level of a leaf: below all attributes, however many there will be.
LEAF = sys.maxsize

_OF_NUMBERS = (Kind.INTEGER, Kind.FLOAT)


class Node:
    """The tests of one attribute; a leaf has none, and holds filters instead.

    ``level`` and ``name`` say which attribute is tested.  ``floor`` is the first level
    that is tested in this subtree: the same, or an earlier one that was delayed.
    ``star`` is where the filters are that leave the attribute open.
    """

    __slots__ = (
        "entries",
        "equal",
        "floor",
        "level",
        "name",
        "other",
        "star",
        "trits",
    )

    def __init__(self, level: int, name: str = "", *, floor: int | None = None) -> None:
        self.level = level
        self.name = name
        self.floor = level if floor is None else floor
        self.equal: dict[Key, Node] = {}
        self.other: dict[Test, Node] = {}
        self.star: Node | None = None
        self.entries: set[Entry] = set()
        # Kept by link matching: the links with Yes and with Maybe, as two sets of
        # bits.  None where something below has changed.
        self.trits: tuple[int, int] | None = None

    @property
    def is_leaf(self) -> bool:
        """Whether nothing more is tested here."""
        return self.level == LEAF

    @property
    def is_delayed(self) -> bool:
        """Whether it is tested before an attribute that comes earlier in the order."""
        return self.floor < self.level

    @property
    def has_branches(self) -> bool:
        """Whether some filter tests the attribute."""
        return bool(self.equal or self.other)

    @property
    def is_empty(self) -> bool:
        """Whether no filter is here or below."""
        return not (self.entries or self.equal or self.other or self.star)

    def branches(self) -> Iterator["Node"]:
        """Where the tests lead; not the star."""
        yield from self.equal.values()
        yield from self.other.values()

    def tests(self) -> Iterator[tuple[Test, "Node"]]:
        """The tests, and where they lead; not the star."""
        for (kind, value), child in self.equal.items():
            yield (Constraint(self.name, Operator.EQ, value, kind),), child
        yield from self.other.items()

    def child(self, test: Test | None) -> "Node | None":
        """Where the test leads; None stands for the star."""
        if test is None:
            return self.star
        key = key_of(test)
        return self.other.get(test) if key is None else self.equal.get(key)

    def attach(self, test: Test | None, child: "Node | None") -> None:
        """Let the test lead to the child, or nowhere any more."""
        key = key_of(test) if test is not None else None
        if test is None:
            self.star = child
        elif key is not None:
            _assign(self.equal, key, child)
        else:
            _assign(self.other, test, child)

    def followed(self, value: Value) -> list["Node"]:
        """Where the tests lead that the value passes."""
        found = []
        if self.equal:
            for key in keys_asking_for(value):
                child = self.equal.get(key)
                if child is not None:
                    found.append(child)
        if self.other:
            found += [c for test, c in self.other.items() if passes(value, test)]
        return found


def passes(value: Value, test: Test) -> bool:
    """Whether the value satisfies all constraints of the test."""
    return all(constraint.matches(value) for constraint in test)


def key_of(test: Test) -> Key | None:
    """The key of a test that is one equality, and None for other tests."""
    if len(test) > 1 or test[0].operator is not Operator.EQ:
        return None
    constraint = test[0]
    assert constraint.value is not None
    return constraint.kind, constraint.value


def keys_asking_for(value: Value) -> tuple[Key, ...]:
    """The keys of all equalities that the value passes.

    >>> keys_asking_for(True)
    ((<Kind.BOOLEAN: 3>, True),)
    >>> keys_asking_for(1.0)
    ((<Kind.FLOAT: 2>, 1.0), (<Kind.NUMBER: 5>, 1.0))
    """
    kind = Kind.of(value)
    if kind in _OF_NUMBERS:
        # Python finds 1 under 1.0, and compares the two exactly; for a number
        # without a type that is what the language promises.
        return (kind, value), (Kind.NUMBER, value)
    return ((kind, value),)


def values_of(key: Key) -> list[Value]:
    """The values that pass the equality: one, or a number as integer and float.

    >>> values_of((Kind.NUMBER, 1)), values_of((Kind.NUMBER, 2.5))
    ([1, 1.0], [2.5])
    >>> values_of((Kind.NUMBER, 2**53 + 1)), values_of((Kind.BOOLEAN, True))
    ([9007199254740993], [True])
    """
    kind, value = key
    if kind is not Kind.NUMBER:
        return [value]
    assert isinstance(value, int | float)
    return [same for same in (int(value), float(value)) if same == value]


def is_alternative(key: Key, present: Container[Key]) -> bool:
    """Whether no value passes the equality and another one of those present.

    >>> is_alternative((Kind.INTEGER, 1), {(Kind.FLOAT, 1.0), (Kind.NUMBER, 2)})
    True
    >>> is_alternative((Kind.INTEGER, 1), {(Kind.NUMBER, 1)})
    False
    """
    kind, value = key
    if kind is Kind.NUMBER:
        return not any((typed, value) in present for typed in _OF_NUMBERS)
    return kind not in _OF_NUMBERS or (Kind.NUMBER, value) not in present


def are_alternatives(keys: Collection[Key]) -> bool:
    """Whether no value passes two of the equalities."""
    present = set(keys)
    return all(is_alternative(key, present) for key in present)


def _assign(children: dict[L, Node], label: L, child: Node | None) -> None:
    if child is None:
        del children[label]
    else:
        children[label] = child
