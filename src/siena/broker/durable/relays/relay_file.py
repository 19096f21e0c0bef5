"""Relays in a file: what neighbours want and how far they are outlives the broker.

The file has a record for each neighbour, whole, and then what has changed.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec

from siena.broker.durable.cursors.record_file import RecordFile
from siena.broker.durable.cursors.record_form import check_undamaged, read_file
from siena.broker.durable.limits import RELAY_FILTERS_MAX
from siena.broker.durable.relays.assurance import EVERYTHING
from siena.broker.durable.relays.relay import Relay
from siena.broker.log.files import SYSTEM, Files
from siena.errors import SienaError
from siena.lang.parser import parse_filter
from siena.messages import Side
from siena.messages.requests import text_of

log = logging.getLogger("siena.broker")

FILE = "relays.state"
_STATE, _AT, _WANTS = range(3)


class RelayFile:
    """The file.

    Ownership: of it, from making this to :meth:`close`.
    """

    def __init__(
        self,
        folder: Path,
        relays: Callable[[], Iterable[Relay]],
        files: Files = SYSTEM,
    ) -> None:
        self._relays = relays
        self._file = RecordFile(folder / FILE, self._contents, files)
        self._path = folder / FILE
        # Of each neighbour what it wants now, or no longer, since that was written.
        self._changed: dict[int, dict[str, bool]] = {}

    def read(self) -> list[Relay]:
        """What neighbours there were, before :meth:`begin`."""
        return list(_replayed(self._file.read()).values())

    def begin(self) -> None:
        """Write it anew, and append to it from now on."""
        try:
            self._file.begin()
        except OSError as error:
            raise SienaError(f"{self._path} cannot be written: {error}") from None

    def save(self, relay: Relay) -> None:
        """Write one down, but for what it wants."""
        self._append(_state(relay), is_synced=True)

    def save_position(self, relay: Relay) -> None:
        """Write down how far one is: if that is forgotten, something is sent again."""
        self._append([_AT, relay.number, relay.low], is_synced=False)

    def save_wanted(self, number: int, text: str, *, gained: bool) -> None:
        """What one wants has changed; it is written by :meth:`flush`."""
        self._changed.setdefault(number, {})[text] = gained

    def flush(self) -> None:
        """Write down what neighbours want."""
        changed, self._changed = self._changed, {}
        for number, texts in changed.items():
            self._append([_WANTS, number, texts], is_synced=True)

    def rewrite(self) -> None:
        """Write it anew, soon: one of them is forgotten."""
        self._file.rewrite()

    async def close(self) -> None:
        """Write all of it, for the last time."""
        await self._file.close()

    def _append(self, record: list[Any], *, is_synced: bool) -> None:
        then = (lambda _failure: None) if is_synced else None
        self._file.append(msgspec.msgpack.encode(record), then)

    def _contents(self) -> Sequence[bytes]:
        records: list[bytes] = []
        for relay in self._relays():
            texts = {text_of(f): True for f in islice(relay.wanted, RELAY_FILTERS_MAX)}
            if len(relay.wanted) > RELAY_FILTERS_MAX:  # rather too much than too little
                log.warning(
                    "%s: %s wants more than %d filters; all that is acknowledged is "
                    "kept for it if this broker starts before it has said them again",
                    *(FILE, relay.name, RELAY_FILTERS_MAX),
                )
                texts = {EVERYTHING: True}
            wants = [_WANTS, relay.number, texts]
            records += (msgspec.msgpack.encode(each) for each in (_state(relay), wants))
        return records


def _state(relay: Relay) -> list[Any]:
    return [
        *(_STATE, relay.number, relay.name, relay.side.value, relay.low),
        *(relay.missed_since, relay.is_given_up, relay.dropped),
    ]


def _replayed(records: Iterable[bytes]) -> dict[int, Relay]:
    """The neighbours that records tell of."""
    found: dict[int, Relay] = {}
    texts: dict[int, dict[str, None]] = {}
    for record in records:
        kind, number, *rest = msgspec.msgpack.decode(record)
        if kind == _STATE:
            name, side, at, since, is_given_up, dropped = rest
            relay = found[number] = Relay(number, name, Side(side), at)
            relay.missed_since, relay.is_given_up = since, is_given_up
            relay.dropped = dropped
            texts.setdefault(number, {})
        elif number not in found:
            log.warning("%s tells of a neighbour that is not known", FILE)
        elif kind == _AT:
            found[number].position = rest[0]
        else:
            for text, is_wanted in rest[0].items():
                texts[number].pop(text, None)
                if is_wanted:
                    texts[number][text] = None
    for number, relay in found.items():
        for text in texts[number]:
            try:
                relay.wanted[parse_filter(text)] += 1
            except (
                SienaError
            ) as error:  # of a later version; the neighbour says it anew
                log.warning("%s: %s wants what cannot be read: %s", FILE, number, error)
    return found


def needed_by_neighbours(folder: Path) -> int | None:
    """The first offset that a neighbour needs of a log that no broker has."""
    path = folder / FILE
    found = read_file(path)
    if found is None:
        return None
    check_undamaged(path, found)
    relays = _replayed(found.records).values()
    return min((r.low for r in relays if not r.is_given_up), default=None)
