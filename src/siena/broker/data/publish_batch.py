"""Publications: all that came in one tick, routed in one call.

However many connections publish one notification each, the exchange is asked once.  The
order of what one connection, or one neighbour, sends is kept; an answer to a PING waits
until what was published before it has been routed, and is not sent if that failed.
"""

import logging
from collections import Counter
from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

from siena.block import BLOCK_ERRORS
from siena.broker.data.batch import Batch, Origin, Receipt, Source
from siena.broker.data.exchange import Ints, Routed
from siena.broker.data.forwarder import Forwarder
from siena.broker.data.licence_entries import NO_LICENCE
from siena.broker.data.licences import OVERLAP_MAX
from siena.broker.data.tracing import Tracing
from siena.broker.state import BrokerState
from siena.protocol.control_frames import Error
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.forward_runs import ForwardRun, picked
from siena.protocol.fast.split_frames import (
    AT_ONCE_BYTES,
    PUB,
    PublishRun,
    joined,
    run_of,
)
from siena.protocol.frames import LENGTH_BYTES, Op

log = logging.getLogger("siena.broker")

# What is longer is routed for itself: to put it behind others would be to copy it.
JOINED_BYTES_MAX = 65_536
# So many blocks of one source in one batch are refused one by one, the others together:
# to say what is wrong with one takes a hundred times as long as to find out.
REFUSALS_MAX = 16


class Journalling(Protocol):
    """The log, as far as publications need it."""

    def waits(self, source: Source) -> bool:
        """Whether answers wait until the disk has taken what a source published."""
        ...

    def defer(self, source: Source, frame: bytes) -> None:
        """Answer then."""
        ...

    def write(
        self,
        batch: Batch,
        bad: Sequence[tuple[int, int]],
        answers: list[tuple[Source, bytes]],
    ) -> list[tuple[Source, bytes]]:
        """Write what was routed, but for what is bad; the answers that may be sent."""
        ...


