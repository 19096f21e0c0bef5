"""A stream of NATS JetStream.

The client of NATS lives in a loop and a thread of its own: a server that does not
answer is waited for there, and not in the loop of the broker.

*Once*: every message says behind which number it is to stand, and the server refuses it
if something else stands there.  So what is sent again after an answer was lost is not
kept twice, and of two brokers that write to one stream the second displaces the first.

Why one module: the connection, which is made anew, and what is asked through it.
"""

import asyncio
import logging
import ssl
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import nats
from nats.aio.client import Client
from nats.errors import Error as NatsError
from nats.js import JetStreamContext
from nats.js.api import (
    ConsumerConfig,
    DeliverPolicy,
    DiscardPolicy,
    Header,
    RawStreamMsg,
    StorageType,
    StreamConfig,
)
from nats.js.errors import APIError, BadRequestError, NotFoundError

from siena.broker.log.stores.credentials import read_credentials
from siena.broker.log.stores.limits import (
    ANSWER_SECONDS,
    OPEN_SECONDS,
    READ_BYTES,
    READ_MESSAGES,
    RETRY_SECONDS,
    UNDER_WAY_MAX,
)
from siena.broker.log.stores.stream import (
    DisplacedError,
    Message,
    Outgoing,
    StreamError,
)
from siena.broker.log.stores.url import StoreUrl
from siena.errors import SienaError

log = logging.getLogger("siena.broker")

T = TypeVar("T")

# What the server says when something else stands behind the number.
_WRONG_LAST_SEQUENCE = 10071
# And when there are not as many servers yet as a stream has replicas.
_NO_PEERS_YET = 10005
# What a message may have beside its data.
_HEADERS_BYTES = 512


