"""The way of notifications onward: to neighbours, monitors and those who are away.

What goes to connections never comes here: the exchange has laid it out already.  To
neighbours publications go in runs, as many at once as came from one direction; their
blocks are copied, and never looked at.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from siena.block import decode
from siena.broker.contracts import Neighbourly
from siena.broker.data.batch import Batch, Stretch
from siena.broker.data.exchange import Ints, Key, Routed
from siena.broker.state import BrokerState
from siena.errors import LimitError
from siena.messages import Encoded, Interface, Notify, Numbered, Party
from siena.messages.interface import TTL_MAX
from siena.model.expression.residual import ResidualPredicate
from siena.protocol.data_frames import TRACED, pack_forward
from siena.protocol.fast.forward_runs import (
    TIME_UNIT,
    ForwardRun,
    RunHead,
    ascending,
    in_pieces,
    picked,
)
from siena.routing.forwarding import brokers_among, root_of


class Forwarder:
    """Sends on what was not for connections alone."""

    def __init__(self, state: BrokerState) -> None:
        self._state = state
        # The last time that was given: of two publications one is always the later.
        self._time = 0.0

    def send(self, batch: Batch, routed: Routed) -> None:
        """To each neighbour in the order in which it came, and then to the others."""
        neighbours = {
            key: indices
            for key, indices in routed.others
            if isinstance(key, int) and key > 0
        }
        tables = self._state.router.tables
        if tables.has_master:  # it gets every notification that it may have
            bad = [index for index, _ in routed.bad]
            good = np.delete(np.arange(batch.run.total, dtype=np.int32), bad)
            is_limited = self._state.neighbours.is_limited
            masters = (m for m in tables.masters if not is_limited(m))
            neighbours |= dict.fromkeys(masters, good)
        hops: dict[int, list[Key]] = {}
        for key, indices in routed.others:
            if key not in neighbours:
                for index in indices.tolist():
                    hops.setdefault(index, []).append(key)
        for stretch in batch.stretches():
            run = self._run_of(batch, stretch)
            if tables.neighbours:
                self._forward(stretch, run, neighbours)
            if hops:
                self._hand_over(batch, stretch, run, hops)

    def _run_of(self, batch: Batch, stretch: Stretch) -> ForwardRun:
        """The publications of a stretch, with what goes before them to a neighbour."""
        if stretch.forwarded is not None:
            return stretch.forwarded
        router = self._state.router
        total = stretch.end - stretch.first
        self._time = max(self._state.clock.now(), self._time + TIME_UNIT)
        number = router.published + stretch.first
        head = RunHead(
            router.me, router.epoch, number, router.me, self._time, TTL_MAX, 0
        )
        self._time += (total - 1) * TIME_UNIT
        whole = batch.run
        if total < whole.total:
            indices = np.arange(stretch.first, stretch.end, dtype=np.int32)
            whole = picked(whole, indices)
        return ForwardRun(head, ascending(total), ascending(total), whole)

    # --- To neighbours --------------------------------------------------------------

    def _forward(
        self, stretch: Stretch, run: ForwardRun, wanted: Mapping[int, Ints]
    ) -> None:
        """To neighbours, once each, and never back to where it came from."""
        if run.head.ttl <= 0:
            return
        router, source = self._state.router, stretch.neighbour or "a client"
        root = root_of(router.tables, run.head.root, source)
        asked: dict[Interface, Ints] = {}
        for number, indices in wanted.items():
            first, end = np.searchsorted(indices, (stretch.first, stretch.end))
            if first < end:
                asked[number] = indices[first:end]
        targets = brokers_among(router.tables, asked.keys(), source, root)
        if stretch.is_acked:  # others get them from the log, once they are stored
            links = self._state.links
            targets = [t for t in targets if not links[t].is_relaying]
        if targets and isinstance(source, str):
            router.seen.learn(run.window)  # should they come back
        for target in targets:
            if target not in asked:  # a master, and nothing here is for it
                continue
            chosen = run.pick(asked[target] - stretch.first)
            link = self._state.links[target]
            for frame, count in _frames(chosen, root, link):
                link.forward(frame, count)
            self._state.counters.forwarded += len(asked[target])
            if stretch.is_acked and stretch.forwarded is not None:
                # Their publisher has its receipt, and could not be told.
                self._state.counters.relay_unassured += len(asked[target])

    # --- To monitors, and to those who are away -------------------------------------

    def _hand_over(
        self,
        batch: Batch,
        stretch: Stretch,
        run: ForwardRun,
        hops: Mapping[int, list[Key]],
    ) -> None:
        router, first = self._state.router, stretch.first
        for index in range(first, stretch.end):
            if index not in hops:
                continue
            block = batch.block(index)
            stamp, time = run.stamp(index - first), run.time(index - first)
            self._keep(Encoded(block, stamp), hops[index])
            monitors: set[Interface] = {k for k in hops[index] if isinstance(k, int)}
            if monitors:
                root, ttl = run.head.root, run.head.ttl
                notify = Notify(decode(block), stamp, time, root, ttl)
                self._state.post(router.offer(monitors, notify))

    def _keep(self, content: Encoded, keys: list[Key]) -> None:
        """For clients that are suspended, and residuals that hold, once each."""
        wanted: dict[str, list[int]] = {}
        for key in keys:
            if isinstance(key, Party) and self._lets_through(key, content.data):
                wanted.setdefault(key.client, []).append(key.number)
        for client, numbers in wanted.items():
            letter = Numbered(tuple(sorted(numbers)), content)
            self._state.post(self._state.router.deliver(client, letter))

    def _lets_through(self, party: Party, block: bytes) -> bool:
        """Whether the residual of a subscription, if it has one, holds."""
        session = self._state.sessions.get(int(party.client))
        interest = None if session is None else session.interests.get(party.number)
        if not isinstance(interest, ResidualPredicate):
            return True
        try:
            return interest.lets_through(decode(block))
        except LimitError:  # of what it computes; then it is not known to hold
            return False


def _frames(
    run: ForwardRun, root: int, link: Neighbourly
) -> Iterator[tuple[bytes, int]]:
    """A run as a neighbour understands it, one hop nearer, and how many each frame has.

    What is traced goes one by one, and so does what is alone.
    """
    if link.takes_runs and len(run.numbers) > 1 and not run.head.flags & TRACED:
        for piece in in_pieces(run):
            head = piece.head._replace(root=root, ttl=piece.head.ttl - 1)
            yield piece.pack(head), len(piece.numbers)
        return
    for one in run.forwarded():
        yield pack_forward(one._replace(root=root, ttl=one.ttl - 1)), 1
