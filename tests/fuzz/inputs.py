r"""Mutated inputs of every kind: each is taken, or refused with an error of ours.

    PYTHONPATH=tests/support:tests .venv/bin/python -m fuzz.inputs --seconds 60

Targets: texts of the language, JSON, settings in TOML, requests of WebSockets and
bodies of HTTP, streams of frames of clients and of brokers, and the files of a log.  An
input that fails is kept in ``build/fuzz``, and tried first the next time.
"""

import argparse
import asyncio
import hashlib
import logging
import random
import sys
import tempfile
import tomllib
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from broker.logs import readable
from protocol.streams import KINDS, chopped, heard
from siena.broker.http.body import read_notifications
from siena.broker.http.json_requests import JsonRequests
from siena.broker.log.state_file import checked
from siena.broker.log.store import Store
from siena.broker.settings import as_settings
from siena.clock import SystemClock
from siena.errors import SienaError
from siena.lang.notification_form import notification_from_text
from siena.lang.parser import (
    parse_advertisement,
    parse_interest,
    parse_notification,
)
from siena.matching.input.buffers import encode_all

CLOCK = SystemClock()
KEPT = Path("build/fuzz")
INPUT_BYTES_MAX = 4_096

_TEXTS = (
    b"symbol = DIS and change < 0",
    b'class >* "finance/" and not prior < 100 or x in (1, 2.5, "a")',
    b"what = failed-login then what = login then date >= 1998-03-04T00:00:00Z",
    b"string user any, what in (login, logout), number x",
    b's * "\\u00e9" and s *< "\\"" and float y != -1.5e300 and boolean z = true',
)
_JSON = (
    b'{"symbol": "DIS", "change": -4, "t": {"time": "2026-11-15T02:40:03Z"}}',
    b'[{"x": 1.5e3}, {"y": true, "z": "\\ud83d\\ude00"}]',
    b'{"sub": 1, "filter": "x > 3"}',
    b'{"pub": {"x": 1}}\n{"ping": "a"}',
    b'{"specversion": "1.0", "id": "1", "source": "/a", "type": "t", "data": {"a": 1}}',
)
_TOML = (
    b"".join(
        (
            b'listen = ["127.0.0.1:2606"]\nname = "a"\naccept_peers = true\n[limits]\n',
            b'output_bytes = 16777216\n[log]\npath = "/tmp/x"\nsync = "always"\n',
            b'[[links]]\nurl = "siena://127.0.0.1:2607"\nside = "mesh"\nweight = 1.5\n',
        )
    ),
)


def texts(data: bytes) -> None:
    """The language."""
    text = data.decode(errors="surrogateescape")
    for parse in (parse_interest, parse_advertisement, parse_notification):
        try:
            found = parse(text)
        except SienaError:
            continue
        assert parse(str(found)) == found, "what is printed means the same"


def json(data: bytes) -> None:
    """Notifications as JSON, bodies of HTTP, and requests of WebSockets."""
    text = data.decode(errors="surrogateescape")
    _try(lambda: notification_from_text(text))
    for line in text.splitlines():
        _try(lambda line=line: JsonRequests().read(line))  # type: ignore[misc]
    for kind in (
        "application/json",
        "application/x-ndjson",
        "application/cloudevents+json",
    ):
        _try(lambda kind=kind: asyncio.run(read_notifications(kind, data)))  # type: ignore[misc]


def toml(data: bytes) -> None:
    """Settings."""
    try:
        form = tomllib.loads(data.decode())
    except (ValueError, RecursionError):
        return
    _try(lambda: as_settings(form))


def frames(data: bytes) -> None:
    """Streams of clients and of brokers, to each end that reads them."""
    rng = random.Random(len(data))
    for make, hello, *_ in KINDS.values():
        heard(make(), chopped(rng, hello + data))


def logs(data: bytes) -> None:
    """The files of a log: whatever is in them, it opens, and goes on."""
    with tempfile.TemporaryDirectory(dir=_memory()) as name:
        folder = Path(name)
        (folder / f"{0:020d}.log").write_bytes(data)
        (folder / f"{500:020d}.log").write_bytes(data[::-1])
        for _ in range(2):
            store = Store(folder, 4_096)
            before = readable(store)
            store.append(*encode_all([{"n": 1}]), 7)
            assert len(readable(store)) == len(before) + 1
            store.close()


