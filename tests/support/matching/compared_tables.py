"""Histories of tables, told to a table and to the reference at the same time."""

import numpy as np
from hypothesis import strategies as st

from siena.lang import parse_filter
from siena.matching.engine.rebuilding import Rebuild
from siena.matching.input.buffers import encode_all
from siena.matching.reference import ReferenceMatcher
from siena.matching.table import MASK_BITS, ForwardingTable
from siena.model import Filter, Notification, Predicate
from strategies import (
    filters,
    kinds_of_one_family,
    notifications,
    predicates,
    values_of,
)

NEVER = parse_filter("no-such-name = 1")

Step = Filter | Predicate | Notification | int | str


@st.composite
def histories(draw: st.DrawFn) -> list[Step]:
    """What happens to a table: interests come, go by their place, and are asked.

    In between it is rebuilt, elsewhere and here.
    """
    kinds = draw(kinds_of_one_family())
    interest = filters(kinds, max_size=3) | predicates(kinds)
    work = st.sampled_from(["hand out", "run", "adopt", "consolidate"])
    asked = notifications(of=values_of(kinds))
    step = st.one_of(interest, interest, asked, st.integers(0, 20), work)
    return draw(st.lists(step, max_size=40))


class Compared:
    """A table and a reference to which the same happens."""

    def __init__(self, interfaces: int) -> None:
        self.table, self.reference = ForwardingTable(), ReferenceMatcher()
        self.interfaces = interfaces
        self.held: list[int] = []
        self.rebuild: Rebuild | None = None
        if interfaces > MASK_BITS:
            # So many that they are no bits any more.
            for interface in range(interfaces):
                self.table.add(interface, NEVER)
                self.reference.add(interface, NEVER)

    def happen(self, history: list[Step]) -> None:
        for step in history:
            match step:
                case int():
                    self.remove(step)
                case str():
                    self.work(step)
                case Notification():
                    self.ask(step)
                case _:
                    self.add(step)

    def add(self, interest: Filter | Predicate) -> None:
        interface = len(self.held) % self.interfaces
        self.held.append(self.table.add(interface, interest))
        assert self.reference.add(interface, interest) == self.held[-1]

    def remove(self, place: int) -> None:
        if self.held:
            number = self.held.pop(place % len(self.held))
            self.table.remove(number)
            self.reference.remove(number)

    def work(self, what: str) -> None:
        if what == "consolidate":
            self.table.consolidate()
        elif what == "hand out":
            self.rebuild = self.table.rebuild()
        elif self.rebuild is not None and what == "run":
            self.rebuild.run()
        elif self.rebuild is not None and self.rebuild.engine is not None:
            self.table.adopt(self.rebuild)
            self.rebuild = None

    def ask(self, notification: Notification) -> None:
        wanted = self.reference.match(notification)
        assert self.table.match(notification) == wanted
        assert self.table.match(notification, {0, 2, 7}) == wanted & {0, 2, 7}
        found = self.table.match_filters(notification)
        assert found == self.reference.match_filters(notification)


def agree(
    table: ForwardingTable, reference: ReferenceMatcher, asked: list[Notification]
) -> None:
    """Whether batches give what the reference gives, in every form."""
    blocks = encode_all(asked)
    for (counts, found), expected in (
        (table.match_buffer(*blocks), reference.match_filters),
        (table.match_interfaces(*blocks), reference.match),
    ):
        ends = np.cumsum(counts)
        for notification, part in zip(
            asked, np.split(found, ends[:-1]) if asked else [], strict=True
        ):
            assert sorted(part.tolist()) == sorted(expected(notification))
    expected_pairs = {
        (interface, message, number)
        for message, notification in enumerate(asked)
        for number in reference.match_filters(notification)
        for interface in [table.interface(number)]
    }
    got = [
        (delivery.interface, message, number)
        for delivery in table.match_by_interface(*blocks)
        for message, number in zip(
            delivery.messages.tolist(), delivery.filters.tolist(), strict=True
        )
    ]
    assert len(got) == len(expected_pairs)
    assert set(got) == expected_pairs
