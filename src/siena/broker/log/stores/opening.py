"""Opening the store that the settings mean."""

from collections.abc import Callable
from pathlib import Path

from siena.broker.log.store import Store
from siena.broker.log.stores.limits import MESSAGE_BYTES_MIN
from siena.broker.log.stores.log_store import LogStore
from siena.broker.log.stores.remote_store import RemoteStore
from siena.broker.log.stores.stream import MessageStream
from siena.broker.log.stores.url import KAFKA, StoreUrl, read_store_url
from siena.broker.log.stores.working_copy import working_copy_of
from siena.broker.settings import Log as LogSettings
from siena.clock import Clock
from siena.errors import SienaError
from siena.extras import how_to_get


def open_store(folder: Path, settings: LogSettings, clock: Clock) -> LogStore:
    """The store of a broker's log; a folder, unless a stream is named.

    Raises:
        SienaError: if there is no such store, or it is not this folder's.
    """
    if settings.store is None:
        original = working_copy_of(folder)
        if original:
            raise SienaError(
                f"{folder} is the working copy of {original}, and no log by itself",
                hint="name the store, as before; or delete store.json there",
            )
        return Store(folder, settings.segment_bytes)
    url = read_store_url(settings.store)
    stream = open_stream(url, settings)
    if stream.message_bytes < MESSAGE_BYTES_MIN:
        stream.close()
        text = f"{stream.name} takes no messages of {MESSAGE_BYTES_MIN} bytes"
        hint = "max_payload of NATS, or max.message.bytes of a topic, says how long"
        raise SienaError(text, hint=hint)
    return RemoteStore(
        *(folder, settings.segment_bytes, stream),
        *(url.identity, clock),
    )


def open_stream(url: StoreUrl, settings: LogSettings) -> MessageStream:
    """The stream that a URL means.

    Raises:
        SienaError: if there is none, or no client for it.
    """
    said = settings.store_credentials
    return _maker(url.maker)(url, None if said is None else Path(said))


def _maker(name: str) -> Callable[[StoreUrl, Path | None], MessageStream]:
    """What opens a stream of a maker; its client is an extra.

    Raises:
        SienaError: if that is not installed.
    """
    try:
        if name == KAFKA:
            from siena.broker.log.stores.kafka import KafkaTopic  # noqa: PLC0415

            return KafkaTopic
        from siena.broker.log.stores.jetstream import JetStream  # noqa: PLC0415
    except ImportError:
        hint = how_to_get(name.lower())
        raise SienaError(f"there is no client for {name}", hint=hint) from None
    return JetStream
