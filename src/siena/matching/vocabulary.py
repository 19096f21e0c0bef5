"""Operands as integers: the names, strings, numbers and times that filters mention.

Ranks are odd where a value equals an operand, and even between two; so a constraint
becomes an interval of ranks (:mod:`siena.matching.layout`).  The arrays made here are
described in :mod:`siena.matching.kernels.engine`.
"""

import math
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from siena.algebra.keys import key_of
from siena.matching.kernels.engine import hash_of, place_of
from siena.model import Constraint, Kind, Operator
from siena.model.values import INTEGER_MAX, INTEGER_MIN

Arrays = dict[str, Any]
Ints = npt.NDArray[np.int32]

# The three tries share one table of nodes; these are their roots.
ROOT_PREFIX, ROOT_SUFFIX, ROOT_SUBSTRING = range(3)
_ROOT_OF = {
    Operator.PREFIX: ROOT_PREFIX,
    Operator.SUFFIX: ROOT_SUFFIX,
    Operator.SUBSTRING: ROOT_SUBSTRING,
}


class Names:
    """The names that filters mention, numbered, and the hash table that finds them."""

    def __init__(self, constraints: Iterable[Constraint], seed: int) -> None:
        self.seed = seed
        self.numbers = {
            name: number
            for number, name in enumerate(sorted({c.name for c in constraints}))
        }

    def arrays(self) -> Arrays:
        """The table of names."""
        encoded = [name.encode() for name in self.numbers]
        hashes = np.array([hash_of(n, self.seed) for n in encoded] or [0], np.uint64)
        slots = np.full(power_of_two(2 * len(encoded) + 2), -1, np.int32)
        for number in range(len(encoded)):
            place = place_of(int(hashes[number]), len(slots) - 1)
            while slots[place] >= 0:
                place = (place + 1) & (len(slots) - 1)
            slots[place] = number
        starts, joined = _concatenated(encoded)
        return {
            "seed": self.seed,
            "name_slots": slots,
            "name_hashes": hashes,
            "name_starts": starts,
            "name_bytes": joined,
        }


class Strings:
    """The order of all string operands, and the tries that find them in a value."""

    def __init__(self, constraints: Iterable[Constraint]) -> None:
        ordered: set[bytes] = set()
        backward: set[bytes] = set()
        self.trie = _Trie()
        for constraint in constraints:
            if isinstance(constraint.value, str):
                operand = constraint.value.encode()
                if constraint.operator is Operator.SUFFIX:
                    backward |= {operand[::-1], successor(operand[::-1])}
                elif constraint.operator is Operator.PREFIX:
                    ordered |= {operand, successor(operand)}
                elif constraint.operator is not Operator.SUBSTRING:
                    ordered.add(operand)
        self._ordered = sorted(ordered)
        self._backward = sorted(backward)
        self.rank = {operand: 2 * i + 1 for i, operand in enumerate(self._ordered)}
        self.backward_rank = {o: 2 * i + 1 for i, o in enumerate(self._backward)}

    def node(self, operand: bytes, operator: Operator) -> int:
        """The node of the trie that stands for an operand of a string operator."""
        root = _ROOT_OF[operator]
        path = operand[::-1] if root == ROOT_SUFFIX else operand
        return self.trie.enter(root, path)

    def arrays(self) -> Arrays:
        """The order and the tries, once every operand has its node."""
        starts, joined = _concatenated(self._ordered)
        backward_starts, backward = _concatenated(self._backward)
        return {
            "breaks": len(self._ordered),
            "break_starts": starts,
            "break_bytes": joined,
            "reverse_breaks": len(self._backward),
            "reverse_starts": backward_starts,
            "reverse_bytes": backward,
            **self.trie.arrays(),
        }


