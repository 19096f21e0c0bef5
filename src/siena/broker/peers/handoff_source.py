"""The old broker: where an identity was before, asked by the one where it is now."""

import asyncio
from collections.abc import Sequence

from siena.broker.addresses import Address
from siena.messages import Parcel, Release, Stamp
from siena.protocol import control_frames as bodies
from siena.protocol.control_frames import Body, Done, Error, Tell, Welcome, unpack
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Frame, Op, Splitter, pack
from siena.protocol.handshake import PREFACE, VERSIONS, read_info
from siena.protocol.limits import FRAME_BYTES_MAX, LINE_BYTES_MAX
from siena.protocol.peer_messages import decode, pack_tell


class HandoffSource:
    """The broker where an identity was before, as long as it is asked."""

    def __init__(self, identity: str) -> None:
        self.frames: list[bytes] = []
        self.stamps: frozenset[Stamp] = frozenset()
        self.lost = 0
        self._identity = identity
        self._splitter = Splitter(FRAME_BYTES_MAX)
        self._came: list[Frame] = []
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def connect(self, address: Address) -> None:
        """Connect as the identity."""
        self._reader, self._writer = await asyncio.open_connection(
            *address, limit=LINE_BYTES_MAX
        )
        read_info(await self._reader.readline())
        connect = bodies.Connect(VERSIONS[1], identity=self._identity)
        self._writer.write(PREFACE + connect.pack())
        if not isinstance(await self._body(), Welcome):
            raise ProtocolError(Fault.BAD_FRAME, "CONNECT was not answered by WELCOME")

    async def listing(self) -> Sequence[Body]:
        """What the identity has asked for there."""
        self._write(bodies.Move("").pack())
        found = []
        while not isinstance(body := await self._body(), Done):
            if isinstance(body, (bodies.Subscribe, bodies.Advertise)):
                found.append(body)
        return found

    async def release(self) -> None:
        """Fetch what was kept; from then on it is nobody's there."""
        self._write(pack_tell(Release()))
        while True:
            frame = await self._frame()
            if frame.op in {Op.MSG, Op.FOUND}:
                self.frames.append(pack(*frame))
                continue
            body = _checked(unpack(*frame))
            if isinstance(body, bodies.Lost):
                self.lost += body.count
            elif isinstance(body, Tell):
                parcel = decode(body)
                if not isinstance(parcel, Parcel):
                    raise ProtocolError(Fault.BAD_FRAME, "RELEASE was not answered")
                # Of sequences none are handed over: a pattern begins anew.
                self.stamps = frozenset(
                    key for key in parcel.known if isinstance(key, Stamp)
                )
                return

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