def state(data: bytes) -> None:
    """The small files beside it."""
    with suppress(ValueError):
        checked(data)


def _try(call: Callable[[], object]) -> None:
    with suppress(SienaError):
        call()


def _memory() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108


def _log_seed() -> bytes:
    with tempfile.TemporaryDirectory() as name:
        store = Store(Path(name), 100_000)
        for n in range(4):
            store.append(*encode_all([{"n": n}, {"x": "x" * n}]), 7)
        store.close()
        (path,) = Path(name).glob("*.log")
        return path.read_bytes()


def _frame_seeds() -> tuple[bytes, ...]:
    from protocol.damage import drawn  # noqa: PLC0415 -- seeds only

    rng = random.Random(1)
    return tuple(drawn(rng, kind) for kind in KINDS for _ in range(3))


Target = Callable[[bytes], None]
TARGETS: dict[str, tuple[Target, Callable[[], tuple[bytes, ...]]]] = {
    "texts": (texts, lambda: _TEXTS),
    "json": (json, lambda: _JSON),
    "toml": (toml, lambda: _TOML),
    "frames": (frames, _frame_seeds),
    "logs": (logs, lambda: (_log_seed(),)),
    "state": (state, lambda: (b'{"a":1}\n#00000000\n',)),
}


def mutated(rng: random.Random, seeds: tuple[bytes, ...]) -> bytes:
    """One of the seeds, changed here and there."""
    data = bytearray(rng.choice(seeds))
    for _ in range(rng.choice((1, 1, 2, 4, 8))):
        at = rng.randrange(len(data) + 1)
        match rng.randrange(6):
            case 0 if data:
                data[at % len(data)] ^= 1 << rng.randrange(8)
            case 1:
                data[at:at] = rng.randbytes(rng.randrange(4))
            case 2:
                del data[at : at + rng.randrange(8)]
            case 3:
                other = rng.choice(seeds)
                start = rng.randrange(len(other) + 1)
                data[at:at] = other[start : start + rng.randrange(40)]
            case 4:
                data[at : at + 4] = rng.choice(
                    (b"\xff" * 4, bytes(4), b"\x00\x00\x00\x80")
                )
            case _:
                data[at:at] = rng.choice(
                    (b"(", b'"', b" and ", b"not ", b"{", b"]", b"=" * 3)
                )
    return bytes(data[:INPUT_BYTES_MAX])


def fuzz(name: str, rng: random.Random, enough: Callable[[int], bool]) -> int:
    """Try inputs of one kind until there were enough; how many that was.

    Raises:
        Exception: whatever a target let out; the input is kept.
    """
    target, seeds_of = TARGETS[name]
    seeds, tried = seeds_of(), 0
    kept = sorted(KEPT.glob(f"{name}-*")) if KEPT.is_dir() else []
    while not enough(tried):
        data = kept.pop().read_bytes() if kept else mutated(rng, seeds)
        try:
            target(data)
        except Exception as error:
            KEPT.mkdir(parents=True, exist_ok=True)
            path = KEPT / f"{name}-{hashlib.sha256(data).hexdigest()[:12]}"
            path.write_bytes(data)
            error.add_note(f"the input is in {path}")
            raise
        tried += 1
    return tried


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("targets", nargs="*", default=list(TARGETS))
    chosen = parser.parse_args()
    logging.disable(logging.CRITICAL)
    seed = random.randrange(10**6) if chosen.seed is None else chosen.seed
    failed = False
    for name in chosen.targets:
        end = CLOCK.elapsed() + chosen.seconds / len(chosen.targets)
        try:
            rng = random.Random(f"{name} {seed}")
            tried = fuzz(name, rng, lambda _tried, end=end: CLOCK.elapsed() > end)  # type: ignore[misc]
            print(f"{name}: {tried:,} inputs, all taken or refused (seed {seed})")
        except Exception:  # noqa: BLE001 -- it is what is looked for
            failed = True
            print(f"{name}: FAILED (seed {seed})")
            traceback.print_exc()
    sys.exit(failed)


if __name__ == "__main__":
    main()