class PublishBatch:
    """What has come in this tick and is not routed yet."""

    def __init__(self, state: BrokerState) -> None:
        self._state = state
        self._forwarder = Forwarder(state)
        self._runs: list[PublishRun] = []
        self._count = 0
        self._size = 0
        self._origins: list[Origin] = []
        self._answers: list[tuple[Source, bytes]] = []
        self.tracing = Tracing(state, self)
        self.publishers: list[Source] = []
        """Who published what is being routed."""
        self.journal: Journalling | None = None
        """Where it is written down, if it is."""

    def add(
        self, source: Source, run: PublishRun, receipt: Receipt | None = None
    ) -> None:
        """Take what a client has published in a row; maybe it waits for the disk."""
        self._state.counters.publications += run.total
        self._add(source, run, None, receipt)

    def add_forwarded(self, source: Source, run: ForwardRun) -> Routed | None:
        """Take what a neighbour has forwarded; what followed, if it is long."""
        return self._add(source, run.publications, run)

    def add_relayed(self, source: Source, run: ForwardRun, receipt: Receipt) -> None:
        """Take what a neighbour wants to know to be stored here."""
        self._add(source, run.publications, run, receipt)

    def _add(
        self,
        source: Source,
        run: PublishRun,
        forwarded: ForwardRun | None,
        receipt: Receipt | None = None,
    ) -> Routed | None:
        size = run.end - run.start
        is_long = size >= JOINED_BYTES_MAX
        if is_long and self._runs:
            self.flush()
        self._origins.append(Origin(source, self._count, forwarded, receipt))
        self._runs.append(run)
        self._count += run.total
        self._size += size
        if is_long or self._size >= AT_ONCE_BYTES:
            return self.flush()
        return None

    def answer(self, source: Source, frame: bytes) -> None:
        """Send this when all that came before has been routed."""
        if self._runs:
            self._answers.append((source, frame))
        elif self.journal is not None and self.journal.waits(source):
            self.journal.defer(source, frame)
        else:
            source.reply(frame)

    def flush(self) -> Routed | None:
        """Route everything that has come; what followed, if anything had.

        If that fails, those who published it are told so, and nothing followed.
        """
        if not self._runs:
            return None
        state = self._state
        # Forgotten first: whatever happens, they are not read again, where by then
        # something else may have come.
        runs, origins, answers = self._runs, self._origins, self._answers
        self._runs, self._origins, self._answers = [], [], []
        total, self._count, self._size = self._count, 0, 0
        self.publishers = [origin.source for origin in origins]
        try:
            batch, routed = self._route(Batch(joined(runs), origins))
            if len(origins) == 1:
                self._note_reach(origins[0].source, routed)
            if self.journal is not None:
                answers = self.journal.write(batch, routed.bad, answers)
            self._go_on(batch, routed)
        except Exception:
            log.exception("a mistake of ours, while routing")
            self._fail({origin.source for origin in origins}, answers)
            for origin in origins:
                if origin.receipt is not None:
                    origin.receipt.failed()
            return None
        finally:
            # Whatever went wrong, no stamp is given twice.
            state.router.published += total
            self.publishers = []
        for source, frame in answers:
            source.reply(frame)
        return routed

    def _fail(
        self, sources: set[Source], answers: Sequence[tuple[Source, bytes]]
    ) -> None:
        """Acknowledge nothing to those whose publications may not have been routed.

        The error ends their connections, so that no answer of theirs that still waits,
        here or for the disk, is sent, and none is waited for in vain.
        """
        error = ProtocolError(
            Fault.BROKEN,
            "a mistake of the broker: what was published since the last PONG may be "
            "neither delivered nor logged",
            request=Op.PUB,
        )
        for source in sources:
            self._state.counters.faults += 1
            source.fail(error)
        for source, frame in answers:
            if source not in sources:
                source.reply(frame)

    def publish(self, source: Source, frames: memoryview) -> int:
        """Route the publications with which some frames begin, now; where they end.

        None of them, if there is more to do about each than to deliver it.
        """
        state = self._state
        # Otherwise there is no reason to make ready for many publications.
        if frames[LENGTH_BYTES] != PUB:
            return 0
        if self.journal is not None or state.router.tables.has_master:
            return 0
        licence = None
        if source.licence is not None:
            licence = state.licences.number_of(source.licence)
            if licence is None or source.licence.is_empty:
                return 0
        if self._runs:
            self.flush()
        self.publishers = [source]
        routed = state.exchange.route(frames, 0, len(frames), licence)
        if routed.licence_matches:
            self._look_at_overlap(routed)
        state.counters.publications += routed.total
        self._note_reach(source, routed)
        try:
            if routed.allowed is not None:
                run = PublishRun(frames, 0, routed.end, routed.total)
                batch = Batch(run, [Origin(source, 0, None)])
                self._go_on(*self._route_allowed(batch, routed))
            elif routed.bad or routed.others:
                run = PublishRun(frames, 0, routed.end, routed.total)
                self._go_on(Batch(run, [Origin(source, 0, None)]), routed)
            else:
                self._deliver(routed)
        finally:
            state.router.published += routed.total
            self.publishers = []
        return routed.end

    def _note_reach(self, source: Source, routed: Routed) -> None:
        """Count what one source has published in a row for which there is no reader."""
        is_kept = self.journal is not None or self._state.router.tables.has_master
        reaches = routed.out or routed.others or is_kept
        source.vain_bytes = 0 if reaches else source.vain_bytes + routed.end

    # --- What may be published ------------------------------------------------------

    def _route(self, batch: Batch) -> tuple[Batch, Routed]:
        """Route what may be published; what that was, and what follows."""
        licence: int | Ints | None = None
        if any(origin.source.licence is not None for origin in batch.origins):
            licence = self._one_for_all(batch.origins)
            if licence is None:
                batch, licence = self._checked(batch)
        total = batch.run.total
        routed = self._state.exchange.route(*batch.run[:3], licence)
        assert routed.total == total, "some were not routed"
        if routed.licence_matches:
            self._look_at_overlap(routed)
        if routed.allowed is None:
            return batch, routed
        return self._route_allowed(batch, routed)

    def _look_at_overlap(self, routed: Routed) -> None:
        if routed.licence_matches > OVERLAP_MAX * (routed.total + OVERLAP_MAX):
            self._state.licences.keep_apart()

    def _one_for_all(self, origins: Sequence[Origin]) -> int | None:
        """The one licence that the exchange has to decide, if there is only one."""
        licence = origins[0].source.licence
        if licence is None or licence.is_empty:
            return None
        for origin in origins:
            if origin.source.licence is not licence or origin.receipt is not None:
                return None
        return self._state.licences.number_of(licence)

    def _checked(self, batch: Batch) -> tuple[Batch, int | Ints | None]:
        """What the exchange has to decide: each one's licence; the rest is decided."""
        licences = self._state.licences
        bounds = [*(origin.first for origin in batch.origins), batch.run.total]
        numbers = np.full(batch.run.total, NO_LICENCE, np.int32)
        allowed = np.ones(batch.run.total, np.bool_)
        for origin, first, end in zip(
            batch.origins, bounds[:-1], bounds[1:], strict=True
        ):
            licence = origin.source.licence
            # What wants a receipt was decided before, all of it or nothing.
            if licence is None or origin.receipt is not None:
                continue
            number = None if licence.is_empty else licences.number_of(licence)
            if number is not None:
                numbers[first:end] = number
            else:
                own = picked(batch.run, np.arange(first, end, dtype=np.int32))
                allowed[first:end] = licence.allows(own)
        if not allowed.all():
            batch = self._without(batch, allowed)
            numbers = numbers[allowed]
        if len(numbers) and (numbers == numbers[0]).all():
            return batch, None if numbers[0] == NO_LICENCE else int(numbers[0])
        return batch, numbers

    def _route_allowed(self, batch: Batch, routed: Routed) -> tuple[Batch, Routed]:
        """Route once more, without what may not be published."""
        assert routed.allowed is not None
        left = self._without(batch, routed.allowed)
        return left, self._state.exchange.route(*left.run[:3])

    def _without(self, batch: Batch, allowed: npt.NDArray[np.bool_]) -> Batch:
        """What may be published of a batch; who published the rest is told so.

        Once, however much it was.
        """
        refused: dict[Source, list[int]] = {}
        counters = self._state.counters
        for index in np.flatnonzero(~allowed).tolist():
            origin = batch.origin(index)
            refused.setdefault(origin.source, []).append(index)
            counters.publications -= origin.forwarded is None
        for source, indices in refused.items():
            counters.rejected += len(indices)
            verb = "publish" if source.neighbour is None else "import"
            error = self._state.gate.refuse_publications(
                source.principal, verb, batch.block(indices[0]), len(indices)
            )
            if source.neighbour is None:
                counters.faults += 1
                source.reply(Error.of(error).pack())
        return batch.only(allowed) or Batch(run_of([]), [])

    def _go_on(self, batch: Batch, routed: Routed) -> None:
        """Do what follows: refuse what is bad, deliver, send on."""
        if routed.bad:
            self._refuse(batch, routed.bad)
        self._deliver(routed)
        if routed.others or self._state.router.tables.has_master:
            self._forwarder.send(batch, routed)

    def _refuse(self, batch: Batch, bad: list[tuple[int, int]]) -> None:
        """Say what is wrong with bad blocks; their sources pay for it."""
        counters = self._state.counters
        refused: Counter[Source] = Counter()
        for index, reason in bad:
            origin = batch.origin(index)
            counters.publications -= origin.forwarded is None
            counters.rejected += 1
            text = f"not a notification: {BLOCK_ERRORS[reason]}"
            if origin.receipt is not None:
                error = ProtocolError(Fault.BAD_NOTIFICATION, text)
                origin.receipt.refused(index - origin.first, error)
                counters.faults += 1
                continue
            refused[origin.source] += 1
            if refused[origin.source] <= REFUSALS_MAX:
                self._tell_bad(origin.source, text)
        for source, count in refused.items():
            source.is_drawn = True
            more = count - REFUSALS_MAX
            if more > 0:
                self._tell_bad(source, f"nor are {more} that came with it")

    def _tell_bad(self, source: Source, text: str) -> None:
        self._state.counters.faults += 1
        fault = Fault.BAD_NOTIFICATION
        source.reply(Error(fault.number, text, fault.closes, Op.PUB).pack())

    def _deliver(self, routed: Routed) -> None:
        counters, sessions = self._state.counters, self._state.sessions
        for session, frames, count in routed.out:
            lost = sessions[session].deliver(frames, count)
            counters.deliveries += count - lost
            counters.lost += lost
