"""How long a role that has shrunk still lets something pass, live in a network.

Three brokers, each a process of its own, stand in a row; a publisher at the first sends
all the time, and a subscriber at the last has asked for everything.  In each round the
roles of one broker shrink (what the subscriber may hear, what a neighbour gets or may
bring, what the publisher may publish), the broker is told so by SIGHUP, and its audit
log says when that counts.  Printed is how long after that the last notification came
that the new roles forbid, in milliseconds, and how many came more than a second later.

    python benchmarks/reload.py --rounds 5
"""

import argparse
import contextlib
import json
import os
import signal
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Self

import siena
from siena.broker.access.credentials import Credentials, save_credentials
from siena.client.tokens import new_token
from siena.clock import SystemClock
from siena.errors import RequestRefusedError
from siena.testing.in_process import ProcessBroker

BROKERS = ("b1", "b2", "b3")
# Which role shrinks, at which broker; what it may then is `level < 5`.
CASES = {
    "subscribe": ("b3", "reader"),
    "export": ("b1", "neighbour"),
    "import": ("b2", "neighbour"),
    "publish": ("b1", "writer"),
}
WIDE, NARROW, LEVELS = "level < 10", "level < 5", 10
# Notifications in one call, and how long the publisher then rests, in seconds.
BATCH, REST = 50, 0.002
# For how long it is looked at what still comes, and what is late.
LOOKED_AT, LATE = 2.5, 1.0
CLOCK = SystemClock()  # as the audit log has it


def settings(folder: Path, name: str, url: str | None, narrow: str = "") -> str:
    """What a broker is told, where one role may have shrunk."""

    def may(verb: str) -> str:
        return NARROW if verb == narrow else WIDE

    text = f"""
        name = "{name}"
        accept_peers = true
        [audit]
        path = "{folder}/{name}.audit"
        [access]
        credentials = "{folder}/credentials.json"
        [access.roles.reader]
        subscribe = "{may("subscribe")}"
        [access.roles.writer]
        publish = "{may("publish")}"
        [access.roles.neighbour.peer]
        import = "{may("import")}"
        export = "{may("export")}"
    """
    if url is not None:
        text += f"""
        [[links]]
        url = "{url}"
        token_file = "{folder}/neighbour.token"
        role = "neighbour"
        """
    return text


def counted_from(audit: Path, since: int) -> float:
    """When new roles counted, as the audit log says it; waits for it."""
    while True:
        for line in audit.read_text().splitlines()[since:]:
            said = json.loads(line)
            if said["event"] == "grants changed":
                return datetime.fromisoformat(said["time"]).timestamp()
        time.sleep(0.001)


class Network:
    """Three brokers in a row, with a publisher and a subscriber.

    Ownership: a context manager, which ends all of it.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._brokers: dict[str, ProcessBroker] = {}
        self._urls: dict[str, str | None] = {}
        self.came: list[tuple[float, int]] = []
        self._is_over = threading.Event()
        known, self._tokens = Credentials(), {}
        for name in ("reader", "writer", "neighbour"):
            token = new_token()
            known = known.with_token(token, name, (name,), made_at=0.0)
            self._tokens[name] = token.text
        save_credentials(folder / "credentials.json", known)
        (folder / "neighbour.token").write_text(self._tokens["neighbour"])

    def __enter__(self) -> Self:
        url = None
        for name in BROKERS:
            self._urls[name] = url
            self._say(name)
            path = str(self._folder / f"{name}.toml")
            broker = self._brokers[name] = ProcessBroker(["--config", path])
            broker.start()
            url = broker.url
        self._threads = [
            threading.Thread(target=self._read),
            threading.Thread(target=self._publish),
        ]
        for thread in self._threads:
            thread.start()
        while not self.came:
            time.sleep(0.01)
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()
        for broker in self._brokers.values():
            broker.stop()

    def _say(self, name: str, narrow: str = "") -> None:
        text = settings(self._folder, name, self._urls[name], narrow)
        (self._folder / f"{name}.toml").write_text(text)

    def _read(self) -> None:
        with siena.connect(
            self._brokers["b3"].url, token=self._tokens["reader"]
        ) as client:
            wanted = client.subscribe("level any").settled()
            while not self._is_over.is_set():
                try:
                    notification = wanted.get(timeout_s=0.1)
                except TimeoutError:
                    continue
                level = notification["level"]
                assert isinstance(level, int)
                self.came.append((CLOCK.now(), level))

    def _publish(self) -> None:
        with (
            contextlib.suppress(RequestRefusedError),  # of which it hears in the end
            siena.connect(
                self._brokers["b1"].url, token=self._tokens["writer"]
            ) as client,
        ):
            number = 0
            while not self._is_over.is_set():
                for _ in range(BATCH):
                    number += 1
                    client.publish(level=number % LEVELS, text="x" * 80)
                time.sleep(REST)

    def reload(self, name: str, narrow: str) -> float:
        """Let a broker have other roles; since when they count."""
        audit = self._folder / f"{name}.audit"
        before = len(audit.read_text().splitlines()) if audit.exists() else 0
        self._say(name, narrow)
        os.kill(self._brokers[name].pid, signal.SIGHUP)
        return counted_from(audit, before)


def measure(network: Network, verb: str) -> tuple[float, int, int]:
    """How late the last one was, how many came too late, and how many came at all."""
    broker, _ = CASES[verb]
    counts = network.reload(broker, verb)
    time.sleep(LOOKED_AT)
    after = [(at - counts, level) for at, level in list(network.came) if at > counts]
    late = [seconds for seconds, level in after if level >= LEVELS // 2]
    network.reload(broker, "")
    network.came.clear()
    while not any(level >= LEVELS // 2 for _, level in list(network.came)):
        time.sleep(0.01)
    return max(late, default=0.0), sum(each > LATE for each in late), len(after)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, and print a line for each role that shrinks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name, Network(Path(name)) as network:
        for verb in CASES:
            found = [measure(network, verb) for _ in range(options.rounds)]
            last = [1e3 * seconds for seconds, _, _ in found]
            print(
                f"{verb:10} last forbidden after {statistics.median(last):.1f} ms "
                f"({min(last):.1f} to {max(last):.1f}), "
                f"more than a second later: {sum(each[1] for each in found)}, "
                f"of {sum(each[2] for each in found)} that came",
                flush=True,
            )


if __name__ == "__main__":
    main()
