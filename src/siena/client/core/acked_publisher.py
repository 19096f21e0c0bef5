"""Publications that want a receipt: numbered, and sent again until it has come.

They go in frames of many, as many as were published in one turn of the loop.  When the
connection is lost, all without a receipt are sent again over the next one, in the same
order and with the same numbers, so that the broker stores each once.

A publisher with a name of its program's choice goes on, in the next life of the
program, with the number behind what the broker has on its disk.

*Cancellation*: a caller that stops waiting for a receipt has published all the same.
"""

import asyncio
import uuid
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from siena.client.core.registrations import Gate
from siena.errors import RequestRefusedError, SienaError
from siena.protocol.durable.receipts import (
    Publisher,
    PublisherIs,
    Stored,
    pack_acked,
)
from siena.protocol.error_codes import Fault

# What is under way at most, in bytes and in publications: several times what a broker
# writes to its disk at once.
UNACKED_BYTES_MAX = 16 * 1024 * 1024
UNACKED_MAX = 262_144
# Publications of one frame, and their bytes unless one is longer.
FRAME_COUNT = 16_384
FRAME_BYTES = 262_144


class _Unacked(NamedTuple):
    """One publication without a receipt."""

    sequence: int
    frame: bytes
    receipt: "asyncio.Future[int | None]"


class AckedPublisher:
    """The publisher that a client is to its broker, through all connections.

    Args:
        say: sends frames, if there is a connection.
        name: under which it goes on what was begun in another life of the program.
    """

    def __init__(self, say: Callable[[bytes], None], name: str | None = None) -> None:
        self._say = say
        self.name = name or uuid.uuid4().hex
        # Whether it is known with which number it begins, and who waits for that.
        self._has_begun = name is None
        self._beginning: list[asyncio.Future[None]] = []
        # The number that the broker of this connection has given it.
        self._number: int | None = None
        self._is_asked = False
        self._next = 0
        # Whether something of this life of the program is known to be stored.
        self._has_stored = False
        self._unacked: deque[_Unacked] = deque()
        self._bytes = 0
        # Those that have not been sent over this connection yet.
        self._unsent: list[_Unacked] = []
        self._is_due = False
        self._room = Gate()
        self._room.open()

    # -- connections come and go -----------------------------------------------

    def attach(self, *, is_durable: bool) -> None:
        """There is a connection: send again what has no receipt."""
        self._is_asked = False
        is_wanted = self._unacked or self._beginning
        if is_wanted and not is_durable:
            self._refuse_all(no_store())
        elif is_wanted:
            self._ask()

    def detach(self) -> None:
        """The connection is lost, and with it the receipts that were on their way."""
        self._number = None
        self._is_asked = False
        self._unsent = list(self._unacked)

    def fail(self, reason: SienaError) -> None:
        """There will be no other connection: there are no receipts any more."""
        self.detach()
        self._room.fail(reason)
        self._refuse_all(reason)

    def _refuse_all(self, reason: SienaError) -> None:
        unacked, self._unacked = self._unacked, deque()
        self._bytes = 0
        self._unsent = []
        for each in unacked:
            _resolve(each.receipt, reason)
        beginning, self._beginning = self._beginning, []
        for waiting in beginning:
            _resolve(waiting, reason)
        self._room.open()

    def _ask(self) -> None:
        if not self._is_asked:
            self._is_asked = True
            self._say(Publisher(self.name).pack())

    # -- publishing ------------------------------------------------------------

    async def next_sequence(self) -> int:
        """The number of what is published next: how many the broker has, if in order.

        Raises:
            SienaError: if the broker does not say it.
        """
        if not self._has_begun:
            begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._beginning.append(begun)
            self._ask()
            await begun
        return self._next

    async def publish(self, frame: bytes) -> "asyncio.Future[int | None]":
        """Send a PUB frame; a future for the offset at which it is stored."""
        if not self._has_begun:
            await self.next_sequence()
        while not self._room.is_open:
            await self._room.passed()
        receipt: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        one = _Unacked(self._next, frame, receipt)
        self._unacked.append(one)
        self._unsent.append(one)
        self._next += 1
        self._bytes += len(frame)
        if self._bytes >= UNACKED_BYTES_MAX or len(self._unacked) >= UNACKED_MAX:
            self._room.close()
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self._send)
        return receipt

    def _send(self) -> None:
        """Send what was not sent yet over this connection."""
        self._is_due = False
        if not self._unsent:
            return
        if self._number is None:
            self._ask()
            return
        unsent, self._unsent = self._unsent, []
        some: list[_Unacked] = []
        size = 0
        for each in unsent:
            # Of those that are sent again, some in between may have got receipts.
            is_next = not some or each.sequence == some[-1].sequence + 1
            is_full = len(some) >= FRAME_COUNT or size >= FRAME_BYTES
            if some and (is_full or not is_next):
                self._say(self._frame(some))
                some, size = [], 0
            some.append(each)
            size += len(each.frame)
        self._say(self._frame(some))

    def _frame(self, some: list[_Unacked]) -> bytes:
        assert self._number is not None
        frames = b"".join([each.frame for each in some])
        return pack_acked(self._number, some[0].sequence, len(some), frames)

    # -- what the broker says --------------------------------------------------

    def hear(self, told: PublisherIs | Stored) -> None:
        """The broker has given us a number, or receipts."""
        if isinstance(told, Stored):
            self._stored(told)
        elif told.name == self.name:
            if not self._has_begun:
                self._has_begun, self._next = True, told.next
            elif told.next > self._next and self._has_stored:
                # Without a receipt they may be those of the life before, which were on
                # their way: what is sent again of them is stored once.  Otherwise it
                # would take ours for those, which have the same numbers.
                text = f"the broker has other publications of {self.name!r}"
                hint = "one program at a time publishes under a name"
                self._refuse_all(SienaError(text, hint=hint))
                self._next = told.next
            beginning, self._beginning = self._beginning, []
            for waiting in beginning:
                if not waiting.done():
                    waiting.set_result(None)
            self._number = told.publisher
            self._send()

    def refused(self, error: SienaError) -> None:
        """The broker does not want us to publish in this way."""
        self._is_asked = False
        self._refuse_all(error)

    def _stored(self, told: Stored) -> None:
        """Some are on the disk, or were refused."""
        end = told.sequence + told.count
        unacked = self._unacked
        while unacked and told.sequence <= unacked[0].sequence < end:
            self._answer(unacked.popleft(), told)
        if unacked and unacked[0].sequence < told.sequence:  # those before come later
            for each in [e for e in unacked if told.sequence <= e.sequence < end]:
                unacked.remove(each)
                self._answer(each, told)
        if self._bytes < UNACKED_BYTES_MAX // 2 and len(unacked) < UNACKED_MAX // 2:
            self._room.open()

    def _answer(self, one: _Unacked, told: Stored) -> None:
        self._bytes -= len(one.frame)
        if told.fault:
            _resolve(one.receipt, RequestRefusedError(told.fault, told.text))
        elif not one.receipt.done():
            self._has_stored = True
            at = one.sequence - told.sequence
            one.receipt.set_result(None if told.offset is None else told.offset + at)


def no_store() -> RequestRefusedError:
    """What is said where there is no store."""
    text = "this broker has no store, and cannot acknowledge; start it with --log"
    return RequestRefusedError(Fault.NO_STORE.number, text)


def _resolve(future: "asyncio.Future[Any]", error: SienaError) -> None:
    if not future.done():
        future.set_exception(error)
        future.exception()  # seen, even if nobody waits any more
