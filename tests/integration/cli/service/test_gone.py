"""``--timeout`` of what publishes, with a broker that falls silent in the middle."""

import json
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from siena import testing
from siena.cli.main import main
from siena.protocol.address import parse_address
from siena.protocol.frames import HEAD

# WELCOME, behind the line of INFO: who connects is welcome, and hears nothing more.
WELCOMED = 1


@contextmanager
def silent(url: str, frames: int) -> Iterator[str]:
    """The address of a broker that says so many frames, and then takes what comes."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        relaying = threading.Thread(target=_relay, args=(server, url, frames))
        relaying.start()
        yield f"siena://127.0.0.1:{server.getsockname()[1]}"
        relaying.join()


def _relay(server: socket.socket, url: str, frames: int) -> None:
    address = parse_address(url)
    here, _ = server.accept()
    with here, socket.create_connection((address.host, address.port)) as there:
        hearing = threading.Thread(target=_hear, args=(there, here, frames))
        hearing.start()
        with suppress(ConnectionError):  # hung up without waiting for what was sent
            while found := here.recv(65_536):
                there.sendall(found)
        there.shutdown(socket.SHUT_RDWR)
        hearing.join()


def _hear(there: socket.socket, here: socket.socket, frames: int) -> None:
    with there.makefile("rb") as heard:
        here.sendall(heard.readline())
        for _ in range(frames):
            head = heard.read(HEAD.size)
            length, _op = HEAD.unpack(head)
            here.sendall(head + heard.read(length - 1))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with testing.broker() as broker:
        yield broker.url


def run(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *arguments: object,
) -> tuple[int, str, str]:
    """The code of a command, and what it wrote."""
    monkeypatch.setattr(sys, "argv", ["siena", *map(str, arguments)])
    with pytest.raises(SystemExit) as leaving:
        main()
    return int(leaving.value.code or 0), *capsys.readouterr()


@pytest.fixture
def history(tmp_path: Path) -> Path:
    path = tmp_path / "history.csv"
    path.write_text("n,at\n1,0\n2,1\n3,1000000\n")
    return path


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("pub", "x=1"), "1 published within 0.5 s, of which {} has not said that"),
        (("pub", "x=1", "--advertise", "x any"), "not done within 0.5 s"),
        (("adv", "x any"), "not within 0.5 s"),
        (("replay", "HISTORY"), "3 published within 0.5 s"),
        (("replay", "HISTORY", "--advertise", "n any"), "not done within 0.5 s"),
    ],
)
def test_a_broker_that_falls_silent_is_waited_for_as_long_as_was_said(
    url: str,
    history: Path,
    arguments: tuple[str, ...],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    meant = [history if each == "HISTORY" else each for each in arguments]
    with silent(url, WELCOMED) as address:
        code, out, err = run(
            monkeypatch, capsys, *meant, "--timeout", "0.5", "--server", address
        )
    assert (code, out) == (4, ""), err
    assert err.startswith(f"siena: error: {said.format(address)}")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [("pub", "x=1"), ("adv", "x any"), ("sub",), ("replay", "HISTORY")]
)
def test_a_broker_that_does_not_greet_is_waited_for_as_long_as_was_said(
    history: Path,
    arguments: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    meant = [history if each == "HISTORY" else each for each in arguments]
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"siena://127.0.0.1:{server.getsockname()[1]}"
        code, out, err = run(
            monkeypatch, capsys, *meant, "--timeout", "0.6", "--server", address
        )
    assert (code, out) == (4, "")
    assert err.startswith(f"siena: error: no broker answers at {address} within 0.6 s")


def test_a_receipt_that_does_not_come_is_waited_for_as_long_as_was_said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with (
        testing.broker(log={"path": str(tmp_path / "log")}) as broker,
        silent(broker.url, WELCOMED + 1) as address,
    ):
        code, out, err = run(
            *(monkeypatch, capsys, "pub", "x=1", "--ack", "--json"),
            *("--timeout", "0.5", "--server", address),
        )
    assert code == 4
    assert json.loads(out) == {"published": 0, "bad": 0}
    assert "siena: error: 0 published within 0.5 s" in err


def test_rows_that_are_due_later_are_not_waited_for(
    url: str,
    history: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, _, err = run(
        *(monkeypatch, capsys, "replay", history, "--time", "at", "--speed", "10"),
        *("--timeout", "2", "--server", url),
    )
    assert (code, err) == (4, "siena: error: 2 published within 2 s\n")


def test_a_pause_between_two_is_not_longer_than_what_is_left(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(
        *(monkeypatch, capsys, "pub", "x={i}", "-n", "2", "--rate", "0.001"),
        *("--timeout", "2", "--server", url),
    )
    assert (code, err) == (4, "siena: error: 1 published within 2 s\n")
