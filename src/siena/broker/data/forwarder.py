"""Onward: the way of notifications to neighbours, monitors and those who are away.

What goes to connections never comes here: the exchange has laid it out already.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf, nextafter
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from siena.block import decode
from siena.broker.data.exchange import Key, Routed
from siena.broker.io.backpressure import Holder
from siena.broker.state import BrokerState
from siena.messages import Encoded, Interface, Notify, Numbered, Party, Stamp
from siena.messages.interface import TTL_MAX
from siena.protocol.data_frames import Forwarded, pack_forward
from siena.protocol.error_codes import ProtocolError
from siena.protocol.fast.kernels.framing import unframe
from siena.protocol.fast.split_frames import PublishRun
from siena.routing.forwarding import brokers_among, root_of


class Source(Protocol):
    """Where publications come from: the connection of a client, or a link."""

    def reply(self, frame: bytes) -> None:
        """Answer."""
        ...

    def fail(self, error: ProtocolError) -> None:
        """Tell what is wrong, and end if that cannot be lived with."""
        ...

    @property
    def neighbour(self) -> int | None:
        """The number of the neighbour at the other end, if it is one."""
        ...

    def hold(self, by: Holder) -> None:
        """Wait until somebody who is full has caught up."""
        ...


class Origin(NamedTuple):
    """Some publications in a row that came from one source."""

    source: Source
    first: int
    # How they came from a neighbour; a client's have no such head yet.
    heads: Sequence[Forwarded] | None


@dataclass
class Batch:
    """Publications of one turn, and where they came from."""

    run: PublishRun
    origins: list[Origin]

    @cached_property
    def plain(self) -> tuple[bytes, npt.NDArray[np.int64]]:
        """The blocks alone, and where each begins and ends; most batches do without."""
        offsets = np.zeros(self.run.total + 1, np.int64)
        return unframe(self.run.frames, self.run.start, offsets), offsets

    def block(self, index: int) -> bytes:
        """One of the blocks."""
        blocks, offsets = self.plain
        return blocks[offsets[index] : offsets[index + 1]]

    def origin(self, index: int) -> Origin:
        """Where it came from."""
        place = bisect_right(self.origins, index, key=lambda origin: origin.first)
        return self.origins[place - 1]


class Forwarder:
    """Sends on what was not for connections alone."""

    def __init__(self, state: BrokerState) -> None:
        self._state = state
        # The last time that was given: of two publications one is always the later.
        self._time = 0.0

    def send(self, batch: Batch, routed: Routed) -> None:
        """One after the other, in the order in which they came."""
        hops: dict[int, set[Key]] = {}
        if self._state.router.tables.has_master:  # it gets every notification
            bad = {index for index, _ in routed.bad}
            hops = {i: set() for i in range(batch.run.total) if i not in bad}
        for key, indices in routed.others:
            for index in indices.tolist():
                hops.setdefault(index, set()).add(key)
        for index in sorted(hops):
            origin = batch.origin(index)
            source: Interface = origin.source.neighbour or "a client"
            self._send(self._head(batch, origin, index), source, hops[index])

    def _head(self, batch: Batch, origin: Origin, index: int) -> Forwarded:
        """What goes before the notification to a neighbour."""
        if origin.heads is not None:
            return origin.heads[index - origin.first]
        router = self._state.router
        stamp = Stamp(router.me, router.epoch, router.published + index)
        self._time = max(self._state.clock.now(), nextafter(self._time, inf))
        return Forwarded(stamp, router.me, self._time, TTL_MAX, 0, batch.block(index))

    def _send(self, head: Forwarded, source: Interface, keys: set[Key]) -> None:
        brokers: set[Interface] = {key for key in keys if isinstance(key, int)}
        if head.ttl > 0 and self._state.router.tables.neighbours:
            self._forward(head, source, brokers)
        if any(isinstance(key, int) and key < 0 for key in keys):
            notification = decode(head.block)
            notify = Notify(notification, head.stamp, head.time, head.root, head.ttl)
            self._state.post(self._state.router.offer(brokers, notify))
        if len(brokers) < len(keys):
            self._keep(head, [key for key in keys if isinstance(key, Party)])

    def _forward(
        self, head: Forwarded, source: Interface, brokers: set[Interface]
    ) -> None:
        """To neighbours, once each, and never back to where it came from."""
        router = self._state.router
        root = root_of(router.tables, head.root, source)
        targets = brokers_among(router.tables, brokers, source, root)
        if not targets:
            return
        if isinstance(source, str):
            router.seen.is_new(head.stamp)  # should it come back
        frame = pack_forward(head._replace(root=root, ttl=head.ttl - 1))
        for target in targets:
            self._state.links[target].forward(frame)
        self._state.counters.forwarded += len(targets)

    def _keep(self, head: Forwarded, parties: list[Party]) -> None:
        """For clients that are suspended, once each."""
        wanted: dict[str, list[int]] = {}
        for party in parties:
            wanted.setdefault(party.client, []).append(party.number)
        content = Encoded(head.block, head.stamp)
        for client, numbers in wanted.items():
            letter = Numbered(tuple(sorted(numbers)), content)
            self._state.post(self._state.router.deliver(client, letter))