class JetStream:
    """A stream, and the connection to its servers.

    Ownership: of the thread and the connection, from making it to :meth:`close`.

    Raises:
        SienaError: if there is no such server, or the stream is not as it must be.
    """

    forgets_by_subject = True

    def __init__(self, url: StoreUrl, credentials: Path | None = None) -> None:
        self.name = url.shown
        self._url = url
        self._options = _credentials(credentials)
        if url.is_secure:
            self._options["tls"] = ssl.create_default_context()
        self._client: Client | None = None
        self._heard = ""
        # Of a loop that no other thread takes for its own.
        self._runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self._loop = self._runner.get_loop()
        self._is_over = asyncio.Event()
        self._pause = threading.Event()
        self._thread = threading.Thread(
            target=self._live, name="siena-store", daemon=True
        )
        self._thread.start()
        try:
            self._begin_with(self._open())
            self._prepare()
        except BaseException:
            self.close()
            raise

    # --- Opening and closing --------------------------------------------------------

    def _live(self) -> None:
        """Run the loop of the client; what is left in it in the end is cancelled."""
        with self._runner as runner:
            runner.run(self._is_over.wait())

    def _begin_with(self, client: Client) -> None:
        self._client = client
        self._js = client.jetstream(timeout=ANSWER_SECONDS)

    def _open(self) -> Client:
        try:
            return self._connect(OPEN_SECONDS)
        except StreamError as error:
            raise SienaError(
                f"{self.name} does not answer: {self._heard or error}",
                hint="is nats-server running there, with JetStream (-js)?",
            ) from None

    def _connect(self, seconds: float) -> Client:
        """A connection, which mends itself as far as the client of NATS can.

        Raises:
            StreamError: if there is none within some seconds.
        """
        connecting = nats.connect(
            self._url.servers,
            name=f"siena {self._url.stream}",
            error_cb=self._hear,
            allow_reconnect=True,
            max_reconnect_attempts=-1,
            reconnect_time_wait=RETRY_SECONDS,
            connect_timeout=ANSWER_SECONDS,
            ping_interval=ANSWER_SECONDS,
            **self._options,
        )
        return self._run(asyncio.wait_for(connecting, seconds), seconds)

    def _context(self) -> JetStreamContext:
        """The connection; another, if the client has closed the one before for good.

        It does so at errors of which it thinks that they stay: a server that says no
        once while it starts, an answer that it cannot read.

        Raises:
            StreamError: if there is none yet.
        """
        if self._client is not None and self._client.is_closed:
            self._begin_with(self._connect(ANSWER_SECONDS))
            log.warning("%s: the connection was closed, and is made anew", self.name)
        return self._js

    async def _hear(self, error: Exception) -> None:
        """What the client says between connections; who waits is told by others."""
        if not self._heard or not isinstance(error, OSError):
            # What a server says counts for more than that it then hung up.
            self._heard = _text(error)
        log.debug("%s: %s", self.name, error)

    def _prepare(self) -> None:
        """Have a stream that loses nothing by itself; servers may have to agree first.

        Raises:
            SienaError: if it is not as it must be, or they do not agree.
        """
        tries = int(OPEN_SECONDS / RETRY_SECONDS)
        for left in reversed(range(tries)):
            try:
                self._find_or_make()
            except (StreamError, APIError) as error:
                if not left or _is_final(error):
                    raise SienaError(
                        f"{self.name} cannot be used: {_text(error)}",
                        hint="do most of its servers run, and have JetStream (-js)?",
                    ) from None
                self._pause.wait(RETRY_SECONDS)
            else:
                return

    def _find_or_make(self) -> None:
        wanted = StreamConfig(
            name=self._url.stream,
            subjects=[f"{self._prefix}>"],
            storage=StorageType.FILE,
            num_replicas=self._url.replicas,
            discard=DiscardPolicy.NEW,
            description="the log of a Siena broker",
        )
        try:
            found = self._run(self._context().stream_info(self._url.stream)).config
        except NotFoundError:
            self._run(self._context().add_stream(wanted))
            return
        wrong = _faults(found, wanted)
        if wrong:
            raise SienaError(
                f"the stream {self._url.stream} of {self.name} is there, and {wrong}",
                hint="name another stream, which is then made, or change that one",
            )

    def close(self) -> None:
        """End the connection, and the thread, if that was not done."""
        if not self._thread.is_alive():
            return
        if self._client is not None:
            with suppress(StreamError):
                self._ask(self._client.close())
        self._loop.call_soon_threadsafe(self._is_over.set)
        self._thread.join()

    def _run(self, work: Coroutine[Any, Any, T], seconds: float = ANSWER_SECONDS) -> T:
        """Have it done in the loop of the client, and wait for it.

        Raises:
            StreamError: if there is no answer.
            APIError: if the server says no.
        """
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(seconds + ANSWER_SECONDS)
        except APIError:
            raise
        except (NatsError, OSError, TimeoutError, CancelledError) as error:
            # A client that closes its connection cancels what waits for an answer.
            future.cancel()
            raise StreamError(_text(error) or "there is no answer") from None

    def _ask(self, work: Coroutine[Any, Any, T]) -> T:
        """The same, where a server that says no is tried again."""
        try:
            return self._run(work)
        except NotFoundError:
            raise
        except APIError as error:
            raise StreamError(_text(error)) from None

    # --- Writing --------------------------------------------------------------------

    @property
    def _prefix(self) -> str:
        return f"siena.{self._url.stream}."

    def _subject(self, subject: str) -> str:
        # A dot would begin another level, which nobody asks for.
        return self._prefix + subject.replace(".", "-")

    @property
    def message_bytes(self) -> int:
        """As long as the server takes them, with what stands before them."""
        assert self._client is not None
        return int(self._client.max_payload) - _HEADERS_BYTES

    def append(self, messages: Sequence[Outgoing], after: int) -> int:
        """Have them kept; some at a time are under way."""
        for at in range(0, len(messages), UNDER_WAY_MAX):
            some = messages[at : at + UNDER_WAY_MAX]
            self._run(self._publish(self._context(), some, after + at))
        return after + len(messages)

    async def _publish(
        self, js: JetStreamContext, messages: Sequence[Outgoing], after: int
    ) -> None:
        answers = await asyncio.gather(
            *(
                js.publish(
                    self._subject(message.subject),
                    message.data,
                    stream=self._url.stream,
                    headers={Header.EXPECTED_LAST_SEQUENCE.value: str(number)},
                )
                for number, message in enumerate(messages, after)
            ),
            return_exceptions=True,
        )
        # The first that failed is the reason why the others did.
        for number, answer in enumerate(answers, after + 1):
            if isinstance(answer, APIError):
                if answer.err_code == _WRONG_LAST_SEQUENCE:
                    raise DisplacedError(_text(answer))
                raise StreamError(_text(answer))
            if isinstance(answer, BaseException):
                raise StreamError(_text(answer) or "there is no answer")
            if answer.seq != number:
                raise DisplacedError(f"it is number {answer.seq}, and not {number}")

    def forget(self, subject: str, before: int) -> None:
        """Have the server delete them."""
        name, full = self._url.stream, self._subject(subject)
        try:
            self._ask(self._context().purge_stream(name, seq=before, subject=full))
        except NotFoundError:
            raise StreamError(f"the stream {name} is gone") from None

    # --- Reading --------------------------------------------------------------------

    def last_number(self) -> int:
        """As the server counts."""
        try:
            info = self._ask(self._context().stream_info(self._url.stream))
        except NotFoundError:
            raise StreamError(f"the stream {self._url.stream} is gone") from None
        return int(info.state.last_seq)

    def last(self) -> Message | None:
        """Asked for by its number."""
        number = self.last_number()
        if not number:
            return None
        try:
            found = self._context().get_msg(self._url.stream, seq=number)
            return _message(self._ask(found))
        except NotFoundError:
            return None

    def next(self, subject: str, number: int) -> Message | None:
        """Asked for by subject and number."""
        name, full = self._url.stream, self._subject(subject)
        try:
            asked = self._context().get_msg(
                name, seq=max(1, number), subject=full, next=True
            )
            return _message(self._ask(asked))
        except NotFoundError:
            return None

    def read(self, start: int, end: int) -> Iterator[Message]:
        """Some at a time, by a consumer that lives as long as this."""
        messages = self._messages(self._context(), max(1, start), end)
        while some := self._ask(_some(messages)):
            yield from some

    async def _messages(
        self, js: JetStreamContext, start: int, end: int
    ) -> AsyncIterator[Message]:
        if start >= end:
            return
        reading = await js.subscribe(
            f"{self._prefix}>",
            stream=self._url.stream,
            ordered_consumer=True,
            config=ConsumerConfig(
                deliver_policy=DeliverPolicy.BY_START_SEQUENCE, opt_start_seq=start
            ),
        )
        try:
            info = await reading.consumer_info()
            delivered = info.delivered.consumer_seq if info.delivered else 0
            if not info.num_pending and not delivered:
                return  # what there was is forgotten
            while True:
                found = await reading.next_msg(timeout=ANSWER_SECONDS)
                data = found.metadata
                number = int(data.sequence.stream)
                if number >= end:
                    return
                yield Message(number, found.data)
                if not data.num_pending:
                    return
        finally:
            await reading.unsubscribe()


