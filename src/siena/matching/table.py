"""The forwarding table: from a notification to the interfaces that want it.

How interests come and go is :mod:`siena.matching.holding`; here is who wants what, in
every form in which it is asked.

Reference:
    Carzaniga and Wolf, "Forwarding in a Content-Based Network", SIGCOMM 2003, for what
    a forwarding table is; how this one matches is ours.
"""

from collections.abc import Collection, Iterable, Mapping

import numpy as np
import numpy.typing as npt

from siena.block import BLOCK_ERRORS, Refusal
from siena.errors import InvalidNotificationError
from siena.matching.answers import Delivery, Wanted, restricted
from siena.matching.engine.engine import Engine, Matches
from siena.matching.engine.joiner import ONLY_ONE_LABEL, Joiner
from siena.matching.engine.linear_tier import match_all
from siena.matching.holding import Holding, View
from siena.matching.input.arrow import read_batch, read_texts
from siena.matching.input.arrow_interface import ArrowSource
from siena.matching.input.buffers import encode_all
from siena.matching.input.json_rows import encode_texts
from siena.matching.kernels.join import spread, turn
from siena.model import Value

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

# Interfaces that can be bits of one word.
MASK_BITS = 64


class ForwardingTable(Holding):
    """Interests that come and go, and who wants a notification.

    >>> from siena.lang.parser import parse_filter, parse_predicate
    >>> table = ForwardingTable()
    >>> table.add(3, parse_filter("airline = UA and price < 500"))
    0
    >>> table.add(5, parse_predicate("dest = DEN or dest = MIL"))
    1
    >>> sorted(table.match({"airline": "UA", "price": 449, "dest": "DEN"}))
    [3, 5]
    >>> table.remove(1)
    >>> table.match_filters({"airline": "UA", "price": 449, "dest": "DEN"})
    [0]

    Threads may match at the same time, and one of them may change the table.
    """

    def __init__(self) -> None:
        super().__init__()
        # For threads to borrow, one at a time.
        self._joiners: list[Joiner] = []

    def match(
        self,
        notification: Mapping[str, Value],
        /,
        allowed: Collection[int] | None = None,
    ) -> frozenset[int]:
        """The interfaces that want the notification, of those that are allowed.

        With ``allowed`` this is the papers' ``CBF(m, B, T)``: the broadcast function
        says where a notification may go, the table who wants it.

        Raises:
            InvalidNotificationError: if it has a value that none can have.
        """
        found = self.match_interfaces(*encode_all([notification]), allowed=allowed)
        _require_good(found.counts)
        return frozenset(found.interfaces.tolist())

    def match_filters(self, notification: Mapping[str, Value], /) -> list[int]:
        """The numbers of the interests that match, each once and in ascending order.

        Raises:
            InvalidNotificationError: if it has a value that none can have.
        """
        found = self.match_batch([notification])
        _require_good(found.counts)
        return sorted(found.filters.tolist())

    def match_batch(self, notifications: Iterable[Mapping[str, Value]], /) -> Matches:
        """What matches each of many notifications.

        Raises:
            InvalidNotificationError: if one has a value that has no bytes.
        """
        return self.match_buffer(*encode_all(notifications))

    def match_buffer(
        self, blocks: bytes | memoryview, offsets: Longs, /, out: Ints | None = None
    ) -> Matches:
        """What matches each of many blocks that stand back to back in a buffer.

        A block that is bad has a count below zero, whose meaning is in
        :data:`siena.block.BLOCK_ERRORS`; the others are matched all the same.
        With ``out``, matches are written there while there is room.
        """
        view = self._view(len(offsets) - 1)
        if len(view.engines) == 1 and view.fresh is None and view.is_plain:
            found = view.engines[0].match(blocks, offsets, out)
        else:
            parts = match_all(view.engines, view.fresh, blocks, offsets)
            found = self._join(parts, view.always, ONLY_ONE_LABEL)
        self._tiers.sample.note(blocks, offsets, found.counts)
        return found

    def lone_engine(self, messages: int) -> Engine | None:
        """The one engine that has everything, if there is one.

        For those who ask it again and again, and :meth:`see` what they have asked.
        """
        view = self._at_rest or self._view(messages)
        if len(view.engines) == 1 and view.fresh is None and view.is_plain:
            return view.engines[0]
        return None

    def see(self, block: bytes) -> None:
        """Remember a good block: the table is laid out for such ones one day."""
        self._tiers.sample.keep(block)

    def match_arrow(
        self,
        batch: ArrowSource,
        /,
        *,
        json: str | None = None,
        labels: Ints | None = None,
    ) -> Matches:
        """What matches each row of an Arrow record batch, as of a block.

        A batch is whatever has ``__arrow_c_array__``.  Its columns are attributes,
        absent where they are null (:mod:`siena.matching.input.arrow` has the types); or
        ``json`` names a column in which each row is a notification in its JSON form.
        With ``labels``, see :meth:`match_labels`.

        Raises:
            TypeError: if it is no record batch, or a column has a type that no value
                has.
            ValueError: if two columns have one name, there is no column ``json``, or
                labels are not as they must be.
        """
        if json is not None:
            blocks, offsets, bad = encode_texts(read_texts(batch, json))
            if labels is None:
                found = self.match_buffer(blocks, offsets)
            else:
                found = self.match_labels(blocks, offsets, labels)
            # What the engine does not accept was no notification in the first place.
            bad |= found.counts < 0
            return Matches(
                np.where(bad, -Refusal.NOT_JSON, found.counts), found.filters
            )
        rows = read_batch(batch)
        view = self._view()
        parts = [engine.match_arrow(rows) for engine in view.engines]
        if labels is None and len(parts) == 1 and view.is_plain:
            return parts[0]
        return self._join(parts, view.always, self._joinable(labels))

    def match_labels(
        self, blocks: bytes | memoryview, offsets: Longs, labels: Ints, /
    ) -> Matches:
        """As :meth:`match_buffer`, with the labels of interests, each once per block.

        ``labels[n]`` stands for interest ``n``, and is below the number of interests:
        whose an interest is, in whatever sense the caller has in mind.

        Raises:
            ValueError: if there are fewer labels than interests, or one is too high.
        """
        view = self._view(len(offsets) - 1)
        parts = match_all(view.engines, view.fresh, blocks, offsets)
        found = self._join(parts, view.always, self._joinable(labels))
        self._tiers.sample.note(blocks, offsets, found.counts)
        return found

    def match_interfaces(
        self,
        blocks: bytes | memoryview,
        offsets: Longs,
        /,
        allowed: Collection[int] | None = None,
    ) -> Wanted:
        """The interfaces that want each block, each once, of those that are allowed.

        With at most 64 interfaces they are bits all the way, and nothing is looked at
        for an interface that is known to match, or not allowed.
        """
        view = self._view(len(offsets) - 1, bits=MASK_BITS)
        is_open = np.ones(len(view.interfaces), np.bool_)
        if allowed is not None:
            is_open = np.isin(view.interfaces, np.fromiter(allowed, np.int64))
        if view.as_masks:
            found = _match_masks(view, blocks, offsets, is_open)
        else:
            parts = match_all(view.engines, view.fresh, blocks, offsets)
            found = self._join(parts, view.always, view.labels)
            found = restricted(found, is_open)
        self._tiers.sample.note(blocks, offsets, found.counts)
        return Wanted(found.counts, view.interfaces[found.filters])

    def match_by_interface(
        self, blocks: bytes | memoryview, offsets: Longs, /
    ) -> list[Delivery]:
        """For each interface that wants something: what, and because of which interest.

        What a broker writes to a connection stands together.
        """
        matches = self.match_buffer(blocks, offsets)
        labels = self._labels.of
        sizes = np.bincount(labels[matches.filters], minlength=len(self._labels))
        ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        messages, numbers = np.empty((2, len(matches.filters)), np.int32)
        turn(
            matches.counts, matches.filters, labels, ends[:-1].copy(), messages, numbers
        )
        return [
            Delivery(interface, messages[start:end], numbers[start:end])
            for interface, start, end in zip(
                self._labels.interfaces.tolist(),
                ends[:-1].tolist(),
                ends[1:].tolist(),
                strict=True,
            )
            if start < end
        ]

    def engine(self, *, as_masks: bool = False) -> Engine:
        """The engine of a table that was consolidated, made if there is none yet.

        For those who measure: the engine alone gives the answers of
        :meth:`match_buffer`, and :meth:`Engine.encode` and :meth:`Engine.cursor` are
        there too.  With ``as_masks`` the one that finds up to 64 interfaces as bits.

        Raises:
            ValueError: if one engine does not know everything: call
                :meth:`consolidate` first; there may be no predicates of several
                filters, and no filters without constraints.
        """
        view = self._view(bits=MASK_BITS if as_masks else 0)
        if len(view.engines) > 1 or not view.is_plain or view.as_masks != as_masks:
            raise ValueError("one engine does not know all that is in this table")
        return view.engines[0]

    def _join(self, parts: list[Matches], always: list[int], labels: Ints) -> Matches:
        try:
            joiner = self._joiners.pop()
        except IndexError:
            joiner = Joiner()
        joined = joiner.join(parts, always, self._gone, labels)
        self._joiners.append(joiner)
        return joined

    def _joinable(self, labels: Ints | None) -> Ints:
        """Labels as the joiner wants them, which trusts them.

        It takes a single one for none at all.
        """
        if labels is None:
            return ONLY_ONE_LABEL
        labels = np.ascontiguousarray(labels, np.int32)
        if len(labels) < self._count:
            raise ValueError(f"{len(labels)} labels for {self._count} interests")
        if labels.min(initial=0) < 0 or labels.max(initial=0) >= len(self._gone):
            raise ValueError(
                "labels are below the number of interests, and not negative"
            )
        return labels if len(labels) > 1 else np.append(labels, labels)


def _require_good(counts: Ints) -> None:
    reason = -int(counts[0])
    if reason > 0:
        raise InvalidNotificationError(f"no notification: {BLOCK_ERRORS[reason]}")


def _match_masks(
    view: View, blocks: bytes | memoryview, offsets: Longs, is_open: Bools
) -> Matches:
    wanted = sum(1 << label for label in np.flatnonzero(is_open).tolist())
    always = {int(view.labels[number]) for number in view.always}
    mask = np.uint64(sum(1 << label for label in always) & wanted)
    found = np.full(len(offsets) - 1, mask, np.uint64)
    bad = np.zeros(len(offsets) - 1, np.int32)
    for engine in view.engines:
        bad, masks = engine.match_masks(blocks, offsets, wanted)
        found |= masks
    if view.fresh is not None:
        is_good = (bad >= 0).tolist()
        masks = view.fresh.match_masks(blocks, offsets, is_good, view.labels)
        found |= masks & np.uint64(wanted)
    out = np.empty(len(found) * len(is_open) + 1, np.int32)
    counts = np.empty_like(bad)
    count = spread(found, bad, len(is_open), out, counts)
    return Matches(counts, out[:count])
