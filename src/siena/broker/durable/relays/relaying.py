"""Relaying: what is acknowledged reaches the brokers that want it, whatever breaks.

A neighbour whose link breaks is *missed*: what it wanted stays wanted, and what is
acknowledged meanwhile stays in the log for it, for so long and so much as the settings
say.  What is then dropped is counted, and told as a gap to those behind the neighbour
when it is back.  All this outlives the broker.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from siena.broker.data.publish_batch import PublishBatch
from siena.broker.durable.limits import RELAY_GRACE_SECONDS, RELAYS_GONE_MAX
from siena.broker.durable.losses import Losses
from siena.broker.durable.receipts.publishers import Publishers
from siena.broker.durable.relays.assurance import Assurance
from siena.broker.durable.relays.receiving import Receiving
from siena.broker.durable.relays.relay import Relay
from siena.broker.durable.relays.relay_file import RelayFile
from siena.broker.durable.relays.sending import Sending
from siena.broker.log.journal import Journal
from siena.broker.log.limits import TICK_SECONDS
from siena.broker.log.segment import Gap
from siena.broker.peers.link import Link
from siena.broker.state import BrokerState
from siena.messages.requests import text_of
from siena.model import Filter
from siena.protocol.durable.receipts import Relayed, Unassured
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.kernels.framing import unframe
from siena.protocol.fast.relay_runs import RelayRun
from siena.protocol.fast.split_frames import PublishRun
from siena.routing.forwarding import brokers_among
from siena.routing.steps.leaving import present

log = logging.getLogger("siena.broker")


class Relaying:
    """Relays to neighbours, and what they relay.

    Ownership: of the file of relays in the folder, from making it to :meth:`close`.

    Args:
        waits: whether something is stored only when the disk has it.
        losses: counts what the log has lost.
    """

    def __init__(
        self,
        state: BrokerState,
        publications: PublishBatch,
        journal: Journal,
        publishers: Publishers,
        folder: Path,
        losses: Losses,
        *,
        waits: bool,
    ) -> None:
        self._state = state
        self._journal = journal
        self._losses = losses
        self._waits = waits
        self.tell_gap: Callable[[Link, float, str], None] = lambda *_: None
        """Called with a link behind which something is missed, since when, and why."""
        self.sending = Sending(
            *(state.router.me, journal.store, publishers, state.exchange),
            *(self._end, self._dropped, self._lost),
        )
        self._receiving = Receiving(
            *(state, publications, journal, publishers),
            waits=waits,
            on_synced=self.sending.wake,
        )
        self.assurance = Assurance(self._real_links)
        """What may not be acknowledged, because of brokers further on."""
        self._file = RelayFile(folder, self.sending.relays.values)
        for relay in self._file.read():
            self.sending.relays[relay.number] = relay
        # What a neighbour has was there, whatever the machine has forgotten.
        journal.store.skip_to(max((r.low for r in self._relays), default=0))
        self._positions: dict[int, int] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._is_changed = False

    def _real_links(self) -> dict[int, Link]:
        links = self._state.links.items()
        return {n: link for n, link in links if isinstance(link, Link)}

    @property
    def _relays(self) -> list[Relay]:
        return list(self.sending.relays.values())

    def start(self) -> None:
        """Wait for those who were neighbours in another life."""
        now = self._state.clock.now()
        self._state.on_wanted = self._wanted
        for relay in self._relays:
            wanted, relay.missed_since = list(relay.wanted), relay.missed_since or now
            # While this broker was not there, nobody could come back to it.
            relay.missed_from = self._state.clock.elapsed()
            relay.wanted.clear()
            if not relay.is_given_up:
                router = self._state.router
                self._state.post(router.leaving.wait_for(relay.number, wanted))
        self._file.begin()
        self._tick()

    async def close(self) -> None:
        """Write down how far all streams are."""
        self.sending.is_closed = self._receiving.is_closed = True
        if self._timer is not None:
            self._timer.cancel()
        await self._file.close()

    # --- Links ----------------------------------------------------------------------

    def link_up(self, link: Link) -> None:
        """There is a link to a neighbour."""
        self.assurance.link_up(link)
        if not link.is_relaying:
            return
        relay = self.sending.relays.get(link.number)
        latest = self._journal.store.latest
        if relay is None:
            relay = Relay(link.number, link.name, link.side, latest)
            self.sending.relays[link.number] = relay
        is_missed, since = relay.missed_since is not None, relay.missed_since
        if relay.is_given_up:
            relay.position = latest
        relay.name, relay.side = link.name, link.side
        relay.begin(link)
        self._receiving.begin(link.number, link.connection)
        if relay.dropped and since is not None:
            text = f"{relay.dropped} acknowledged publications were not kept any longer"
            self.tell_gap(link, since, f"{text} at {self._state.name}")
            relay.dropped = 0
        self._file.save(relay)
        if is_missed:
            loop = asyncio.get_running_loop()
            loop.call_later(RELAY_GRACE_SECONDS, self._settle, relay, link)
        self.sending.wake()

    def link_down(self, link: Link) -> bool:
        """A link has gone; whether the neighbour is waited for."""
        self.assurance.link_down(link)
        relay = self.sending.relays.get(link.number)
        if relay is None or relay.link is not link or self.sending.is_closed:
            return False
        relay.end(self._state.clock.now(), self._state.clock.elapsed())
        self._receiving.end(link.number)
        self._file.save(relay)
        return True

    def _settle(self, relay: Relay, link: Link) -> None:
        """It has been back for a while, and has said what it wants."""
        if relay.link is link and not self.sending.is_closed:
            self._state.post(self._state.router.leaving.give_up(relay.number))

    def take(self, run: RelayRun, link: Link) -> None:
        """A neighbour relays something."""
        link.counters.received += run.publications.total
        self._receiving.take(link.number, run)

    def answered(self, body: Relayed, link: Link) -> None:
        """A neighbour has stored something."""
        relay = self.sending.relays.get(link.number)
        if relay is None or relay.link is not link:
            return
        try:
            relay.answered(body.frame)
        except ValueError as error:
            raise ProtocolError(Fault.BAD_FRAME, str(error)) from None
        self.sending.wake()
        if self._journal.holds:  # those who wait for room in the log
            self._journal.look_for_room()

    def unassured(self, body: Unassured, link: Link) -> None:
        """A neighbour says what goes to brokers without a store."""
        self.assurance.hear(body, link)

    # --- What neighbours want -------------------------------------------------------

    def _wanted(self, hop: int, item: Filter, gained: bool) -> None:  # noqa: FBT001 -- as watchers have it
        self.assurance.wanted(hop, item, gained=gained)
        relay = self.sending.relays.get(present(hop))
        if relay is not None:
            relay.changed(item, gained=gained, tell=self._write_later(relay))

    def _write_later(self, relay: Relay) -> Callable[[Filter, bool], None]:
        def tell(item: Filter, gained: bool) -> None:  # noqa: FBT001
            self._file.save_wanted(relay.number, text_of(item), gained=gained)
            if not self._is_changed and not self.sending.is_closed:
                self._is_changed = True
                asyncio.get_running_loop().call_soon(self._write)

        return tell

    def _write(self) -> None:
        self._is_changed = False
        if not self.sending.is_closed:
            self._file.flush()

    def refusal(self, run: PublishRun) -> ProtocolError | None:
        """Why some publications cannot be acknowledged: a broker has no store.

        The next one, or one behind it.
        """
        state = self._state
        storeless = {n for n, link in state.links.items() if not link.is_relaying}
        if not storeless and not self.assurance.is_needed:  # as it should be
            return None
        bounds = np.zeros(run.total + 1, np.int64)
        blocks = unframe(run.frames, run.start, bounds)
        hops = {k for k, _ in state.exchange.others_of(blocks, bounds)}
        tables = state.router.tables
        found = brokers_among(
            tables, {k for k in hops if isinstance(k, int)}, "a client", tables.me
        )
        for number in found:
            if number in storeless:
                name = state.links[number].name
                text = (
                    f"it goes to the broker {name}, which has no store, and cannot be "
                    f"acknowledged; start {name} with --log"
                )
                return ProtocolError(Fault.NO_STORE, text)
        return self.assurance.refusal(blocks, bounds)

    # --- Bounds ---------------------------------------------------------------------

    def floor(self, latest: int) -> int:
        """The first offset that a neighbour needs."""
        lows = (r.low for r in self._relays if not r.is_given_up)
        return min(lows, default=latest)

    def _end(self) -> int:
        journal = self._journal
        return journal.group_commit.synced if self._waits else journal.store.latest

    def _tick(self) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(TICK_SECONDS, self._tick)
        settings, now = self._state.settings.durable, self._state.clock.elapsed()
        for relay in self._relays:
            if self._positions.get(relay.number) != relay.low:
                self._positions[relay.number] = relay.low
                self._file.save_position(relay)
            if relay.link is not None or relay.is_given_up or relay.is_dropping:
                continue
            if now - relay.missed_from > settings.spool_seconds:
                relay.is_given_up = True
                self._drop(relay, self._journal.store.latest)
            else:
                self._drop(relay, self._room_for())
        self.sending.wake()

    def _room_for(self) -> int:
        """The first offset that is kept for a neighbour that is missed."""
        log_bytes = self._state.settings.log.bytes
        most = self._state.settings.durable.spool_bytes or log_bytes // 2
        return self._journal.store.last_bytes_from(most)

    def _drop(self, relay: Relay, below: int) -> None:
        """Do not keep what is below an offset any longer; count what it was."""
        if relay.position < below:
            relay.drop_below = below
            self.sending.wake()
        elif relay.is_given_up:
            self._dropped(relay)

    def _dropped(self, relay: Relay) -> None:
        """All that is dropped is counted."""
        if relay.is_given_up:
            log.warning("%s was waited for long enough", relay.name)
            self.assurance.given_up(relay.number)
            self._state.post(self._state.router.leaving.give_up(relay.number))
        count, relay.dropping = relay.dropping, 0
        if count:
            log.warning(
                "%d acknowledged publications are not kept for %s any longer",
                *(count, relay.name),
            )
            relay.dropped += count
            self._state.counters.relay_dropped += count
        self._file.save(relay)
        if relay.is_given_up:
            self._forget_oldest()
        self._journal.look_for_room()

    def _forget_oldest(self) -> None:
        """Of those that are waited for no more, remember so many."""
        gone = [r for r in self._relays if r.is_given_up and r.link is None]
        if len(gone) > RELAYS_GONE_MAX:
            oldest = min(gone, key=lambda relay: relay.missed_since or 0.0)
            del self.sending.relays[oldest.number]
            self._positions.pop(oldest.number, None)
            self._file.rewrite()

    def _lost(self, relays: Iterable[Relay], lost: Gap) -> None:
        """The log has lost what some neighbours would have got: they are told."""
        for relay in relays:
            gap = self._losses.of_log(lost, relay.name)
            if isinstance(relay.link, Link):
                self.tell_gap(relay.link, gap.start / 1e6, gap.reason)
            else:
                relay.dropping += lost.end - lost.first

    def snapshot(self) -> list[dict[str, object]]:
        """What there is to know."""
        latest = self._journal.store.latest
        return [
            {
                "neighbour": relay.name,
                "is_up": relay.link is not None,
                "lag": 0 if relay.is_given_up else latest - relay.low,
                "under_way": relay.in_flight,
                "relayed": relay.relayed,
                "dropped": relay.dropped,
                "filters": len(relay.wanted),
            }
            for relay in self._relays
        ]
