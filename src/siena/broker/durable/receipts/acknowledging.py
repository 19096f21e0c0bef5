"""Receipts: a publisher hears that its publications are on the disk, and where.

What a publisher sends again is not stored again: it gets the receipt that it missed.
Nothing is acknowledged that is not on the disk, unless the settings say that a second
may pass (``[durable] sync = "second"``), and nothing after the disk has failed.
"""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from siena.broker.clients.session import Session
from siena.broker.data.batch import Source
from siena.broker.data.publish_batch import PublishBatch
from siena.broker.durable.owners import owner_of
from siena.broker.durable.receipts.publishers import (
    KnownPublisher,
    Late,
    Publishers,
    tag_of,
)
from siena.broker.durable.receipts.refusing import refuse
from siena.broker.log.journal import Journal
from siena.protocol.durable.receipts import Publisher, PublisherIs, Stored
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.acked_runs import AckedRun
from siena.protocol.fast.forward_runs import picked
from siena.protocol.fast.split_frames import PublishRun


class _Due(NamedTuple):
    """A receipt that is sent when the disk has what it is about."""

    session: Session
    publisher: KnownPublisher
    first: int
    end: int
    offset: int | None


class Acknowledging:
    """Takes publications that want a receipt, and sends it.

    Args:
        waits: whether a receipt waits for the disk.
    """

    def __init__(
        self,
        publications: PublishBatch,
        journal: Journal,
        publishers: Publishers,
        *,
        waits: bool,
    ) -> None:
        self._publications = publications
        self._journal = journal
        self._publishers = publishers
        self._waits = waits
        self._due: list[_Due] = []
        self.refusal: Callable[[PublishRun], ProtocolError | None] = lambda _run: None
        """Why some publications cannot be acknowledged, if they cannot."""
        self.on_synced: Callable[[], None] = lambda: None
        """Called when the disk has more than before."""
        self.acknowledged = 0
        """How many publications have got their receipt."""
        self.again = 0
        """How many came again, and were stored already."""

    # --- What clients ask for -------------------------------------------------------

    def register(self, session: Session, body: Publisher) -> None:
        """Tell a publisher under which number it publishes."""

        def saved(failure: OSError | None) -> None:
            if failure is not None:
                text = f"the disk does not take it: {failure}"
                session.fail(ProtocolError(Fault.NOT_STORED, text, request=body.op))
                return
            # Not what is on its way: who begins there again would leave it out.
            session.reply(PublisherIs(body.name, known.number, known.synced).pack())

        then = self._journal.once_kept(saved)
        known = self._publishers.register(owner_of(session), body.name, then)

    def publish(self, session: Session, source: Source, run: AckedRun) -> None:
        """Publish what was not published before; each gets its receipt."""
        total = run.publications.total
        first, end = run.sequence, run.sequence + total
        publisher = self._publishers.find(run.publisher)
        if publisher is None or publisher.owner != owner_of(session):
            text = f"{run.publisher} is no publisher here; ask with PUBLISHER first"
            refuse(session, run, ProtocolError(Fault.PUBLISHER_UNKNOWN, text))
            return
        if self._journal.group_commit.failure is not None:
            refuse(session, run, self._failed())
            return
        refused = self.refusal(run.publications)
        if refused is not None:
            refuse(session, run, refused)
            return
        for stretch in publisher.window.split(first, end):
            if stretch.is_known:
                self.again += stretch.end - stretch.first
            if not stretch.is_known:
                part = run.publications
                if stretch.end - stretch.first < total:
                    indices = np.arange(stretch.first - first, stretch.end - first)
                    part = picked(part, indices.astype(np.int32))
                self._accept(session, source, publisher, stretch.first, part)
            elif stretch.is_stored:
                self._owe(_Due(session, publisher, *stretch[:2], stretch.offset))
            else:
                publisher.late.append(Late(stretch.first, stretch.end, session))

    def publish_once(self, session: Session, source: Source, run: PublishRun) -> None:
        """Publish for a client that has no name, and does not send again."""
        nobody = KnownPublisher("", "", 0, 0)
        if self._journal.group_commit.failure is not None:
            refuse(session, AckedRun(0, 0, run), self._failed())
            return
        refused = self.refusal(run)
        if refused is not None:
            refuse(session, AckedRun(0, 0, run), refused)
            return
        nobody.window.accept(0, run.total)
        self._publications.add(
            source, run, OwedReceipt(self, session, nobody, 0, run.total)
        )

    def _accept(
        self,
        session: Session,
        source: Source,
        publisher: KnownPublisher,
        first: int,
        run: PublishRun,
    ) -> None:
        publisher.window.accept(first, first + run.total)
        receipt = OwedReceipt(self, session, publisher, first, run.total)
        self._publications.add(source, run, receipt)

    # --- Receipts -------------------------------------------------------------------

    def written(
        self,
        session: Session,
        publisher: KnownPublisher,
        first: int,
        end: int,
        offset: int,
    ) -> None:
        """These are written from an offset on: a receipt follows."""
        publisher.window.store(first, end, offset)
        self._owe(_Due(session, publisher, first, end, offset))
        late, publisher.late = publisher.late, []
        for each in late:
            for stretch in publisher.window.split(each.first, each.end):
                assert isinstance(each.session, Session)
                if stretch.is_stored:
                    where = stretch.offset
                    self._owe(_Due(each.session, publisher, *stretch[:2], where))
                elif stretch.is_known:
                    again = Late(stretch.first, stretch.end, each.session)
                    publisher.late.append(again)

    def _owe(self, due: _Due) -> None:
        """Send this when the disk has all that is written in this tick."""
        if not self._due:
            asyncio.get_running_loop().call_soon(self._commit)
        self._due.append(due)

    def _commit(self) -> None:
        due, self._due = self._due, []
        if not self._waits:
            self._send(due, None)
            self.on_synced()
            return

        def synced(failure: OSError | None) -> None:
            self._send(due, failure)
            self.on_synced()
            self._publishers.look_for_checkpoint()

        self._journal.group_commit.when_synced(synced)

    def _send(self, due: list[_Due], failure: OSError | None) -> None:
        for session, publisher, first, end, offset in due:
            number, count = publisher.number, end - first
            if failure is not None:
                said = self._failed()
                told = Stored(
                    number, first, count, None, said.fault.number, said.message
                )
            else:
                told = Stored(number, first, count, offset)
                publisher.synced = max(publisher.synced, end)
                self.acknowledged += count
            session.reply(told.pack())

    def _failed(self) -> ProtocolError:
        failure = self._journal.group_commit.failure
        text = f"the disk of the broker has failed, and nothing is stored: {failure}"
        return ProtocolError(Fault.NOT_STORED, text)


class OwedReceipt:
    """What is owed to a publisher of some in a row."""

    def __init__(
        self,
        receipts: Acknowledging,
        session: Session,
        publisher: KnownPublisher,
        first: int,
        count: int,
    ) -> None:
        self._receipts = receipts
        self._session = session
        self._publisher = publisher
        self._first = first
        self._count = count

    def tag(self, at: int) -> int:
        """What the record has that begins with one of them."""
        return tag_of(self._publisher.number, self._first + at)

    def stored(self, at: int, count: int, offset: int) -> None:
        """So many of them, from one on, are written from an offset on."""
        first, end = self._first + at, self._first + at + count
        self._receipts.written(self._session, self._publisher, first, end, offset)

    def refused(self, at: int, error: ProtocolError) -> None:
        """One of them is not taken."""
        first = self._first + at
        self._publisher.window.withdraw(first, first + 1)
        told = Stored(
            self._publisher.number, first, 1, None, error.fault.number, error.message
        )
        self._session.reply(told.pack())

    def failed(self) -> None:
        """What is not written of them will not be: they may be sent again."""
        self._publisher.window.withdraw(self._first, self._first + self._count)
