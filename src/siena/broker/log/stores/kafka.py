"""A topic of Kafka, with one partition.

*One writer*: each append is a transaction, and all brokers that write to a topic have
the same transactional id.  Who begins with it gets a new epoch from the servers, and
what an older epoch has not committed they refuse.  So a broker that takes over
displaces the one before; it looks, within its epoch, whether the last message is the
one that it knows, and then nothing comes in between.

*Once*: what became of a transaction whose answer was lost is decided by the servers
before the next epoch begins: it is there, or it is not.  Messages are read as they were
committed.  Their number is one more than their offset in Kafka, where the marks of
transactions have offsets as well: numbers ascend, and leave some out.

*What is needed no more* goes from the front, all of it.  Of small files the topic keeps
the newest by itself: it is compacted by key, and each piece of the log has its own.
"""

import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any

from confluent_kafka import (
    Consumer,
    KafkaError,
    KafkaException,
    Message as KafkaMessage,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient

from siena.broker.log.stores.credentials import read_credentials
from siena.broker.log.stores.kafka_topic import prepare_topic
from siena.broker.log.stores.limits import (
    ANSWER_SECONDS,
    LOOK_BACK,
    OPEN_SECONDS,
    READ_BYTES,
    TRANSACTION_SECONDS,
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

# All brokers of a topic are one writer for the servers: the last that began.
_WRITER = "siena-"
_PARTITION = 0
_MILLI = 1_000
# What servers and client say of an epoch that is not the last any more.
_FENCED = frozenset(
    {
        KafkaError._FENCED,  # noqa: SLF001 -- its own codes are spelled so
        KafkaError.PRODUCER_FENCED,
        KafkaError.INVALID_PRODUCER_EPOCH,
    }
)
_END = KafkaError._PARTITION_EOF  # noqa: SLF001


class KafkaTopic:
    """A topic, and the connections to its servers.

    The client has threads of its own; what is asked of it here blocks.

    Ownership: of the connections, from making it to :meth:`close`.

    Raises:
        SienaError: if there is no such server, or the topic is not as it must be.
    """

    forgets_by_subject = False

    def __init__(self, url: StoreUrl, credentials: Path | None = None) -> None:
        self.name = url.shown
        self._url = url
        self._heard = ""
        self._config = _connection(url, credentials)
        self._config["error_cb"] = self._hear
        self._admin = AdminClient(dict(self._config))
        self.message_bytes = self._prepare()
        """As long as the servers take them."""
        self._consumer = Consumer(self._config | _READING | {"group.id": self._id})
        # The epoch in which it is written, if there is one, and the number of the last
        # message in it, once that is known.
        self._producer: Producer | None = None
        self._last: int | None = None
        self._is_fenced = False
        try:
            self._begin(OPEN_SECONDS)
        except (StreamError, DisplacedError) as error:
            self.close()
            raise SienaError(
                f"{self.name} lets nobody write: {error}",
                hint="a single server needs transaction.state.log.replication.factor=1 "
                "and transaction.state.log.min.isr=1",
            ) from None

    # --- Opening and closing --------------------------------------------------------

    def _prepare(self) -> int:
        """Have the topic be there; how long its messages may be."""
        return prepare_topic(self._admin, self._url)

    @property
    def _id(self) -> str:
        return f"{_WRITER}{self._url.stream}"

    @property
    def _topic(self) -> str:
        return self._url.stream

    def _hear(self, error: KafkaError) -> None:
        """What the client says between answers; who waits is told by others."""
        self._heard = error.str()
        log.debug("%s: %s", self.name, self._heard)

    def _begin(self, seconds: float) -> None:
        """Begin an epoch: what others have not committed is not there from now on.

        Raises:
            StreamError: if the servers do not answer.
            DisplacedError: if another begins at the same time.
        """
        writing = _WRITING | {"message.max.bytes": self.message_bytes}
        producer = Producer(self._config | writing | {"transactional.id": self._id})
        try:
            producer.init_transactions(seconds)
        except KafkaException as error:
            raise self._told(error) from None
        self._producer, self._last, self._is_fenced = producer, None, False

    def _give_up(self) -> None:
        """End the epoch, which may have failed: the next one decides what is there."""
        producer, self._producer = self._producer, None
        self._last = None
        if producer is not None:
            with suppress(KafkaException):
                producer.purge()

    def close(self) -> None:
        """End the connections."""
        self._give_up()
        with suppress(KafkaException, RuntimeError):
            self._consumer.close()

    def _told(self, error: KafkaException) -> StreamError | DisplacedError:
        """What an error of the client means here."""
        said: KafkaError = error.args[0]
        text = said.str() or said.name()
        if said.code() in _FENCED:
            self._is_fenced = True
            return DisplacedError(text)
        is_of_connection = said.code() < 0 and self._heard
        return StreamError(f"{text} ({self._heard})" if is_of_connection else text)

    # --- Writing --------------------------------------------------------------------

    def append(self, messages: Sequence[Outgoing], after: int) -> int:
        """Have them kept, some in one transaction."""
        for at in range(0, len(messages), UNDER_WAY_MAX):
            producer = self._writing_after(after)
            try:
                after = self._commit(producer, messages[at : at + UNDER_WAY_MAX])
            except KafkaException as error:
                self._give_up()
                raise self._told(error) from None
            except StreamError:
                self._give_up()
                raise
            self._last = after
        return after

    def _writing_after(self, after: int) -> Producer:
        """The producer of an epoch in which this is the last message.

        Raises:
            DisplacedError: if another is.
        """
        if self._producer is None:
            self._begin(ANSWER_SECONDS)
        if self._last is None:
            self._last = self.last_number()
        assert self._producer is not None
        if self._last != after:
            raise DisplacedError(f"the last message is {self._last}, and not {after}")
        return self._producer

    def _commit(self, producer: Producer, messages: Sequence[Outgoing]) -> int:
        """One transaction; the number of the last message.

        Raises:
            KafkaException: if there was none, or it is not known.
            StreamError: if a message was not answered.
        """
        offsets: list[int] = []

        def answered(error: KafkaError | None, message: KafkaMessage) -> None:
            offset = message.offset()
            if error is None and offset is not None:
                offsets.append(offset)

        producer.begin_transaction()
        for message in messages:
            producer.produce(
                *(self._topic, message.data, message.key, _PARTITION),
                on_delivery=answered,
            )
        if producer.flush(ANSWER_SECONDS):
            raise StreamError(self._heard or "there is no answer")
        producer.commit_transaction(ANSWER_SECONDS)
        if len(offsets) != len(messages):
            raise StreamError("it does not say where messages are")
        return max(offsets) + 1

    def forget(self, subject: str, before: int) -> None:
        """Have the servers delete all that stands before it."""
        del subject
        first = TopicPartition(self._topic, _PARTITION, before - 1)
        asked: Future[Any]
        try:
            (asked,) = self._admin.delete_records(
                [first], request_timeout=ANSWER_SECONDS
            ).values()
            asked.result(2 * ANSWER_SECONDS)
        except KafkaException as error:
            raise StreamError(error.args[0].str()) from None
        except TimeoutError:
            raise StreamError("there is no answer") from None

    # --- Reading --------------------------------------------------------------------

    def _settle(self) -> None:
        """Have nothing of our own be undecided.

        An epoch that another has ended is not begun again for it: that would displace
        the other.
        """
        if self._producer is None and not self._is_fenced:
            with suppress(DisplacedError):  # and so it is another's
                self._begin(ANSWER_SECONDS)

    def last_number(self) -> int:
        """That of the last message; marks of transactions do not count."""
        last = self.last()
        return 0 if last is None else last.number

    def last(self) -> Message | None:
        """Found from the end, where marks stand as well."""
        self._settle()
        first, end = self._extent()
        back = LOOK_BACK
        while True:
            start = max(first, end - back)
            found = None
            for message, _ in self._from(start):
                found = message
            if found is not None or start == first:
                return found
            back *= 8

    def next(self, subject: str, number: int) -> Message | None:
        """Found by reading on."""
        first, _ = self._extent()
        for message, key in self._from(max(first, number - 1)):
            if key.startswith(f"{subject}/".encode()):
                return message
        return None

    def read(self, start: int, end: int) -> Iterator[Message]:
        """One after the other, as they come."""
        first, _ = self._extent()
        for message, _ in self._from(max(first, start - 1)):
            if message.number >= end:
                return
            yield message

    def _extent(self) -> tuple[int, int]:
        """The first offset, and the one behind the last."""
        partition = TopicPartition(self._topic, _PARTITION)
        try:
            return self._consumer.get_watermark_offsets(partition, ANSWER_SECONDS)
        except KafkaException as error:
            raise StreamError(error.args[0].str()) from None

    def _from(self, offset: int) -> Iterator[tuple[Message, bytes]]:
        """Messages with their keys, from an offset to the end."""
        consumer = self._consumer
        try:
            consumer.assign([TopicPartition(self._topic, _PARTITION, offset)])
            while True:
                found = consumer.poll(ANSWER_SECONDS)
                if found is None:
                    raise StreamError(self._heard or "there is no answer")
                error = found.error()
                if error is not None and error.code() == _END:
                    return
                if error is not None:
                    raise StreamError(error.str())
                place = found.offset()
                assert place is not None
                yield Message(place + 1, found.value() or b""), found.key() or b""
        except KafkaException as error:
            raise StreamError(error.args[0].str()) from None
        finally:
            with suppress(KafkaException, RuntimeError):
                consumer.unassign()


# Nothing is answered before all replicas that are in step have it, and each message
# once; what a transaction has not got within its time the servers undo.
_WRITING: dict[str, Any] = {
    "acks": "all",
    "enable.idempotence": True,
    "linger.ms": 0,
    "transaction.timeout.ms": int(TRANSACTION_SECONDS * _MILLI),
}
# What was not committed is not read, and what is gone is not skipped silently.  Where
# the end is, is wanted at once; pieces have checksums of their own.
_READING: dict[str, Any] = {
    "isolation.level": "read_committed",
    "auto.offset.reset": "error",
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "allow.auto.create.topics": False,
    "fetch.wait.max.ms": 10,
    "queued.max.messages.kbytes": READ_BYTES // 1_024,
}


def _connection(url: StoreUrl, path: Path | None) -> dict[str, Any]:
    """Where the servers are, and what they are shown.

    Raises:
        SienaError: if there is a token, which they would not understand.
    """
    shown = read_credentials(path)
    config: dict[str, Any] = {
        "bootstrap.servers": ",".join(url.servers),
        "client.id": f"{_WRITER}{url.stream}",
        "socket.timeout.ms": int(ANSWER_SECONDS * _MILLI),
        "log_level": 2,  # we say ourselves what is not well
    }
    if shown is None:
        config["security.protocol"] = "SSL" if url.is_secure else "PLAINTEXT"
        return config
    if not shown.user:
        raise SienaError(
            "Kafka is shown a user and a password", hint="USER:PASSWORD in the file"
        )
    config["security.protocol"] = "SASL_SSL" if url.is_secure else "SASL_PLAINTEXT"
    config["sasl.mechanism"] = url.sasl
    config["sasl.username"], config["sasl.password"] = shown.user, shown.password
    return config
