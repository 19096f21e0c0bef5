"""The durable service of a broker: what clients ask for who must not lose anything."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from siena.broker.access.principal import LOCAL
from siena.broker.clients.requests import Requests
from siena.broker.clients.session import Session
from siena.broker.data.batch import Source
from siena.broker.data.licences import Licence
from siena.broker.data.publish_batch import PublishBatch
from siena.broker.durable.cursors.blocks import Blocks
from siena.broker.durable.cursors.cursor import Cursor
from siena.broker.durable.cursors.finder import Finder
from siena.broker.durable.cursors.registry import Cursors
from siena.broker.durable.losses import Losses
from siena.broker.durable.owners import check_owner, heard_by
from siena.broker.durable.reading import Reading
from siena.broker.durable.receipts.acknowledging import Acknowledging
from siena.broker.durable.receipts.publishers import Publishers
from siena.broker.durable.receipts.refusing import refuse
from siena.broker.durable.relays.relaying import Relaying
from siena.broker.durable.subscribing import Subscribing
from siena.broker.io.backpressure import Holder
from siena.broker.log.journal import Journal
from siena.broker.log.segment import Gap
from siena.broker.state import BrokerState
from siena.protocol.durable.reading import Ack, DurableSubscribe, Forget, Nak, Seek
from siena.protocol.durable.receipts import Publisher
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.acked_runs import AckedRun
from siena.protocol.fast.split_frames import PublishRun, run_of
from siena.protocol.frames import Body
from siena.protocol.handshake import DURABLE, RELAY, UNASSURED

log = logging.getLogger("siena.broker")

NO_STORE = "this broker has no store, and cannot acknowledge; start it with --log"


class DurableService:
    """Carries out what must not be lost; without a log, refuses it.

    Ownership: of its files in the folder of the log, from making it to :meth:`close`.
    """

    def __init__(
        self,
        state: BrokerState,
        publications: PublishBatch,
        requests: Requests,
        journal: Journal | None,
        folder: Path | None,
    ) -> None:
        self._state = state
        self._journal = journal
        self._publishers: Publishers | None = None
        self._cursors: Cursors | None = None
        self._finder: Finder | None = None
        self.reading: Reading | None = None
        self._subscribing: Subscribing | None = None
        self.relaying: Relaying | None = None
        self._publications = publications
        self.acknowledging: Acknowledging | None = None
        if journal is not None and folder is not None:
            epoch = state.router.epoch
            self._publishers = Publishers(journal, folder, epoch)
            waits = state.settings.durable.sync == "always"
            self.acknowledging = Acknowledging(
                publications, journal, self._publishers, waits=waits
            )
            losses = Losses(state, journal.store)
            self._open_cursors(state, requests, journal, folder, losses)
            self.relaying = relaying = Relaying(
                *(state, publications, journal, self._publishers, folder, losses),
                waits=waits,
            )
            self.acknowledging.refusal = relaying.refusal
            self.acknowledging.on_synced = relaying.sending.wake
            journal.durable_floor = self._floor
        else:
            for kind in (DurableSubscribe, Ack, Nak, Seek, Forget):
                requests.add(kind, _refuse)
        requests.add(Publisher, self._register)
        requests.publish_acked = self._publish

    def _open_cursors(
        self,
        state: BrokerState,
        requests: Requests,
        journal: Journal,
        folder: Path,
        losses: Losses,
    ) -> None:
        store = journal.store
        self._cursors = cursors = Cursors(folder, store.latest)
        store.skip_to(cursors.known)
        cursors.tail = store.latest
        self._blocks = blocks = Blocks(store)
        self._finder = finder = Finder(store, self._found, self._lost)
        self.reading = Reading(
            *(cursors, finder, blocks, self._publish_letter, losses),
            partial(heard_by, state),
        )
        self._subscribing = Subscribing(
            state, requests, journal, cursors, finder, self.reading
        )
        journal.on_append = self._appended

    def _floor(self, latest: int) -> int:
        """The first offset that a durable subscription, or a neighbour, needs."""
        assert self._cursors is not None
        assert self.relaying is not None
        return min(self._cursors.floor(latest), self.relaying.floor(latest))

    def start(self) -> None:
        """Go on with what was asked for in another life."""
        if self._subscribing is not None:
            self._subscribing.start()
        if self.relaying is not None:
            self.relaying.start()

    @property
    def features(self) -> tuple[str, ...]:
        """What INFO says about it."""
        return () if self.acknowledging is None else (DURABLE, RELAY, UNASSURED)

    async def close(self) -> None:
        """Write down what is remembered."""
        if self._publishers is not None:
            await self._publishers.close()
        if self.relaying is not None:
            await self.relaying.close()
        if self._finder is not None and self.reading is not None:
            self._finder.is_closed = True
            self.reading.close()
        if self._cursors is not None:
            await self._cursors.close()

    # --- Durable subscriptions ------------------------------------------------------

    def _appended(
        self, first: int, time: int, blocks: bytes, bounds: npt.NDArray[np.int64]
    ) -> None:
        """A record was written."""
        assert self._finder is not None
        assert self._cursors is not None
        if not len(self._cursors):  # most brokers
            self._finder.tail = self._cursors.tail = first + len(bounds) - 1
            return
        try:
            self._blocks.appended(first, time, blocks, bounds)
            self._finder.appended(first, blocks, bounds)
        except Exception:  # it is written, and will be found
            log.exception("a mistake of ours, at what durable subscriptions want")
            self._finder.stumbled()
        self._cursors.tail = self._finder.tail

    def _found(self, cursors: set[Cursor]) -> None:
        assert self.reading is not None
        self.reading.found(cursors)

    def _lost(self, cursors: set[Cursor], lost: Gap) -> None:
        assert self.reading is not None
        self.reading.lost(cursors, lost)

    def _publish_letter(self, block: bytes, then: Callable[[bool], None]) -> None:
        """Publish a dead letter, and say whether the disk has it."""
        assert self._journal is not None
        receipt = LetterReceipt(self._journal, then)
        self._publications.add(LetterBox(), run_of([block]), receipt)
        asyncio.get_running_loop().call_soon(self._publications.flush)

    def ack(self, owner: str, name: str, offsets: list[int], up_to: int | None) -> int:
        """Acknowledge for a name; how many were waited for.

        Raises:
            ProtocolError: if there is no such name, or no store.
        """
        subscribing = self._known()
        return subscribing.ack(subscribing.find(owner, name), offsets, up_to)

    def nak(self, owner: str, name: str, offsets: list[int], delay: float) -> int:
        """Have some delivered again; how many were under way.

        Raises:
            ProtocolError: if there is no such name, or no store.
        """
        cursor = self._known().find(owner, name)
        assert self.reading is not None
        return self.reading.nak(cursor, offsets, delay)

    def _known(self) -> Subscribing:
        if self._subscribing is None:
            raise ProtocolError(Fault.NO_STORE, NO_STORE)
        return self._subscribing

    def durables(self, limit: int) -> list[dict[str, object]]:
        """What there is to know of durable subscriptions."""
        if self._cursors is None or self.reading is None:
            return []
        return [self.reading.snapshot(c) for c in islice(self._cursors, limit)]

    def relays(self, limit: int) -> list[dict[str, object]]:
        """What there is to know of what neighbours get."""
        return [] if self.relaying is None else self.relaying.snapshot()[:limit]

    @property
    def count(self) -> int:
        """How many durable subscriptions there are."""
        return 0 if self._cursors is None else len(self._cursors)

    # --- Publications with a receipt ------------------------------------------------

    def _register(self, session: Session, body: Publisher) -> None:
        if self.acknowledging is None:
            raise ProtocolError(Fault.NO_STORE, NO_STORE)
        check_owner(self._state, session, "the publisher", body.name)
        self.acknowledging.register(session, body)

    def _publish(self, session: Session, source: Source, run: AckedRun) -> None:
        if self.acknowledging is None:
            refuse(session, run, ProtocolError(Fault.NO_STORE, NO_STORE))
        else:
            self.acknowledging.publish(session, source, run)

    def publish_once(self, session: Session, source: Source, run: PublishRun) -> None:
        """Publish for a client that waits, and does not send again.

        Raises:
            ProtocolError: if there is no store.
        """
        if self.acknowledging is None:
            raise ProtocolError(Fault.NO_STORE, NO_STORE)
        self.acknowledging.publish_once(session, source, run)

    def snapshot(self) -> dict[str, object]:
        """What there is to know."""
        if self.acknowledging is None or self._publishers is None:
            return {}
        return {
            "publishers": len(self._publishers),
            "acknowledged": self.acknowledging.acknowledged,
            "again": self.acknowledging.again,
            "subscriptions": self.count,
        }


def _refuse(session: Session, body: Body) -> None:  # noqa: ARG001 -- as others have it
    raise ProtocolError(Fault.NO_STORE, NO_STORE, about=getattr(body, "number", None))


class LetterBox:
    """The publisher of dead letters: the broker itself."""

    principal = LOCAL
    licence: Licence | None = None
    neighbour: int | None = None
    vain_bytes, is_drawn = 0, False  # it has no account

    def reply(self, frame: bytes) -> None:
        """Nothing is asked."""

    def fail(self, error: ProtocolError) -> None:
        """It could not be routed, which the log says."""

    def hold(self, by: Holder) -> None:
        """They are few, and do not wait."""


class LetterReceipt:
    """Hears when the disk has a letter, or that it never will."""

    def __init__(self, journal: Journal, then: Callable[[bool], None]) -> None:
        self._journal = journal
        self._then = then

    def tag(self, at: int) -> int:  # noqa: ARG002 -- as others have it
        """It is of no publisher that would send it again."""
        return 0

    def stored(self, at: int, count: int, offset: int) -> None:  # noqa: ARG002
        """It is written: wait for the disk."""
        self._journal.group_commit.when_synced(
            lambda failure: self._then(failure is None)
        )

    def refused(self, at: int, error: ProtocolError) -> None:  # noqa: ARG002
        """It is not taken."""
        self._then(False)

    def failed(self) -> None:
        """It is not written."""
        self._then(False)
