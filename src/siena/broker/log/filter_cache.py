"""Filters over records, matched by the engine that routes notifications."""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from siena.block import decode
from siena.broker.log.limits import RECORD_FILTERS_MAX
from siena.broker.log.records import Record
from siena.errors import LimitError, SienaError
from siena.lang.parser import parse_interest
from siena.matching.table import ForwardingTable
from siena.model import Filter, Pattern, Predicate
from siena.model.expression.residual import ResidualPredicate
from siena.protocol.error_codes import Fault, ProtocolError


class RecordFilter:
    """One filter, or several of which one is enough."""

    def __init__(self, text: str | Predicate) -> None:
        interest = _read(text) if isinstance(text, str) else text
        self.interest: Filter | Predicate = interest
        """What it lets through, maybe with a residual."""
        self._table = ForwardingTable()
        self._table.add(0, interest)
        self._residual = interest if isinstance(interest, ResidualPredicate) else None

    def counts(self, blocks: Sequence[bytes]) -> list[int]:
        """Of each block whether it is let through; below 0 if it is bad."""
        offsets = np.zeros(len(blocks) + 1, np.int64)
        np.cumsum([len(block) for block in blocks], out=offsets[1:])
        found = self._table.match_buffer(b"".join(blocks), offsets)
        counts = [int(count) for count in found.counts]
        if self._residual is None:
            return counts
        return [
            count if count <= 0 or self._lets_through(block) else 0
            for count, block in zip(counts, blocks, strict=True)
        ]

    def select(
        self, record: Record, among: npt.NDArray[np.bool_] | None = None
    ) -> npt.NDArray[np.bool_]:
        """Which notifications of a record it lets through; maybe of some of them.

        Of the others nothing is computed: the time that it takes tells what they are.
        """
        offsets = record.offsets()
        found = self._table.match_buffer(record.blocks, offsets)
        selected: npt.NDArray[np.bool_] = found.counts > 0
        if among is not None:
            selected &= among
        if self._residual is not None:
            for index in np.flatnonzero(selected).tolist():
                block = record.blocks[offsets[index] : offsets[index + 1]]
                selected[index] = self._lets_through(bytes(block))
        return selected

    def _lets_through(self, block: bytes) -> bool:
        assert self._residual is not None
        try:
            return self._residual.lets_through(decode(block))
        except LimitError:  # of what it computes; then it is not known to hold
            return False


def _read(text: str) -> Filter | Predicate:
    try:
        interest = parse_interest(text, residuals=True)
    except SienaError as error:
        raise ProtocolError.because(Fault.BAD_INTEREST, error) from None
    if isinstance(interest, Pattern):
        raise ProtocolError(
            Fault.BAD_INTEREST, "the log is read with a filter, not with a pattern"
        )
    return interest


class FilterCache:
    """Those that were used last."""

    def __init__(self) -> None:
        self._known: OrderedDict[str | Predicate, RecordFilter] = OrderedDict()

    def of(self, text: str) -> RecordFilter:
        """The filter of a text.

        Raises:
            ProtocolError: if it is no filter.
        """
        return self._of(text)

    def of_grant(self, heard: Predicate) -> RecordFilter:
        """The filter of what a principal may hear."""
        return self._of(heard)

    def _of(self, text: str | Predicate) -> RecordFilter:
        found = self._known.pop(text, None) or RecordFilter(text)
        self._known[text] = found
        if len(self._known) > RECORD_FILTERS_MAX:
            self._known.popitem(last=False)
        return found
