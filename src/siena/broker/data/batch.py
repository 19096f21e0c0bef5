"""A batch: the publications of one tick, and where they came from."""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from siena.broker.access.principal import Principal
from siena.broker.data.licences import Licence
from siena.broker.io.backpressure import Holder
from siena.protocol.error_codes import ProtocolError
from siena.protocol.fast.forward_runs import ForwardRun, picked
from siena.protocol.fast.kernels.framing import unframe
from siena.protocol.fast.split_frames import PublishRun


class Source(Protocol):
    """Where publications come from: the connection of a client, or a link."""

    vain_bytes: int
    """How much it has published in a row that nothing was wanted of."""
    is_drawn: bool
    """Whether what it sent last is drawn from its account: it was in vain, or wrong."""

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

    @property
    def principal(self) -> Principal:
        """Who it is."""
        ...

    @property
    def licence(self) -> Licence | None:
        """What it may publish, decided in routing; None if that is decided already."""
        ...

    def hold(self, by: Holder) -> None:
        """Wait until a reader, or a disk, that is full has caught up."""
        ...


class Receipt(Protocol):
    """What is owed to a publisher that waits until a row of its own is stored."""

    def tag(self, at: int) -> int:
        """What the record has that begins with one of them."""
        ...

    def stored(self, at: int, count: int, offset: int) -> None:
        """So many of them, from one on, are written from an offset on."""
        ...

    def refused(self, at: int, error: ProtocolError) -> None:
        """One of them is not taken."""
        ...

    def failed(self) -> None:
        """What is not written of them will not be."""
        ...


class Origin(NamedTuple):
    """Some publications in a row that came from one source."""

    source: Source
    first: int
    # How they came from a neighbour; a client's have no such heads yet.
    forwarded: ForwardRun | None
    # Who waits until they are stored.
    receipt: Receipt | None = None


class Stretch(NamedTuple):
    """Publications in a row that go on together: a neighbour's run, or of clients."""

    first: int
    end: int
    neighbour: int | None
    forwarded: ForwardRun | None
    # Whether they are stored before they are acknowledged, here and wherever they go.
    is_acked: bool = False


@dataclass
class Batch:
    """Publications of one tick, and where they came from."""

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

    def only(self, chosen: npt.NDArray[np.bool_]) -> "Batch | None":
        """What is left of it without the others, if anything is."""
        origins: list[Origin] = []
        count = 0
        bounds = [*(origin.first for origin in self.origins), self.run.total]
        for origin, first, end in zip(
            self.origins, bounds[:-1], bounds[1:], strict=True
        ):
            left = np.flatnonzero(chosen[first:end]).astype(np.int32)
            if len(left):
                run = origin.forwarded and origin.forwarded.pick(left)
                origins.append(origin._replace(first=count, forwarded=run))
                count += len(left)
        if not count:
            return None
        indices = np.flatnonzero(chosen).astype(np.int32)
        return Batch(picked(self.run, indices), origins)

    def stretches(self) -> Iterator[Stretch]:
        """What goes on together, in the order in which it came.

        It makes no difference which clients have published what follows each other.
        """
        begun = 0
        origins = self.origins
        for place, origin in enumerate(origins):
            is_last = place + 1 == len(origins)
            end = self.run.total if is_last else origins[place + 1].first
            is_acked = origin.receipt is not None
            is_followed = (
                origin.forwarded is None
                and not is_last
                and origins[place + 1].forwarded is None
                and (origins[place + 1].receipt is not None) is is_acked
            )
            if not is_followed:
                neighbour = origin.source.neighbour
                yield Stretch(begun, end, neighbour, origin.forwarded, is_acked)
                begun = end
