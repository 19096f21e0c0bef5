"""What clients ask for about the log, and who answers it."""

from pathlib import Path

from siena.block import BLOCK_BYTES_MAX, BLOCK_ERRORS, decode
from siena.broker.clients.requests import Requests
from siena.broker.clients.session import Session
from siena.broker.data.publish_batch import PublishBatch
from siena.broker.durable.owners import owned_name
from siena.broker.durable.service import DurableService
from siena.broker.log.batches.idempotent_batches import IdempotentBatches
from siena.broker.log.batches.staging import Staging
from siena.broker.log.filter_cache import FilterCache, RecordFilter
from siena.broker.log.journal import Journal
from siena.broker.log.limits import SCAN_BYTES_MAX
from siena.broker.log.records import DamagedLogError
from siena.broker.state import BrokerState
from siena.protocol.control_frames import Done
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.limits import READ_BYTES_MAX
from siena.protocol.log_frames import (
    Batch,
    Commit,
    Entries,
    Entry,
    Extent,
    Log,
    Read,
    Stage,
    Unstage,
)

FEATURE = "log"
# What an entry needs beside its block.
_ENTRY_BYTES = 24


class LogService:
    """Answers requests about the log; without one, it still takes batches.

    Ownership: of the folder of the log, from making it to :meth:`close`.
    """

    def __init__(
        self, state: BrokerState, publications: PublishBatch, requests: Requests
    ) -> None:
        settings = state.settings.log
        self._state = state
        self._filters = FilterCache()
        self._everything = RecordFilter("[]")
        self.journal: Journal | None = None
        folder = None if settings.path is None else Path(settings.path)
        if folder is not None:
            self.journal = publications.journal = Journal(state, folder, settings)
        self._staging = Staging(
            folder / "staged" if folder else None, settings.staged_bytes, state.clock
        )
        path = folder / "sinks.json" if folder else None
        self.idempotent_batches = IdempotentBatches(
            *(publications, self._staging, self.journal, path),
            waits=state.settings.durable.sync == "always",
        )
        requests.add(Log, self._extent)
        requests.add(Read, self._read)
        requests.add(Commit, self._commit)
        requests.add(Stage, self._stage)
        requests.add(Unstage, self._unstage)
        requests.add(Batch, self._batch)
        self.durable = DurableService(
            state, publications, requests, self.journal, folder
        )
        """What must not be lost."""

    @property
    def features(self) -> tuple[str, ...]:
        """What INFO says about it."""
        log = () if self.journal is None else (FEATURE,)
        return (*log, *self.durable.features)

    def start(self) -> None:
        """Begin with what is to be done without being asked."""
        if self.journal is not None:
            self.journal.start()
        self.idempotent_batches.start()
        self.durable.start()

    def resume(self) -> None:
        """The operator has come: a disk that failed is taken for good again."""
        if self.journal is not None:
            self.journal.resume()

    async def close(self) -> None:
        """Write everything to the disk."""
        self.idempotent_batches.close()
        if self.journal is not None:
            await self.journal.stop()
        await self.durable.close()
        if self.journal is not None:  # last: with it goes the lock of the folder
            await self.journal.close()

    def _log(self) -> Journal:
        if self.journal is None:
            raise ProtocolError(
                Fault.NO_LOG, "this broker keeps no log; start it with --log"
            )
        return self.journal

    # --- Reading --------------------------------------------------------------------

    def _extent(self, session: Session, body: Log) -> None:
        journal = self._log()
        name = None if body.reader is None else owned_name(session, body.reader)
        committed = None if name is None else journal.readers.ask(name)
        store = journal.store
        session.reply(Extent(store.earliest, store.latest, committed).pack())

    def _read(self, session: Session, body: Read) -> None:
        store = self._log().store
        wanted = self._filters.of(body.filter)
        filters = [wanted]
        gate, principal = self._state.gate, session.principal
        if not gate.grant(principal).narrows:  # then more than is granted is refused
            gate.subscribe(principal, wanted.interest, None)
        heard = gate.hears(principal)
        if heard is not None:
            filters.insert(0, self._filters.of_grant(heard))
        if body.start < store.earliest:
            raise ProtocolError(
                Fault.OFFSET_EXPIRED,
                f"offset {body.start} has expired: the log begins at {store.earliest}",
            )
        if body.start > store.latest:
            raise ProtocolError(
                Fault.OFFSET_AHEAD,
                f"the log has come to offset {store.latest}, and not to {body.start}",
            )
        end = store.latest if body.end is None else min(body.end, store.latest)
        try:
            found, after = self._page(filters, body.start, end, body.count)
        except (DamagedLogError, OSError) as error:
            raise ProtocolError(
                Fault.LOG_DAMAGED, f"the log cannot be read: {error}"
            ) from None
        session.reply(Entries(after, store.latest, found).pack())

    def _page(
        self, filters: list[RecordFilter], start: int, end: int, count: int
    ) -> tuple[list[Entry], int]:
        """What goes into one answer; and from where to go on."""
        found: list[Entry] = []
        size, at = 0, start
        if start >= end:
            return found, start
        for record in self._log().store.scan(start, SCAN_BYTES_MAX):
            bounds = record.offsets()
            wanted = None
            for each in filters:  # what may not be heard is looked at no further
                wanted = each.select(record, wanted)
            assert wanted is not None
            for index in wanted.nonzero()[0].tolist():
                offset = record.first + index
                if offset < start:
                    continue
                if offset >= end:
                    return found, end
                length = int(record.lengths[index]) + _ENTRY_BYTES
                if found and (size + length > READ_BYTES_MAX or len(found) == count):
                    return found, offset
                size += length
                block = bytes(record.blocks[bounds[index] : bounds[index + 1]])
                found.append(Entry(offset, record.time, block))
            at = record.end
            if at >= end:
                return found, end
        return found, at

    def _commit(self, session: Session, body: Commit) -> None:
        journal = self._log()
        self._check_commit(session, body)
        name = owned_name(session, body.reader)
        if body.offset is None:
            journal.readers.forget(name)
            session.account.commits.discard(body.reader)
        elif body.offset > journal.store.latest:
            raise ProtocolError(
                Fault.OFFSET_AHEAD,
                f"the log has come to offset {journal.store.latest}, "
                f"and not to {body.offset}",
            )
        else:
            journal.readers.commit(name, body.offset)
            session.account.commits.add(body.reader)
        session.reply(Done(body.op).pack())
        journal.look_for_room()

    def _check_commit(self, session: Session, body: Commit) -> None:
        """Let those hold the log who may, under so many names.

        Raises:
            ProtocolError: if they may not.
        """
        gate, accounts = self._state.gate, self._state.accounts
        if not gate.grant(session.principal).may_hold:
            raise gate.refuse(session.principal, "hold", f"reader {body.reader}")
        gate.own(session.principal, "the reader", body.reader)
        commits = session.account.commits
        if body.reader not in commits:
            accounts.check("commits", len(commits) + 1)

    # --- Batches --------------------------------------------------------------------

    def _stage(self, session: Session, body: Stage) -> None:
        self._check(session, body.blocks)
        granted = self._state.gate.grant(session.principal).publish
        self._staging.add(body.part, body.at, body.blocks, granted)
        session.reply(Done(body.op).pack())

    def _batch(self, session: Session, body: Batch) -> None:
        """Publish what was staged, if it was looked at with what counts now.

        Roles may have changed since, or another principal has staged it; or the broker
        has started anew, and does not know any more.
        """
        gate, principal = self._state.gate, session.principal
        gate.own(principal, "the query", body.query)
        if not principal.is_local:
            granted = gate.grant(principal).publish
            names = [part.name for part in body.parts if part.count]
            if not all(self._staging.is_within(name, granted) for name in names):
                text = "a part was staged under another grant; stage it again"
                raise ProtocolError(Fault.PART_UNKNOWN, text)
        self.idempotent_batches.batch(session, body, owned_name(session, body.query))

    def _check(self, session: Session, blocks: list[bytes]) -> None:
        """Refuse all if one is no notification, or not what the client may publish."""
        if any(len(block) > BLOCK_BYTES_MAX for block in blocks):
            text = f"a notification of more than {BLOCK_BYTES_MAX} bytes"
            raise ProtocolError(Fault.BAD_NOTIFICATION, text)
        for number, count in enumerate(self._everything.counts(blocks)):
            if count < 0:
                raise ProtocolError(
                    Fault.BAD_NOTIFICATION,
                    f"number {number} is not a notification: {BLOCK_ERRORS[-count]}",
                )
        gate, licences = self._state.gate, self._state.licences
        licence = licences.find(gate.grant(session.principal).publish)
        if licence is not None and blocks:
            refused = (~licence.allows_blocks(blocks)).nonzero()[0]
            if len(refused):
                raise gate.refuse_publications(
                    session.principal, "publish", blocks[refused[0]], len(refused)
                )
        if self._state.router.options.is_advertising:
            advertised = session.advertisements.values()
            for block in blocks:
                notification = decode(block)
                if not any(a.admits(notification) for a in advertised):
                    text = "no advertisement of this connection admits it"
                    raise ProtocolError(Fault.NOT_ADVERTISED, text)

    def _unstage(self, session: Session, body: Unstage) -> None:
        for name in body.parts:
            self._staging.drop_unclaimed(name)
        session.reply(Done(body.op).pack())
