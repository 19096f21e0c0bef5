"""The server: uvicorn as a task in the loop of its broker, which keeps the signals."""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import uvicorn
from starlette.routing import BaseRoute
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from siena.broker.broker import Broker
from siena.broker.clients.in_process_entry import InProcessEntry
from siena.broker.http.app import make_app
from siena.broker.http.door.authentication import CERTIFICATE
from siena.broker.http.limits import (
    CONNECTIONS_MAX,
    DRAIN_SECONDS_MAX,
    HEAD_BYTES_MAX,
    HEAD_SECONDS_MAX,
)
from siena.broker.http.websocket import ManyMessages
from siena.broker.io.listen import check_listening, listen
from siena.broker.questions.over_http import Questions
from siena.broker.webhooks.mapping import Handlers
from siena.errors import SienaError
from siena.protocol.address import Address, read_address
from siena.protocol.limits import LINE_BYTES_MAX

PORT = 2680


class _Server(uvicorn.Server):
    """A server that leaves signals to others."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Capture none."""
        yield


class BoundedHttp(HttpToolsProtocol):
    """One connection; a head that does not end is refused, which httptools never does.

    The bytes that come together with the beginning of a head do not count: what else
    stands among them may be the end of the body before.
    """

    _is_in_head = False
    _head_bytes = 0
    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """It stands: a request shall come."""
        super().connection_made(transport)
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is over."""
        self._has_head()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """No more requests come."""
        self._has_head()
        super().handle_websocket_upgrade()

    def _await_head(self) -> None:
        self._has_head()
        self._head_timer = self.loop.call_later(HEAD_SECONDS_MAX, self._too_late)

    def _has_head(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _too_late(self) -> None:
        if not self.transport.is_closing():
            self.send_400_response(f"no request in {HEAD_SECONDS_MAX:g} seconds")

    def data_received(self, data: bytes) -> None:
        """Parse what came, unless there has been enough of one head."""
        if self._is_in_head:
            self._head_bytes += len(data)
            if self._head_bytes > HEAD_BYTES_MAX:
                self.send_400_response(f"more than {HEAD_BYTES_MAX} bytes of headers")
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """A head begins."""
        self._is_in_head, self._head_bytes = True, 0
        if self._head_timer is None:  # of the first, it runs since the beginning
            self._await_head()
        super().on_message_begin()
        shown = self.transport.get_extra_info("peercert")
        cast("dict[str, Any]", self.scope)[CERTIFICATE] = shown

    def on_headers_complete(self) -> None:
        """It has ended."""
        self._is_in_head = False
        self._has_head()
        super().on_headers_complete()


def read_where(text: str) -> Address:
    """Where to serve HTTP: HOST:PORT, or https://HOST:PORT for TLS.

    >>> read_where("https://0.0.0.0"), read_where(":7").place
    (Address(host='0.0.0.0', port=2680, is_secure=True), '127.0.0.1:7')
    """
    scheme, has_scheme, rest = text.partition("://")
    if not has_scheme or scheme not in {"http", "https"}:
        return read_address(text, PORT)
    return replace(read_address(rest, PORT), is_secure=scheme == "https")


class HttpServer:
    """The HTTP side of a broker that has started.

    Ownership: the caller of :meth:`start` calls :meth:`drain`, before the broker's; the
    task of the server lives in between.
    """

    def __init__(
        self, broker: Broker, where: str, more: Sequence[BaseRoute] = ()
    ) -> None:
        self.entry = InProcessEntry(broker)
        self._more = more
        self._questions: Questions | None = None
        self.handlers = Handlers(self.entry)
        self.address = read_where(where)
        self._server: _Server | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        """As people write it."""
        return f"http{'s' * self.address.is_secure}://{self.address.place}"

    async def start(self) -> None:
        """Listen, and serve from now on.

        Raises:
            SienaError: if it may not, or cannot, listen there.
        """
        broker = self.entry.broker
        settings, secure = broker.settings, broker.certificates.server
        if self.address.is_secure and secure is None:
            hint = "[tls] in the settings names them; siena cert makes some"
            raise SienaError("https:// needs a certificate and its key", hint=hint)
        check_listening(
            [self.address],
            insecure=settings.insecure_listen,
            is_asking=broker.access.has_identities,
        )
        socket = listen(self.address)
        await self.handlers.take_up()
        hosts = (*settings.http_hosts, self.address.host)
        host, port = socket.getsockname()[:2]
        self.address = replace(self.address, host=host, port=port)
        app = make_app(self.entry, self.handlers, hosts, self._more)
        self._questions = app.state.questions
        self._server = _Server(
            uvicorn.Config(
                app,
                lifespan="off",
                http=BoundedHttp,
                ws=ManyMessages,
                ws_max_size=LINE_BYTES_MAX,
                ws_per_message_deflate=False,
                log_config=None,
                log_level="error",
                access_log=False,
                server_header=False,
                limit_concurrency=CONNECTIONS_MAX,
                timeout_graceful_shutdown=DRAIN_SECONDS_MAX,
                ssl_context_factory=(
                    (lambda *_: secure) if self.address.is_secure and secure else None
                ),
            )
        )
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._server.serve([socket]))
        while not self._server.started:
            if self._task.done():
                raise SienaError(f"cannot serve HTTP at {self.address.place}")
            await asyncio.sleep(0.001)

    async def drain(self) -> None:
        """Answer no request any more, and say good-bye to those who are there."""
        self.entry.drain()
        if self._questions is not None:
            self._questions.following.forget()
        await self.handlers.drain()
        if self._server is not None and self._task is not None:
            self._server.should_exit = True
            await self._task
