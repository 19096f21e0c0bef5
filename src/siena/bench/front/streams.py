"""Floods: deliveries to many readers, as fast as all of them read."""

import selectors
from contextlib import suppress
from time import perf_counter

from siena.bench.broker.contenders.contender import Wire
from siena.bench.broker.contenders.siena import Siena
from siena.bench.broker.processes import wait_until_quiet
from siena.bench.front.quotes import PRICE_MIN, PRICES, quotes
from siena.bench.front.readers import Reader
from siena.bench.front.servers import CLOCK_SECONDS, Server
from siena.errors import SienaError
from siena.protocol.frames import Op, pack

# So many publications are ahead of the slowest reader, so that no reader loses any.
AHEAD = 4_000
# Sent at once.
SLICE = 256
# A flood in which nothing comes for so long has failed.
SILENT_SECONDS = 30.0


def flood(
    server: Server,
    kind: type[Reader],
    readers: int,
    published: range,
    *,
    apart: bool,
) -> float:
    """Let so many readers come, flood them once, and let them go; deliveries.

    They do not stay until the next round: who has nothing to read for long is asked
    whether it is still there.
    """
    made = StreamFlood(server, kind, readers, apart=apart)
    try:
        return made.run(published)
    finally:
        made.close()


class StreamFlood:
    """Readers of one kind at one broker, and who publishes for them."""

    def __init__(
        self, server: Server, kind: type[Reader], readers: int, *, apart: bool
    ) -> None:
        self._server = server
        port = server.ports[kind.is_http]
        bounds = [
            PRICE_MIN + 1 + PRICES * (n + 1) / readers if apart else None
            for n in range(readers)
        ]
        self._readers = [kind(port, bound) for bound in bounds]
        self._selector = selectors.DefaultSelector()
        for reader in self._readers:
            self._selector.register(reader.socket, selectors.EVENT_READ, reader)
        wire = Wire(server.ports[0])
        Siena().greet(wire)
        self._publisher = wire.finish()

    def run(self, published: range) -> float:
        """Publish these; how many were delivered for a CPU second of the broker."""
        some = list(quotes(len(published), published.start))
        total = sum(reader.await_all(some) for reader in self._readers)
        frames = [pack(Op.PUB, quote.block) for quote in some]
        slices = [b"".join(frames[i : i + SLICE]) for i in range(0, len(frames), SLICE)]
        wait_until_quiet([self._server.process])
        before = self._server.cpu_seconds()
        self._flood(slices, len(published))
        return total / max(self._server.cpu_seconds() - before, CLOCK_SECONDS)

    def _flood(self, slices: list[bytes], publications: int) -> None:
        sent, left = 0, memoryview(b"")
        heard = perf_counter()
        while (slowest := min(reader.share for reader in self._readers)) < 1:
            is_time = sent * SLICE < slowest * publications + AHEAD
            if not left and is_time and sent < len(slices):
                left = memoryview(slices[sent])
                sent += 1
            if left:
                with suppress(BlockingIOError):
                    left = left[self._publisher.send(left) :]
            for key, _ in self._selector.select(0 if left else 0.001):
                key.data.read()
                heard = perf_counter()
            if perf_counter() - heard > SILENT_SECONDS:
                raise SienaError(f"nothing comes any more, after {slowest:.0%}")

    def close(self) -> None:
        """Hang up."""
        self._selector.close()
        self._publisher.close()
        for reader in self._readers:
            reader.socket.close()
