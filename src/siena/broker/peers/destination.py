"""Where a neighbour is called: a socket of its own, or a WebSocket among HTTP.

Both carry the same bytes.  ``siena://HOST:PORT``, or ``sienas://`` for TLS, is the
socket that clients use as well; ``ws://HOST:PORT/PATH``, or ``wss://`` for TLS, gets
through proxies that let nothing but HTTP pass, to a broker with ``--http``.
"""

import asyncio
from typing import NamedTuple
from urllib.parse import urlsplit

from siena.broker.access.certificates import Certificates
from siena.broker.peers.websocket_caller import WebSocketCall
from siena.errors import SienaError
from siena.protocol.address import Address, read_address

# Where a broker with an HTTP side awaits links.
LINK_PATH = "/link"
# The ports that such URLs have if they name none.
_PORTS = {"ws": 80, "wss": 443}


class Destination(NamedTuple):
    """An address, and for a WebSocket the path there."""

    address: Address
    path: str | None = None

    def __str__(self) -> str:
        if self.path is None:
            return self.address.url
        scheme = "wss" if self.address.is_secure else "ws"
        return f"{scheme}://{self.address.place}{self.path}"

    @property
    def urls(self) -> list[str]:
        """Where clients find the broker, as far as this says it: through no proxy."""
        return [self.address.url] if self.path is None else []

    async def connect(
        self, connection: asyncio.BufferedProtocol, certificates: Certificates
    ) -> None:
        """Let a connection be made to there; with TLS, by these certificates.

        Raises:
            OSError: if nothing listens there.
            SienaError: if it is no WebSocket for links.
        """
        loop = asyncio.get_running_loop()
        host, port = self.address.pair
        secure = certificates.client if self.address.is_secure else None
        if self.path is None:
            await loop.create_connection(lambda: connection, host, port, ssl=secure)
            return
        call = WebSocketCall(str(self), connection)
        transport, _ = await loop.create_connection(
            lambda: call, host, port, ssl=secure
        )
        try:
            await call.opened
        except BaseException:  # also if it is not waited for any longer
            transport.abort()
            raise


def read_destination(url: str) -> Destination:
    """The destination that a URL names; without a path, a WebSocket's is usual.

    >>> print(read_destination("siena://10.0.0.1"))
    siena://10.0.0.1:2606
    >>> print(read_destination("ws://10.0.0.1:2680"))
    ws://10.0.0.1:2680/link
    >>> print(read_destination("wss://example.org/brokers/one"))
    wss://example.org:443/brokers/one
    >>> read_destination("ws://example.org:port/")
    Traceback (most recent call last):
    siena.errors.SienaError: ws://example.org:port/ is no address of a WebSocket
    (ws://HOST:PORT/PATH, such as ws://127.0.0.1:2680/link)
    """
    scheme = url.partition("://")[0]
    if scheme not in _PORTS:
        return Destination(read_address(url))
    found = _read_websocket(url)
    if found is None:
        hint = f"ws://HOST:PORT/PATH, such as ws://127.0.0.1:2680{LINK_PATH}"
        raise SienaError(f"{url} is no address of a WebSocket", hint=hint)
    return found


def _read_websocket(url: str) -> Destination | None:
    try:
        parts = urlsplit(url)
        port = parts.port or _PORTS[parts.scheme]
    except ValueError:  # a port that is none, half an IPv6 address
        return None
    says_more = parts.query or parts.fragment or parts.username
    if not parts.hostname or says_more:
        return None
    path = parts.path if parts.path.strip("/") else LINK_PATH
    is_secure = parts.scheme == "wss"
    return Destination(Address(parts.hostname, port, is_secure=is_secure), path)
