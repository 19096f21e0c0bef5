"""Assurance: whether all that an acknowledged publication goes to has a store.

A neighbour without a store is known by its link.  Brokers further on are not; so every
broker tells its neighbours, with UNASSURED, what is wanted by way of it and has a
broker without a store on its way.  What matches that is refused where it is published.

Not within a mesh: what goes around there would be told for ever.  Behind a neighbour of
a mesh, such a broker is found when a publication gets there (``relay_unassured``).
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice

import numpy as np
import numpy.typing as npt

from siena.broker.peers.link import Link
from siena.errors import SienaError
from siena.lang.parser import parse_filter
from siena.matching.table import ForwardingTable
from siena.messages import Side
from siena.messages.requests import text_of
from siena.model import Filter
from siena.protocol.durable.receipts import Unassured
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.limits import UNASSURED_CHARACTERS_MAX, UNASSURED_MAX

EVERYTHING = "[]"
NOTHING = Unassured([], "")


class Assurance:
    """What may not be acknowledged, because of brokers behind links.

    Args:
        links: all links of this broker, by the number of the neighbour.
    """

    def __init__(self, links: Callable[[], Mapping[int, Link]]) -> None:
        self._links = links
        # What neighbours without a store want.
        self._wanted: dict[int, Counter[Filter]] = {}
        # What neighbours say of those behind them; and what they were told.
        self._heard: dict[int, Unassured] = {}
        self._told: dict[int, Unassured] = {}
        self._table: ForwardingTable | None = None
        # Of each filter in the table, the neighbour that has said it.
        self._numbers: dict[int, int] = {}
        self._is_due = False

    # --- What changes ---------------------------------------------------------------

    def link_up(self, link: Link) -> None:
        """There is a link: what its neighbour said before counts no more."""
        self._told.pop(link.number, None)
        if self._heard.pop(link.number, None) is not None:
            self._table = None
        self._schedule()

    def link_down(self, link: Link) -> None:
        """A link has gone.  What was heard stays, as what its neighbour wants does."""
        self._told.pop(link.number, None)
        self._schedule()

    def given_up(self, number: int) -> None:
        """A neighbour is waited for no more, and nothing goes by way of it."""
        if self._heard.pop(number, None) is not None:
            self._table = None

    def wanted(self, hop: int, item: Filter, *, gained: bool) -> None:
        """What a neighbour wants has changed; it counts if that has no store."""
        link = self._links().get(hop)
        if gained and (link is None or link.is_relaying):
            return
        counts = self._wanted.get(hop)
        if counts is None:
            if not gained:
                return
            counts = self._wanted[hop] = Counter()
        counts[item] += 1 if gained else -1
        if counts[item] <= 0:
            del counts[item]
        if not counts:
            del self._wanted[hop]
        self._schedule()

    def hear(self, body: Unassured, link: Link) -> None:
        """A neighbour says what is not assured behind it.

        Raises:
            ProtocolError: if that are no filters.
        """
        try:
            for text in body.filters:
                parse_filter(text)
        except SienaError as error:
            raise ProtocolError.because(Fault.BAD_INTEREST, error) from None
        self._heard[link.number] = body
        self._table = None
        self._schedule()

    # --- Telling --------------------------------------------------------------------

    def _schedule(self) -> None:
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._tell)

    def _tell(self) -> None:
        self._is_due = False
        for number, link in self._links().items():
            if link.hears_unassured and link.side is not Side.MESH:
                found = self._behind_us(number)
                if found != self._told.get(number, NOTHING):
                    self._told[number] = found
                    link.connection.reply(found.pack())

    def _behind_us(self, asker: int) -> Unassured:
        """What one neighbour is told of all others."""
        found: dict[str, None] = {}
        size, broker = 0, ""
        for name, texts in self._parts(asker):
            broker = broker or name
            for text in islice(texts, UNASSURED_MAX + 1):
                size += 0 if text in found else len(text)
                found[text] = None
            if len(found) > UNASSURED_MAX or size > UNASSURED_CHARACTERS_MAX:
                return Unassured([EVERYTHING], broker)
        if EVERYTHING in found:
            return Unassured([EVERYTHING], broker)
        return Unassured(sorted(found), broker) if found else NOTHING

    def _parts(self, asker: int) -> Iterator[tuple[str, Iterator[str]]]:
        """Brokers without a store, each with what goes to it, or by way of it."""
        for number, link in self._links().items():
            if number == asker:
                continue
            if link.is_relaying:
                heard = self._heard.get(number, NOTHING)
                if heard.filters:
                    yield heard.broker, iter(heard.filters)
            elif link.side is Side.MASTER:
                yield link.name, iter([EVERYTHING])
            elif number in self._wanted:
                yield link.name, (text_of(item) for item in self._wanted[number])

    # --- Refusing -------------------------------------------------------------------

    @property
    def is_needed(self) -> bool:
        """Whether anything is not assured behind a neighbour."""
        return any(heard.filters for heard in self._heard.values())

    def refusal(
        self, blocks: bytes, bounds: npt.NDArray[np.int64]
    ) -> ProtocolError | None:
        """Why some publications cannot be acknowledged, if one goes to such a one."""
        if self._table is None:
            self._compile()
        assert self._table is not None
        found = self._table.match_buffer(blocks, bounds).filters
        if not len(found):
            return None
        number = self._numbers[int(found[0])]
        link = self._links().get(number)
        by_way_of = "" if link is None else f", by way of {link.name}"
        name = self._heard[number].broker
        text = (
            f"it goes to the broker {name}{by_way_of}, which has no store, and cannot "
            f"be acknowledged; start {name} with --log"
        )
        return ProtocolError(Fault.NO_STORE, text)

    def _compile(self) -> None:
        self._table, self._numbers = ForwardingTable(), {}
        for number, heard in self._heard.items():
            for text in heard.filters:
                self._numbers[self._table.add(0, parse_filter(text))] = number
