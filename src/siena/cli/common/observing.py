"""What the observing commands share: looking at brokers, one after the other.

A plain socket around the conversation of a client: what is asked is answered in order,
and no broker waits for anything else.
"""

import socket
import ssl
from errno import ECONNREFUSED
from types import TracebackType
from typing import Annotated, Any, Self

import typer

from siena.block import encode
from siena.cli.common.contexts import Server, context_names, find_server
from siena.cli.terminal.foreign import printable, printable_form
from siena.client.tokens import refusal_hint
from siena.errors import ConnectionLostError, NoBrokerError, RequestRefusedError
from siena.model import Notification
from siena.protocol.address import Address, parse_address
from siena.protocol.client import ClientConversation, Event
from siena.protocol.control_frames import Body, Connect, Error, Look, Seen, Welcome
from siena.protocol.error_codes import ProtocolError
from siena.protocol.handshake import VERSIONS, WANTING, Info
from siena.protocol.limits import LOOK_DEFAULT

# How long a broker may take to answer.
ANSWER_SECONDS_MAX = 10.0

Form = dict[str, Any]

ServersOption = Annotated[
    list[str] | None,
    typer.Option(
        "--server",
        "-S",
        help="Address or context of a broker, as often as wanted; otherwise SIENA_URL, "
        "the context in use, or siena://127.0.0.1:2606.",
        show_default=False,
        autocompletion=context_names,
    ),
]


class Observer:
    """A connection to one broker, from ``with`` to its end."""

    def __init__(self, server: Server, *, seconds: float = ANSWER_SECONDS_MAX) -> None:
        self.address = parse_address(server.url)
        self.info: Info | None = None
        self.session: str | None = None
        """The number under which the broker has this connection among its clients."""
        self._tls = server.tls
        self._token = server.token
        self._seconds = seconds
        connect = Connect(VERSIONS[1], "siena observer", token=server.token)
        self._conversation = ClientConversation(connect)
        self._events: list[Event] = []
        self._socket: socket.socket | None = None

    def __enter__(self) -> Self:
        """Connect.

        Raises:
            NoBrokerError: if no broker answers, or none that we understand.
        """
        try:
            self._socket = _connected(self.address, self._seconds, self._tls)
        except OSError as error:
            why = error.strerror or str(error)
            hint = "start one with: siena serve" if error.errno == ECONNREFUSED else ""
            text = f"no broker at {self.address}: {why}"
            raise NoBrokerError(text, hint=hint) from None
        try:
            info = self._expect(Info)
            assert isinstance(info, Info)
            self.info = info
            self.send(self._conversation.hello())
            welcome = self._expect(Welcome)
            assert isinstance(welcome, Welcome)
            self.session = str(welcome.session)
        except BaseException:
            self._socket.close()
            raise
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        if self._socket is not None:
            self._socket.close()

    def look(self, what: str, limit: int = LOOK_DEFAULT) -> Form:
        """What the broker knows."""
        return self._seen(Look(what, limit))

    def _seen(self, look: Look) -> Form:
        self.send(look.pack())
        seen = self._expect(Seen)
        assert isinstance(seen, Seen)
        found: Form = printable_form(seen.seen)
        return found

    def wanting(self, notification: Notification, limit: int) -> Form | None:
        """Who would get a notification; ``None`` if this broker does not say."""
        assert self.info is not None, "it has said who it is"
        if WANTING not in self.info.features:
            return None
        return self._seen(Look(WANTING, limit, encode(notification)))

    def send(self, frames: bytes) -> None:
        """Send bytes."""
        assert self._socket is not None
        try:
            self._socket.sendall(frames)
        except OSError as error:
            raise _lost(self.address, error) from None

    def next(self) -> Event:
        """What it says next.

        Raises:
            ServiceError: if it says nothing any more, or that something was wrong.
            TimeoutError: if it does not say anything in time.
        """
        assert self._socket is not None
        while not self._events:
            try:
                data = self._socket.recv(65_536)
            except TimeoutError:
                raise
            except OSError as error:
                raise _lost(self.address, error) from None
            if not data:
                raise ConnectionLostError(f"the broker at {self.address} hung up")
            self._events += self._conversation.feed(data)
        event = self._events.pop(0)
        if isinstance(event, ProtocolError):
            raise NoBrokerError(f"{self.address}: {event}")
        if isinstance(event, Error):
            text = f"{self.address}: {printable(event.text)}"
            hint = refusal_hint(event.fault, self._token)
            raise RequestRefusedError(event.fault, text, hint=hint)
        return event

    def _expect(self, kind: type[Body] | type[Info]) -> Event:
        try:
            while not isinstance(event := self.next(), kind):
                pass
        except TimeoutError:
            text = f"the broker at {self.address} does not answer"
            raise ConnectionLostError(text) from None
        return event


def _connected(
    address: Address, seconds: float, tls: ssl.SSLContext | None
) -> socket.socket:
    found = socket.create_connection((address.host, address.port), seconds)
    if tls is None:
        return found
    try:
        return tls.wrap_socket(found, server_hostname=address.host)
    except BaseException:
        found.close()
        raise


def _lost(address: Address, error: OSError) -> ConnectionLostError:
    return ConnectionLostError(f"the broker at {address}: {error.strerror or error}")


def servers_of(said: list[str] | None) -> list[Server]:
    """The servers that are meant."""
    return [find_server(one) for one in said] if said else [find_server(None)]