async def _some(messages: AsyncIterator[Message]) -> list[Message]:
    """The next messages, up to a number and a size."""
    found: list[Message] = []
    size = 0
    async for message in messages:
        found.append(message)
        size += len(message.data)
        if len(found) == READ_MESSAGES or size >= READ_BYTES:
            break
    return found


def _message(found: RawStreamMsg) -> Message:
    return Message(int(found.seq or 0), found.data or b"")


def _is_final(error: Exception) -> bool:
    """Whether a server says no, and will not say yes a little later."""
    return isinstance(error, BadRequestError) and error.err_code != _NO_PEERS_YET


def _text(error: object) -> str:
    if isinstance(error, APIError):
        return str(error.description or error)
    return str(error)


def _faults(found: StreamConfig, wanted: StreamConfig) -> str:
    """What of a stream would lose something, or belongs to others; or nothing."""
    if list(found.subjects or ()) != list(wanted.subjects or ()):
        return f"its subjects are {found.subjects}, not {wanted.subjects}"
    if found.max_age:
        return "it deletes what is old (max_age)"
    if (found.max_msgs or -1) > 0 or (found.max_msgs_per_subject or -1) > 0:
        return "it deletes what is too many (max_msgs)"
    if (found.max_bytes or -1) > 0 and found.discard != DiscardPolicy.NEW:
        return "it deletes what is too much (max_bytes without discard: new)"
    if found.storage != StorageType.FILE:
        return "it is kept in memory"
    if (found.num_replicas or 1) < (wanted.num_replicas or 1):
        return f"it has {found.num_replicas} replicas, not {wanted.num_replicas}"
    return ""


def _credentials(path: Path | None) -> dict[str, Any]:
    """What the server is shown, as its client takes it."""
    shown = read_credentials(path)
    if shown is None:
        return {}
    if shown.token:
        return {"token": shown.token}
    return {"user": shown.user, "password": shown.password}
