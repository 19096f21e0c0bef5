"""What is acknowledged goes on: from the log to the neighbours that want it.

Nothing is sent that the disk has not: otherwise an offset could be given again that
another broker knows already.  Neighbours that are as far as each other are served
together, and the log is read, and matched, once for them.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from siena.block import decode
from siena.broker.data.exchange import Exchange, Ints, Key
from siena.broker.durable.limits import RELAY_FRAME_BYTES
from siena.broker.durable.page import RETRY_SECONDS, Page, Pages
from siena.broker.durable.receipts.publishers import Publishers, publisher_of
from siena.broker.durable.relays.relay import Relay
from siena.broker.log.records import Record
from siena.broker.log.segment import Gap
from siena.broker.log.stores.log_store import LogStore
from siena.protocol.fast.relay_runs import SPAN_MAX, RelayRun
from siena.protocol.fast.split_frames import run_of
from siena.routing.forwarding import hops_of_relay

log = logging.getLogger("siena.broker")


class _Stamps(NamedTuple):
    """Where the publications of a record entered: broker, life, the first's number."""

    broker: int
    life: int
    number: int


class Sending:
    """Serves relays from the log.

    Args:
        me: the number of this broker.
        end: up to where the disk has the log.
        on_dropped: called with a relay of which all is counted that it will not get.
        on_lost: called with relays that do not get some offsets, which are damaged.
    """

    def __init__(
        self,
        me: int,
        store: LogStore,
        publishers: Publishers,
        exchange: Exchange,
        end: Callable[[], int],
        on_dropped: Callable[[Relay], None],
        on_lost: Callable[[Iterable[Relay], Gap], None],
    ) -> None:
        self._me = me
        self._pages = Pages(store, RELAY_FRAME_BYTES)
        self._publishers = publishers
        self._exchange = exchange
        self._end = end
        self._on_dropped = on_dropped
        self._on_lost = on_lost
        self.relays: dict[int, Relay] = {}
        """All that there are, by the number of the neighbour."""
        self._is_due = False
        # Where the log could not be read a moment ago, and where it cannot be.
        self._paused: set[int] = set()
        self._troubled: set[int] = set()
        self.is_closed = False

    def wake(self) -> None:
        """Send what there is to send, soon."""
        if not self._is_due and self.relays and not self.is_closed:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._step)

    def _step(self) -> None:
        """Read some of the log for those who are furthest behind."""
        self._is_due = False
        end = self._end()
        served = [
            relay
            for relay in self.relays.values()
            if relay.is_served
            and relay.position < end
            and relay.position not in self._paused
        ]
        if self.is_closed or not served:
            return
        start = min(relay.position for relay in served)
        stop = min((r.position for r in served if r.position > start), default=end)
        parcels = {r: _Parcel(r) for r in served if r.position == start}
        try:
            page = self._pages.read(start)
            self._offer_page(page, start, min(stop, end), parcels)
        except Exception as error:  # noqa: BLE001 -- said, and tried again
            self._pause(start, error)
            return
        finally:
            for parcel in parcels.values():
                parcel.send()
        self._say_if_all_is_well(start)
        for relay in parcels:
            if relay.drop_below and not relay.is_dropping:
                relay.drop_below = 0
                self._on_dropped(relay)
        self.wake()

    def _say_if_all_is_well(self, start: int) -> None:
        """Say that the log can be read, where it could not and is still wanted."""
        if not self._troubled:
            return
        wanted = {relay.position for relay in self.relays.values()}
        for place in self._troubled - (wanted - {start}):
            self._troubled.discard(place)
            self._pages.forget(place)
        if not self._troubled:
            log.warning("the log can be read again for neighbours")

    def _pause(self, start: int, error: Exception) -> None:
        """Go on there a little later, and not before; others go on now."""
        if not isinstance(error, OSError):
            log.error("a mistake of ours, at what neighbours get", exc_info=error)
        else:
            if not self._troubled:  # said once, not every second
                log.warning("neighbours wait: the log cannot be read: %s", error)
            self._troubled.add(start)

        def go_on() -> None:
            self._paused.discard(start)
            self.wake()

        self._paused.add(start)
        asyncio.get_running_loop().call_later(RETRY_SECONDS, go_on)
        self.wake()

    def _offer_page(
        self, page: Page, start: int, stop: int, parcels: "dict[Relay, _Parcel]"
    ) -> None:
        riders = list(parcels)
        for record in page.records:
            if record.first >= stop or not riders:
                break
            self._offer(record, [parcels[relay] for relay in riders])
            for relay in riders:
                relay.position = record.end
            riders = [relay for relay in riders if relay.is_served]
        at = min(page.end, stop)
        for relay in riders:
            relay.position = max(relay.position, at)
        if page.lost is not None:
            self._on_lost(riders, Gap(start, at))

    def _offer(self, record: Record, parcels: "list[_Parcel]") -> None:
        whose = publisher_of(record.tag)
        if whose is None:
            return  # no publisher was told that it is stored
        known = self._publishers.find(whose[0])
        stream = None if known is None or record.first < known.since else known.stream
        if stream is None:
            life = self._publishers.life_of(record.first)
            stamps = _Stamps(self._me, life, record.first)
        else:
            stamps = _Stamps(stream.broker, stream.life, whose[1])
        source = None if stream is None else stream.source
        bounds = record.offsets()
        wanted = dict(self._exchange.others_of(record.blocks, bounds))
        for parcel in parcels:
            if parcel.relay.number == source:
                continue
            chosen = _chosen(parcel.relay, wanted, len(record.lengths))
            chosen = chosen[chosen + record.first >= parcel.relay.position]
            for index in chosen.tolist():
                block = bytes(record.blocks[bounds[index] : bounds[index + 1]])
                parcel.add(record, stamps, index, block)


