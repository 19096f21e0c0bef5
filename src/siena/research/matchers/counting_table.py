"""The right side of the forwarding table: from filters to their interfaces.

Beside the constraint index stand the *targets*, which differ with the question: the
interests that match, or the interfaces that want a notification.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from siena.matching.matcher import filters_of
from siena.matching.registry import Registry
from siena.research.matchers.constraint_index import Arrays, ConstraintIndex, Encoded
from siena.research.matchers.string_index import Ints, Longs

Flags = NDArray[np.uint8]

# A Bloom filter of names: 64 bits, so many of them for each name.
BLOOM_HASHES = 4


@dataclass(frozen=True, slots=True)
class Options:
    """How to match; nothing here changes what matches."""

    rounds: int
    bloom: bool
    early_exit: bool


class CountingTable:
    """All interests at one moment, ready to be matched.

    ``interfaces`` are those with a filter, in the order in which they are numbered.
    """

    def __init__(
        self,
        registry: Registry,
        options: Options,
        kernels: tuple[ModuleType, ModuleType],
    ) -> None:
        self._options = options
        self._kernel, string_kernel = kernels
        self._filters = []
        interests: list[int] = []  # the number of the interest of each filter
        interface_of: list[int] = []
        places: dict[int, int] = {}
        for number, held in registry:
            for f in filters_of(held.interest):
                self._filters.append(f)
                interests.append(number)
                place = places.setdefault(held.interface, len(places))
                interface_of.append(place)
        self.interfaces = tuple(places)
        self.interface_numbers = np.array(self.interfaces, np.int64)
        self._interest_of = np.array(interests, np.int32)
        self._interface_of = np.array(interface_of, np.int32)
        self.index = ConstraintIndex(self._filters, string_kernel)

    @cached_property
    def by_filter(self) -> "Targets":
        """Targets are the interests: each filter one, unless there are predicates."""
        labels, target = np.unique(self._interest_of, return_inverse=True)
        each = len(labels) == len(target)
        arrays = self._targets(target.astype(np.int32), labels)
        return Targets(self.index, arrays, self._kernel, self._options, each=each)

    @cached_property
    def by_interface(self) -> "Targets":
        """Targets are the interfaces, and the label of each is its number."""
        labels = np.arange(len(self.interfaces), dtype=np.int32)
        arrays = self._targets(self._interface_of, labels)
        table = self.selectivity()[: self._options.rounds]
        arrays["test_name"] = np.array(
            [self.index.names[n] for n, _ in table], np.int32
        )
        ends = np.cumsum([0, *(len(targets) for _, targets in table)])
        arrays["test_first"] = ends.astype(np.int32)
        arrays["test_target"] = np.array([t for _, ts in table for t in ts], np.int32)
        return Targets(self.index, arrays, self._kernel, self._options, each=False)

    def closed(self, allowed: Iterable[int] | None) -> Flags | None:
        """A 1 for each interface that is not allowed."""
        if allowed is None:
            return None
        wanted = frozenset(allowed)
        return np.array([i not in wanted for i in self.interfaces], np.uint8)

    def selectivity(self) -> list[tuple[str, list[int]]]:
        """Names, and the interfaces all of whose filters ask for them; most first."""
        common: dict[int, set[str]] = {}
        for f, interface in zip(
            self._filters, self._interface_of.tolist(), strict=True
        ):
            names = common.get(interface)
            if names is None:
                common[interface] = {c.name for c in f.constraints}
            elif names:
                names.intersection_update([c.name for c in f.constraints])
        without: dict[str, list[int]] = {}
        for interface, names in common.items():
            for name in names:
                without.setdefault(name, []).append(interface)
        return sorted(without.items(), key=lambda entry: (-len(entry[1]), entry[0]))

    def _targets(self, target: Ints, label: Ints) -> Arrays:
        nothing = np.zeros(0, np.int32)
        empty = self.index.sizes == 0
        return {
            "target": target,
            "label": label,
            "always": np.unique(target[empty]),
            "test_name": nothing,
            "test_first": np.zeros(1, np.int32),
            "test_target": nothing,
            **self._bloom,
        }

    @cached_property
    def _bloom(self) -> Arrays:
        """The names of each filter and of each name, as sets of bits."""
        index = self.index
        wanted = np.zeros(len(self._filters), np.uint64)
        bits = np.array([bloom_bits(name) for name in index.names], np.uint64)
        if self._options.bloom and index.occurrences:
            name_of = index.name_numbers()[index.constraint_of]
            np.bitwise_or.at(wanted, index.filter_of, bits[name_of])
        return {"wanted": wanted, "name_bits": bits}


def bloom_bits(name: str) -> int:
    """The bits of a name, the same on every machine.

    >>> bloom_bits("price").bit_count() <= BLOOM_HASHES
    True
    """
    digest = blake2b(name.encode(), digest_size=BLOOM_HASHES).digest()
    bits = 0
    for byte in digest:
        bits |= 1 << (byte & 63)
    return bits


class Targets:
    """A table with its targets, and counters for as many threads as match at once."""

    def __init__(
        self,
        index: ConstraintIndex,
        arrays: Arrays,
        kernel: ModuleType,
        options: Options,
        *,
        each: bool,
    ) -> None:
        self._index = index
        self._arrays = arrays
        self._kernel = kernel
        self._options = options
        self._each = each
        self._idle: list[Any] = []  # a thread takes a counter, and puts it back

    def match(
        self, batch: Encoded, closed: Flags | None = None, out: Ints | None = None
    ) -> tuple[Longs, Ints]:
        """The labels of the targets that match each message."""
        if closed is None:
            closed = np.zeros(len(self._arrays["label"]), np.uint8)
        offsets = np.zeros(len(batch) + 1, np.int64)
        queue = np.empty(2 * batch.stretches, np.int32)
        if out is None:
            out = np.empty(1024, np.int32)
        try:
            counter = self._idle.pop()
        except IndexError:
            counter = self._new_counter()
        done = 0
        while True:
            done, room = counter.match(batch.arrays, closed, done, queue, offsets, out)
            if done == len(batch):
                break
            longer = np.empty(max(2 * len(out), room), np.int32)
            longer[: offsets[done]] = out[: offsets[done]]
            out = longer
        self._idle.append(counter)
        return offsets, out[: offsets[-1]]

    def _new_counter(self) -> Any:  # noqa: ANN401 - a kernel's types are C's
        scratch = {
            "left": self._index.arrays["size"].copy(),
            "done": np.zeros(len(self._arrays["label"]), np.uint8),
            "present": np.zeros(len(self._index.names), np.uint8),
        }
        return self._kernel.Counter(
            self._index.arrays,
            self._arrays,
            scratch,
            each=self._each,
            bloom=self._options.bloom,
            early=self._options.early_exit,
        )
