"""The old broker: where an identity was before, asked by the one where it is now."""

import asyncio
import ssl
from dataclasses import replace

from siena.broker.clients.letters import letter_of
from siena.lang.parser import parse_advertisement, parse_interest
from siena.messages import Interest, Listing, Numbered, Parcel, Release
from siena.model import Advertisement
from siena.protocol import control_frames as bodies
from siena.protocol.address import Address
from siena.protocol.control_frames import Body, Done, Error, Tell, Welcome, unpack
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Frame, Op, Splitter
from siena.protocol.handshake import PREFACE, VERSIONS, read_info
from siena.protocol.limits import (
    ADVERTISEMENTS_MAX,
    FRAME_BYTES_MAX,
    LINE_BYTES_MAX,
    SUBSCRIPTIONS_MAX,
)
from siena.protocol.peer_messages import decode, pack_tell
from siena.routing.mailbox import QUEUE_BYTES_MAX

# What an old broker may hand over: all that it keeps for one client, and the last one
# that it kept may be as long as a frame.
HANDED_BYTES_MAX = QUEUE_BYTES_MAX + FRAME_BYTES_MAX


class HandoffSource:
    """The broker where an identity was before, as long as it is asked."""

    def __init__(self, identity: str, token: str | None = None) -> None:
        self._letters: list[Numbered] = []
        self._lost = 0
        self._size = 0
        self._told: Parcel | None = None
        self._identity = identity
        self._token = token
        self._splitter = Splitter(FRAME_BYTES_MAX)
        self._came: list[Frame] = []
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def connect(
        self, address: Address, secure: ssl.SSLContext | None = None
    ) -> None:
        """Connect as the identity; with TLS, in this context."""
        self._reader, self._writer = await asyncio.open_connection(
            *address.pair, limit=LINE_BYTES_MAX, ssl=secure
        )
        read_info(await self._reader.readline())
        connect = bodies.Connect(
            VERSIONS[1], identity=self._identity, token=self._token
        )
        self._writer.write(PREFACE + connect.pack())
        if not isinstance(await self._body(), Welcome):
            raise ProtocolError(Fault.BAD_FRAME, "CONNECT was not answered by WELCOME")

    async def listing(self) -> Listing:
        """What the identity has asked for there.

        Raises:
            SienaError: if that is more than a client may ask for, or unreadable.
        """
        self._write(bodies.Move("").pack())
        interests: list[tuple[int | Interest, Interest]] = []
        advertisements: list[tuple[int | Advertisement, Advertisement]] = []
        while not isinstance(body := await self._body(), Done):
            if isinstance(body, bodies.Subscribe):
                interests.append(
                    (body.number, parse_interest(body.interest, residuals=True))
                )
            elif isinstance(body, bodies.Advertise):
                parsed = parse_advertisement(body.advertisement)
                advertisements.append((body.number, parsed))
            if len(interests) > SUBSCRIPTIONS_MAX:
                raise ProtocolError(Fault.TOO_MANY, "more than a client may ask for")
            if len(advertisements) > ADVERTISEMENTS_MAX:
                raise ProtocolError(Fault.TOO_MANY, "more than a client may advertise")
        return Listing(tuple(interests), tuple(advertisements))

    async def release(self) -> Parcel:
        """Fetch what was kept; from then on it is kept nowhere else."""
        self._write(pack_tell(Release()))
        while True:
            frame = await self._frame()
            if frame.op in {Op.MSG, Op.FOUND}:
                self._size += len(frame.body)
                if self._size > HANDED_BYTES_MAX:
                    raise ProtocolError(Fault.TOO_LONG, "more than a broker keeps")
                self._letters.append(letter_of(frame))
                continue
            body = _checked(unpack(*frame))
            if isinstance(body, bodies.Lost):
                self._lost += body.count
            elif isinstance(body, Tell):
                parcel = decode(body)
                if not isinstance(parcel, Parcel):
                    raise ProtocolError(Fault.BAD_FRAME, "RELEASE was not answered")
                self._told = parcel
                return self.parcel()

    @property
    def has_some(self) -> bool:
        """Whether anything was handed over, and there may have been more."""
        return self._told is None and bool(self._letters or self._lost)

    def parcel(self, *, torn: str | None = None) -> Parcel:
        """All that was handed over; ``torn`` says why it may not be all there was."""
        told = self._told or Parcel()
        return replace(
            told, kept=tuple(self._letters), lost=told.lost + self._lost, torn=torn
        )

    def close(self) -> None:
        """Hang up."""
        if self._writer is not None:
            self._writer.close()

    def _write(self, frame: bytes) -> None:
        assert self._writer is not None
        self._writer.write(frame)

    async def _body(self) -> Body:
        return _checked(unpack(*await self._frame()))

    async def _frame(self) -> Frame:
        assert self._reader is not None
        while not self._came:
            data = await self._reader.read(65_536)
            if not data:
                raise EOFError("it has hung up")
            self._came += self._splitter.feed(data)
        return self._came.pop(0)


def _checked(body: Body) -> Body:
    if isinstance(body, Error):
        raise ProtocolError(Fault.BAD_REQUEST, body.text)
    return body
