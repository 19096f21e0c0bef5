"""How long until a new subscription is in force, while others publish?

One interest after the other is subscribed to, on a connection of its own.  From SETTLED
on it must get all that it selects: a barrier behind some publications of the first
publisher tells when those have been worked off, and then all of them must have come.
"""

import selectors
from time import perf_counter

import numpy as np

from siena.bench.broker.contenders.siena import complain
from siena.bench.broker.kernels.checking import NUMBER_BITS
from siena.bench.broker.kernels.stamping import BASE
from siena.bench.broker.loadgen.generator import Generator
from siena.bench.broker.loadgen.publisher import number_at, sent_at
from siena.bench.broker.workload import HIGHEST, LOWEST, symbol_name
from siena.block import decode
from siena.errors import SienaError
from siena.protocol.control_frames import Settled, Subscribe, Unsubscribe
from siena.protocol.data_frames import unpack_msg
from siena.protocol.frames import Frame, Op, Splitter

# How long a subscription stays, at least, so that something is published meanwhile.
STAY_SECONDS = 0.01
# The share of a symbol's notifications that it selects: enough to see that it does, and
# not so many that checking them here, one by one, is much work.
SHARE = 0.02
ANSWER_SECONDS = 60.0
READ_BYTES = 65_536


class Probe:
    """A side task of the generator: subscribes, waits, checks, and begins again.

    Attributes:
        seconds: how long each took until it was in force.
        checked: how many deliveries were checked.
    """

    def __init__(self, generator: Generator, count: int) -> None:
        self._generator = generator
        self._publisher = generator.publishers[0]
        self._workload = generator.load.workload
        self._socket = generator.connect().finish()
        generator.selector.register(self._socket, selectors.EVENT_READ, self)
        self._random = np.random.default_rng([self._workload.seed, count])
        self._splitter = Splitter()
        self._left = count
        self.seconds: list[float] = []
        self.checked = 0
        self._number = 0
        self._step = self._begin

    def advance(self) -> bool:
        """Go on with what can go on now."""
        if self._left and perf_counter() > self._asked_at + ANSWER_SECONDS:
            raise SienaError("a subscription is not answered while others publish")
        if self._left:
            self._step()
        return self._left > 0

    def close(self) -> None:
        """Leave."""
        self._generator.selector.unregister(self._socket)
        self._socket.close()

    # --- Steps -----------------------------------------------------------------------

    _asked_at = float("inf")

    def _begin(self) -> None:
        self._number += 1
        symbol = int(self._random.choice(self._workload.symbol))
        low = round(float(self._random.uniform(LOWEST, HIGHEST * (1 - SHARE))), 2)
        high = round(low + (HIGHEST - LOWEST) * SHARE, 2)
        price = self._workload.price
        self._selects = (
            (self._workload.symbol == symbol) & (price > low) & (price < high)
        )
        self._got: list[int] = []
        text = (
            f"symbol = {symbol_name(symbol)} and price > {low!r} and price < {high!r} "
            "and change < 99.0"
        )
        self._asked_at = perf_counter()
        self._socket.sendall(Subscribe(self._number, text).pack())
        self._step = _wait

    def _stay(self) -> None:
        if perf_counter() - self._settled_at >= STAY_SECONDS:
            self._last = self._publisher.made
            self._publisher.ask()
            self._barrier = self._publisher.asked
            self._step = self._end

    def _end(self) -> None:
        if self._publisher.answered >= self._barrier:
            self._asked_at = perf_counter()
            self._socket.sendall(Unsubscribe(self._number).pack())
            self._step = _wait

    # --- What comes ------------------------------------------------------------------

    def receive(self) -> None:
        """Read what the broker says."""
        data = self._socket.recv(READ_BYTES)
        if not data:
            raise ConnectionResetError
        for frame in self._splitter.feed(data):
            complain(frame)
            self._take(frame)

    def _take(self, frame: Frame) -> None:
        if frame.op == Op.SETTLED:
            assert frame.body == Settled(self._number).pack()[5:]
            self._settled_at = perf_counter()
            self.seconds.append(self._settled_at - self._asked_at)
            self._first = self._publisher.made
            self._step = self._stay
        elif frame.op == Op.MSG:
            self._check(frame.body)
        elif frame.op == Op.DONE:
            self._compare()
            self._left -= 1
            self._step = self._begin

    def _check(self, body: bytes) -> None:
        """See that a delivery is one that was selected, as it was published."""
        numbers, block = unpack_msg(body)
        stamped = decode(block)["number"]
        assert isinstance(stamped, int)
        publisher, number = divmod(stamped - BASE, 1 << NUMBER_BITS)
        begun = self._generator.publishers[publisher].begun
        place = (begun + number) % self._workload.pool
        right = numbers == (self._number,) and self._selects[place]
        if not right or _unstamped(block) != _unstamped(self._workload.blocks[place]):
            raise SienaError(
                f"a new subscription got what it did not ask for: {block!r}"
            )
        if publisher == 0:
            self._got.append(number)
        self.checked += 1

    def _compare(self) -> None:
        """See that from SETTLED on all has come that was selected, in order."""
        numbers = np.arange(self._first, self._last)
        places = (numbers + self._publisher.begun) % self._workload.pool
        wanted = numbers[self._selects[places]].tolist()
        got = [each for each in self._got if self._first <= each < self._last]
        if got != wanted:
            raise SienaError(
                f"a settled subscription got {len(got)} of {len(wanted)} notifications"
            )


def _wait() -> None:
    """Nothing to do until something comes."""


def _unstamped(block: bytes) -> bytes:
    first, second = number_at(len(block)), sent_at(len(block))
    return block[:first] + block[first + 8 : second]