class _Trie:
    """Three tries in one table of nodes, with Aho and Corasick's links in the third."""

    def __init__(self) -> None:
        self._children: list[dict[int, int]] = [{}, {}, {}]
        self._ends = [0, 0, 0]

    def enter(self, root: int, path: bytes) -> int:
        node = root
        for byte in path:
            child = self._children[node].get(byte)
            if child is None:
                child = len(self._children)
                self._children[node][byte] = child
                self._children.append({})
                self._ends.append(0)
            node = child
        self._ends[node] = 1
        return node

    def arrays(self) -> Arrays:
        edges = [
            (node << 8 | byte, child)
            for node, children in enumerate(self._children)
            for byte, child in children.items()
        ]
        keys = np.full(power_of_two(2 * len(edges) + 2), -1, np.int64)
        nodes = np.full(len(keys), -1, np.int32)
        for key, child in edges:
            place = place_of(key, len(keys) - 1)
            while keys[place] >= 0:
                place = (place + 1) & (len(keys) - 1)
            keys[place] = key
            nodes[place] = child
        fails, reports = self._links()
        return {
            "edge_keys": keys,
            "edge_nodes": nodes,
            "node_ends": np.array(self._ends, np.int32),
            "node_fails": np.array(fails, np.int32),
            "node_reports": np.array(reports, np.int32),
        }

    def _links(self) -> tuple[list[int], list[int]]:
        """For each node its longest proper end that is a node, and one that reports."""
        fails = [ROOT_SUBSTRING] * len(self._children)
        reports = [-1] * len(self._children)
        level = [ROOT_SUBSTRING]
        while level:
            deeper = []
            for node in level:
                for byte, child in self._children[node].items():
                    if node != ROOT_SUBSTRING:
                        fails[child] = self._fail(fails[node], byte, fails)
                    end = fails[child]
                    reports[child] = end if self._ends[end] else reports[end]
                    deeper.append(child)
            level = deeper
        return fails, reports

    def _fail(self, node: int, byte: int, fails: list[int]) -> int:
        while byte not in self._children[node] and node != ROOT_SUBSTRING:
            node = fails[node]
        return self._children[node].get(byte, ROOT_SUBSTRING)


class Numbers:
    """For each name the numbers and the times that it is compared with, in order."""

    def __init__(
        self, constraints: Iterable[Constraint], names: dict[str, int]
    ) -> None:
        numbers: list[set[tuple[int, float]]] = [set() for _ in names]
        times: list[set[int]] = [set() for _ in names]
        for constraint in constraints:
            value, name = constraint.value, names[constraint.name]
            if type(value) in Kind.NUMBER.types:
                assert isinstance(value, (int, float))
                numbers[name].add(split(value))
            elif value is not None and constraint.kind is Kind.TIME:
                times[name].add(key_of(value, Kind.TIME))
        self._numbers = [sorted(found) for found in numbers]
        self._times = [sorted(found) for found in times]
        self.rank = [_ranks(found) for found in self._numbers]
        self.time_rank = [_ranks(found) for found in self._times]

    def arrays(self) -> Arrays:
        """The numbers and times of all names, one name after the other."""
        numbers = [number for found in self._numbers for number in found]
        times = [time for found in self._times for time in found]
        return {
            "number_starts": _starts(map(len, self._numbers)),
            "number_wholes": np.array([w for w, _ in numbers] or [0], np.int64),
            "number_rests": np.array([r for _, r in numbers] or [0], np.float64),
            "time_starts": _starts(map(len, self._times)),
            "time_keys": np.array(times or [0], np.int64),
        }


def split(value: float) -> tuple[int, float]:
    """A number as a whole part and a rest, which compare as the number does.

    Every integer of 64 bits and every double has such a pair, exactly; what is
    beyond 64 bits keeps itself as its rest.

    >>> split(2.75), split(-0.25), split(2**53 + 1)
    ((2, 0.75), (-1, 0.75), (9007199254740993, 0.0))
    """
    if isinstance(value, int):
        return value, 0.0
    if value >= 2.0**63:
        return INTEGER_MAX, value
    if value < -(2.0**63):
        return INTEGER_MIN, value
    whole = math.floor(value)
    return whole, value - whole


def successor(operand: bytes) -> bytes:
    """The least bytes above all that begin with the operand.

    No byte of UTF-8 is the last byte there is, so the last can be counted up.
    """
    return operand[:-1] + bytes([operand[-1] + 1])


def power_of_two(least: int) -> int:
    """The least power of two that is at least this.

    >>> power_of_two(5)
    8
    """
    return 1 << max(0, least - 1).bit_length()


def _ranks(found: Sequence[Any]) -> dict[Any, int]:
    return {value: 2 * i + 1 for i, value in enumerate(found)}


def _starts(sizes: Iterable[int]) -> Ints:
    return np.array([0, *accumulate(sizes)], np.int32)


def _concatenated(parts: list[bytes]) -> tuple[Ints, npt.NDArray[np.uint8]]:
    joined = b"".join(parts) or b"\0"  # a kernel wants at least one byte to point at
    return _starts(map(len, parts)), np.frombuffer(joined, np.uint8).copy()
