"""Where a durable subscription begins: now, with all, at an offset or at a time."""

from siena.broker.durable.page import read_page
from siena.broker.log.stores.log_store import LogStore
from siena.protocol.durable.reading import Start
from siena.protocol.error_codes import Fault, ProtocolError


def offset_of(store: LogStore, start: Start, at: int) -> int:
    """The offset that is meant.

    Raises:
        ProtocolError: if the log has it no longer, or not yet, or cannot be read now.
    """
    if start == "new":
        return store.latest
    if start == "all":
        return store.earliest
    if start == "time":
        return _first_since(store, at)
    if at < store.earliest:
        text = f"offset {at} has expired: the log begins at {store.earliest}"
        raise ProtocolError(Fault.OFFSET_EXPIRED, text)
    if at > store.latest:
        text = f"the log has come to offset {store.latest}, and not to {at}"
        raise ProtocolError(Fault.OFFSET_AHEAD, text)
    return at


def _first_since(store: LogStore, time: int) -> int:
    """The first offset that came at a time or later, in microseconds since 1970."""
    low, high = store.earliest, store.latest
    while low < high:
        middle = (low + high) // 2
        try:
            record = next(iter(read_page(store, middle, 1).records), None)
        except OSError as error:
            text = f"the log cannot be read: {error}"
            raise ProtocolError(Fault.LOG_DAMAGED, text) from None
        if record is None or record.time >= time:
            high = middle
        else:
            low = max(middle + 1, record.end)
    return low
