"""The small files beside a log: whether each is what was written, and what is good.

Readers, sinks, cursors, neighbours, publishers, identities and handlers: each has its
checksums, and a file whose checksums are good is taken for good.
"""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from siena.broker.clients.remembered import FILE as IDENTITIES, good_lines
from siena.broker.durable.checked_file import read_checked
from siena.broker.durable.cursors.record_form import Damage, read_file, snapshot
from siena.broker.durable.cursors.registry import FILE as CURSORS
from siena.broker.durable.receipts.publishers import FILE as PUBLISHERS
from siena.broker.durable.relays.relay_file import FILE as RELAYS
from siena.broker.log.batches.idempotent_batches import State
from siena.broker.log.cursors import Position
from siena.broker.log.files import SYSTEM
from siena.broker.log.given import FILE as GIVEN, GivenOffsets
from siena.broker.log.state_file import StateFile
from siena.broker.log.store import EARLIEST, Earliest
from siena.broker.log.stores.states import STORE
from siena.broker.log.stores.working_copy import CopyOf
from siena.broker.webhooks.remembered import FILE as HANDLERS
from siena.errors import SienaError

DAMAGED = "damaged"
READERS, SINKS = "readers.json", "sinks.json"


class Looked(NamedTuple):
    """What is wrong with a file, and what it would be with what is good of it."""

    problems: list[str]
    mended: bytes | None = None


def problems_of(folder: Path) -> list[str]:
    """What is wrong with the small files of a log."""
    return [
        problem for name, look in _FILES.items() for problem in look(folder / name)[0]
    ]


def repair_all(folder: Path) -> list[str]:
    """Take what is damaged out of the way; what was done, and what is lost.

    As they were, files are in the folder ``damaged``.
    """
    done: list[str] = []
    for name, look in _FILES.items():
        path = folder / name
        problems, mended = look(path)
        if not problems:
            continue
        (folder / DAMAGED).mkdir(exist_ok=True)
        if mended is None:
            shutil.move(path, folder / DAMAGED / name)
            done.append(f"moved {name} to {DAMAGED}: {_LOST[name]}")
        else:
            shutil.copy2(path, folder / DAMAGED / name)
            SYSTEM.write_whole(path, mended, sync=True)
            done += [f"took out of {problem}: {_LOST[name]}" for problem in problems]
            done.append(f"as it was, {name} is in {DAMAGED}")
    return done


# --- Each kind ------------------------------------------------------------------------


def _value(kind: object, default: object) -> Callable[[Path], Looked]:
    """One value, a line of JSON."""

    def look(path: Path) -> Looked:
        try:
            StateFile(path, kind, default)  # type: ignore[arg-type]
        except SienaError as error:
            return Looked([error.message])
        return Looked([])

    return look


def _checked(path: Path) -> Looked:
    """One value, behind its checksum."""
    try:
        read_checked(path)
    except SienaError as error:
        return Looked([error.message])
    return Looked([])


def _records(path: Path) -> Looked:
    """Records, one after the other."""
    found = read_file(path)
    if found is None:
        return Looked([])
    problems = [_said(path, damage, "are damaged") for damage in found.damaged]
    problems += [
        _said(path, torn, "are half a record, which a crash left, or damaged")
        for torn in found.torn
    ]
    if found.missing:
        problems.append(f"{path.name}: {found.missing} whole records are missing")
    return Looked(problems, snapshot(found.records))


def _said(path: Path, damage: Damage, what: str) -> str:
    return f"{path.name}: {damage} {what}"


def _lines(path: Path) -> Looked:
    """Identities, a line each."""
    if not path.exists():
        return Looked([])
    good, bad = good_lines(path)
    problems = [f"line {n} of {path.name} is damaged: {why}" for n, why in bad]
    return Looked(problems, b"".join(line + b"\n" for line in good))


_FILES: dict[str, Callable[[Path], Looked]] = {
    READERS: _value(dict[str, Position], {}),
    SINKS: _value(State, State()),
    EARLIEST: _value(Earliest, Earliest()),
    GIVEN: _value(GivenOffsets, GivenOffsets()),
    STORE: _value(CopyOf, CopyOf()),
    CURSORS: _records,
    RELAYS: _records,
    PUBLISHERS: _checked,
    HANDLERS: _checked,
    IDENTITIES: _lines,
}

# What is lost with what is damaged.
_LOST = {
    READERS: "no reader is known, and each begins anew",
    SINKS: "batches that are sent again are published again",
    EARLIEST: "it is not known which files were there",
    GIVEN: "offsets that a loss of power took may be given again",
    STORE: "it is not known of which stream the folder is the copy",
    CURSORS: "durable subscriptions named there have to be made anew, or were further",
    RELAYS: "neighbours named there are not waited for until they are back",
    PUBLISHERS: "publications that are sent again are stored again",
    HANDLERS: "handlers have to be set anew",
    IDENTITIES: "identities named there have to subscribe anew",
}
