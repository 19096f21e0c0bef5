"""Licences: what sources may publish, decided where publications are matched.

The filters of a grant to publish are interests in the table of the exchange, of no
client: a publication that its source may make matches one of them.  So the call that
finds out who wants a batch also finds out whether it may be published, and no block is
read twice.

Where grants overlap so much that a publication matches many of them, each gets a table
of its own, and a batch is looked at once more before it is routed.
"""

from collections import OrderedDict
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from siena.broker.data.exchange import Exchange
from siena.matching.table import ForwardingTable
from siena.model import Filter, Predicate
from siena.protocol.fast.kernels.framing import unframe
from siena.protocol.fast.split_frames import PublishRun

# How many filters of licences a publication may match, on average of a batch, before
# licences are kept apart.
OVERLAP_MAX = 8
# Licences that are remembered although no connection has them: those of requests.
IDLE_MAX = 1_024

Flags = npt.NDArray[np.bool_]


class Licence:
    """What some sources may publish: one predicate, however many have it."""

    def __init__(self, predicate: Predicate) -> None:
        self.predicate = predicate
        self.users = 0
        self.number: int | None = None
        """By which number the exchange knows it, if it does."""
        self._table: ForwardingTable | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing may be published at all."""
        return not self.predicate.filters

    def allows(self, run: PublishRun) -> Flags:
        """Of each publication whether it may be made; what is bad, may."""
        offsets = np.zeros(run.total + 1, np.int64)
        blocks = unframe(run.frames, run.start, offsets)
        return self._allowed(blocks, offsets)

    def allows_blocks(self, blocks: Sequence[bytes]) -> Flags:
        """The same, of blocks."""
        offsets = np.zeros(len(blocks) + 1, np.int64)
        np.cumsum([len(block) for block in blocks], out=offsets[1:])
        return self._allowed(b"".join(blocks), offsets)

    def _allowed(self, blocks: bytes, offsets: npt.NDArray[np.int64]) -> Flags:
        if self._table is None:
            self._table = ForwardingTable()
            self._table.add(0, self.predicate)
        # Below 0 is what is no notification: why not is found out in routing.
        allowed: Flags = self._table.match_buffer(blocks, offsets).counts != 0
        return allowed


class Licences:
    """The licences of all sources of a broker.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> licences = Licences(Exchange())
    >>> licences.take(parse("[]")) is None  # nothing to decide
    True
    >>> licences.take(parse("x = 1")) is licences.take(parse("x = 1"))
    True
    """

    def __init__(self, exchange: Exchange) -> None:
        self._exchange = exchange
        self._known: OrderedDict[Predicate, Licence] = OrderedDict()
        self._idle = 0
        self.is_apart = False
        """Whether each is decided for itself, because too many overlap."""

    def take(self, predicate: Predicate) -> Licence | None:
        """The licence for a source, which gives it back in the end; None for all."""
        licence = self.find(predicate)
        if licence is not None:
            self._idle -= licence.users == 0
            licence.users += 1
            # Now: what many may is compiled with what they subscribe to.
            self.number_of(licence)
        return licence

    def give(self, licence: Licence | None) -> None:
        """A source needs it no longer."""
        if licence is None:
            return
        licence.users -= 1
        if not licence.users:
            self._idle += 1
            self._withdraw(licence)
            self._forget_idle()

    def find(self, predicate: Predicate) -> Licence | None:
        """The licence, for a decision here and now."""
        if Filter() in predicate.filters:
            return None
        licence = self._known.get(predicate)
        if licence is None:
            licence = self._known[predicate] = Licence(predicate)
            self._idle += 1
            self._forget_idle()
        return licence

    def number_of(self, licence: Licence) -> int | None:
        """By which number the exchange decides it; None if it is to be asked."""
        if licence.number is None and not self.is_apart:
            licence.number = self._exchange.license(licence.predicate)
        return licence.number

    def keep_apart(self) -> None:
        """Too many overlap: from now on each is asked for itself."""
        self.is_apart = True
        for licence in self._known.values():
            self._withdraw(licence)

    def _withdraw(self, licence: Licence) -> None:
        if licence.number is not None:
            self._exchange.unlicense(licence.number)
            licence.number = None

    def _forget_idle(self) -> None:
        if self._idle <= IDLE_MAX:
            return
        for predicate, licence in list(self._known.items()):
            if not licence.users:
                del self._known[predicate]
        self._idle = 0