def _chosen(relay: Relay, wanted: Mapping[Key, Ints], total: int) -> Ints:
    """What of a record goes to a neighbour."""
    hops = hops_of_relay(relay.number, relay.side)
    if hops is None:
        return np.arange(total, dtype=np.int32)
    found = [wanted[hop] for hop in hops if hop in wanted]
    if not found:
        return np.empty(0, np.int32)
    return found[0] if len(found) == 1 else np.union1d(*found).astype(np.int32)


class _Parcel:
    """What is sent to a neighbour together: publications of one life of a broker."""

    def __init__(self, relay: Relay) -> None:
        self.relay = relay
        self._exports = None if relay.link is None else relay.link.exports
        self._stamps: _Stamps | None = None
        self._numbers: list[int] = []
        self._blocks: list[bytes] = []
        self._size = self._first = self._time = 0

    def add(self, record: Record, stamps: _Stamps, index: int, block: bytes) -> None:
        """One more of a record, unless the neighbour may not have it, or has waited."""
        if self.relay.is_dropping:
            self.relay.dropping += 1
            return
        if self._exports is not None and not self._exports.matches(decode(block)):
            return
        number = stamps.number + index
        is_same = self._stamps is not None and self._stamps[:2] == stamps[:2]
        is_next = is_same and number - self._numbers[-1] > 0
        is_near = is_next and number - self._numbers[0] <= SPAN_MAX
        if not is_near or self._size + len(block) > RELAY_FRAME_BYTES:
            self.send()
        if not self._blocks:
            self._stamps, self._time = stamps, record.time
            self._first = record.first + index
        self._numbers.append(number)
        self._blocks.append(block)
        self._size += len(block)

    def send(self) -> None:
        """Send what there is."""
        relay = self.relay
        if self._blocks and relay.link is not None and self._stamps is not None:
            frame = relay.sent(self._size, self._first)
            base = self._numbers[0]
            numbers = np.array(self._numbers, np.int64) - base
            run = RelayRun(
                *(frame, *self._stamps[:2], base, self._time),
                *(numbers.astype(np.uint32), run_of(self._blocks)),
            )
            relay.relayed += len(self._blocks)
            relay.link.relay(run.pack(), len(self._blocks))
        self._numbers, self._blocks, self._size = [], [], 0
