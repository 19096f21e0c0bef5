"""A durable subscription as the connection knows it: request, what came, answers."""

import asyncio
from collections.abc import Callable

from siena.client.core.inbox import Inbox
from siena.client.core.registrations import Gate
from siena.errors import ConnectionLostError, SienaError
from siena.protocol.durable.reading import (
    Ack,
    DurableDelivery,
    DurableSubscribe,
    Nak,
    pack_deliver,
)
from siena.protocol.frames import HEAD_BYTES, Body
from siena.protocol.limits import ACKS_MAX, CREDIT_MAX


class RegisteredDurable:
    """What is read under one number, through all connections.

    Acknowledgements of one turn of the loop go together; those of a connection that was
    lost are made good by the next one to the same broker: offsets are of its log.
    """

    def __init__(self, body: DurableSubscribe, say: Callable[[bytes], None]) -> None:
        self._body = body
        self._say = say
        # The broker sends no more than the credit: nothing is ever dropped here.
        self.inbox = Inbox(count_max=2 * CREDIT_MAX, bytes_max=2**40)
        self.settled = Gate()
        self.silent: tuple[str, ...] = ()
        # What is granted of it, if that is less.
        self.in_force: str | None = None
        # Whether the broker knows on this connection who reads.
        self._is_joined = False
        self.log = 0
        """Of which log offsets are: another one for each broker that was changed to."""
        self._acks: list[int] = []
        self._up_to: int | None = None
        self._naks: list[Nak] = []
        self._is_due = False

    @property
    def number(self) -> int:
        """The number under which the broker knows it."""
        return self._body.number

    @property
    def name(self) -> str:
        """What it is called at the broker."""
        return self._body.name

    @property
    def interest(self) -> str:
        """What is wanted, in the words of the language."""
        return self._body.filter

    def request(self) -> bytes:
        """The frame that asks for it."""
        return self._body.pack()

    # -- the connection --------------------------------------------------------

    def detach(self) -> None:
        """The connection is lost: what was not read comes again."""
        self.settled.close()
        self._is_joined = False
        self._naks.clear()
        self.inbox.take(len(self.inbox))

    def forget_answers(self) -> None:
        """The next connection is to another broker, which has another log."""
        self._acks.clear()
        self._up_to = None
        self.log += 1

    def fail(self, reason: SienaError) -> None:
        """Nothing comes any more, for this reason."""
        self.settled.fail(reason)
        self.inbox.finish(reason)

    def end(self) -> None:
        """Nothing comes any more, because the program does not want to read it."""
        self.settled.fail(ConnectionLostError("the subscription was closed"))
        self.inbox.finish(at_once=True)

    def hear_settled(self, silent: tuple[str, ...] = ()) -> None:
        """It is in force in the whole network, but for brokers that are silent."""
        self.silent = silent
        self.settled.open()
        self._join()

    def put(self, came: DurableDelivery) -> None:
        """Keep what came."""
        self.inbox.put(pack_deliver(came)[HEAD_BYTES:])
        self._join()

    def _join(self) -> None:
        if not self._is_joined:
            self._is_joined = True
            self._schedule()

    # -- answers ---------------------------------------------------------------

    def ack(self, offset: int, log: int) -> None:
        """It is done, unless it came from the log of another broker."""
        if log == self.log:
            self._acks.append(offset)
            self._schedule()

    def ack_up_to(self, offset: int) -> None:
        """All up to an offset are done."""
        self._up_to = max(offset, self._up_to or 0)
        self._schedule()

    def nak(self, offset: int, delay_s: float, log: int) -> None:
        """It shall come again, unless it came from the log of another broker."""
        if log == self.log:
            self._naks.append(Nak(self.number, [offset], delay_s))
            self._schedule()

    def _schedule(self) -> None:
        if not self._is_due:
            self._is_due = True
            asyncio.get_running_loop().call_soon(self.flush)

    def flush(self) -> None:
        """Send the answers of this turn."""
        self._is_due = False
        if not self._is_joined:
            return  # they are sent when the broker knows who reads
        acks, self._acks = self._acks, []
        up_to, self._up_to = self._up_to, None
        naks, self._naks = self._naks, []
        answers: list[Body] = [
            Ack(self.number, acks[first : first + ACKS_MAX])
            for first in range(0, len(acks), ACKS_MAX)
        ]
        if up_to is not None:
            answers.append(Ack(self.number, [], up_to))
        answers += naks
        if answers:
            self._say(b"".join(answer.pack() for answer in answers))
