"""Every command with bad input: one line that says what is wrong, never a traceback."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest

from siena.cli import main as entry

SECONDS = 30.0
# What each command, and each command of a group, is given; `DIR` is an empty folder,
# `TAKEN` an address where somebody listens who is no broker, `NOBODY` one where nobody
# does.
BAD: dict[str, list[list[str]]] = {
    "demo": [["--travellers", "many"], ["--output", "DIR/file/below"]],
    "tour": [["--loud"]],
    "doctor": [["--json", "x"]],
    "version": [["--json", "x"]],
    "log read": [["x >"], ["--from", "-1"], ["--server", "NOBODY"]],
    "explain": [["covers", "x >"], ["like", "x", "y"], ["covers", "x > 3"]],
    "sift": [["DIR/none", "-s", "DIR/none"], ["DIR/bad.csv", "-s", "DIR/wanted.csv"]],
    "serve": [
        ["--listen", "TAKEN"],
        ["--listen", "foo"],
        ["--listen", "here:there"],
        ["--http", "TAKEN", "--listen", "127.0.0.1:0"],
        ["--config", "DIR/none"],
        ["--config", "DIR/bad.csv"],
        ["--network", "DIR/none"],
        ["--network", "DIR/bad.csv"],
        ["--peer", "http://x", "--listen", "127.0.0.1:0"],
        ["--workers", "0"],
    ],
    "pub": [["x=1", "--server", "NOBODY"], ["x="], ["x"], ["--rate", "x"], ["{"]],
    "sub": [["x > 3", "--server", "NOBODY"], ["x >"], ["x any", "-S", "http://x"]],
    "adv": [["x any", "--server", "NOBODY"], ["x >"], []],
    "cert": [["a/b"], ["a", "--days", "0"], []],
    "token": [["revoke", "none"], ["new", "a:b"], ["narrow", "--token", "DIR/none"]],
    "user": [["remove", "none"], ["add", "a:b", "--password", "DIR/file"], ["what"]],
    "may": [["none", "publish", "x > 3"], ["none", "shout", "x"], []],
    "grants": [["review", "--config", "DIR/none"], ["who", "x ="], ["what"]],
    "durable": [["list", "--server", "NOBODY"], ["seek", "x"], ["what"]],
    "context": [["use", "none"], ["add", "a b", "siena://x"], ["what"]],
    "top": [["--server", "NOBODY"], ["--server", "a b"]],
    "topo": [["--server", "NOBODY"], ["--server", "TAKEN"]],
    "why": [[], ["x=1"], ["x=1", "x >"], ["x=1", "--server", "NOBODY"]],
    "trace": [[], ["x="], ["x=1", "--server", "NOBODY"]],
    "flights": [
        ["--limit", "-1"],
        ["--seed", "x"],
        ["--limit", "1", "--parquet", "DIR/none/x"],
        ["--subscriptions", "1", "--parquet", "DIR/x"],
    ],
    "translate": [
        ["--from", "sql", "price <"],
        ["--from", "none", "x"],
        ["--from", "eventbridge", "{"],
        ["--from", "sql", "DIR/none/rule"],
        [],
    ],
    "rules apply": [
        ["DIR/none", "DIR/none"],
        ["DIR/none", "DIR/wanted.csv"],
        ["DIR/wanted.csv", "DIR/wanted.csv", "--suppress", "5m"],
        ["DIR/wanted.csv", "DIR/wanted.csv", "--stream"],
    ],
    "rules backtest": [["DIR/none", "DIR/none"], ["a", "b", "--every", "what"]],
    "rules publish": [["DIR/none", "DIR/live"], ["DIR/wanted.csv"]],
    "compile": [["DIR/none", "DIR/out"], ["DIR/bad.csv", "DIR/out"]],
    "match": [["DIR/none", "DIR/none"], ["DIR/wanted.csv", "x", "--answer", "what"]],
    "backtest": [["x >", "DIR/none"], ["x > 3"]],
    "reduce": [["DIR/none"], []],
    "chaos": [["--seconds", "0"], ["--fault", "none"], ["x"]],
    "log": [["check", "DIR/none"], ["export", "DIR/none"], ["what"]],
    "replay": [["DIR/none"], ["DIR/wanted.csv", "--server", "NOBODY"], []],
    "sim check": [["--worlds", "x"]],
    "sim draw": [["chain:x"], []],
    "sim play": [["DIR/none"], ["DIR/bad.csv", "--topology", "what:4"]],
    "sim run": [["DIR/none"], ["DIR/bad.csv"]],
    "study list": [["what"]],
    "study run": [["none"], []],
    "study show": [["none"], []],
    "study report": [["--output"]],
    "bench match": [["--filters", "x"], ["--filters", "-1"]],
    "bench broker": [["--interests", "x"], ["--what"]],
    "bench http": [["--readers", "x"], ["--readers", "0"]],
    "bench client": [["--notifications", "1"], ["--peer", "none"]],
}
CASES = [
    (command, arguments) for command, several in BAD.items() for arguments in several
]


def test_no_command_is_forgotten() -> None:
    assert {command.split()[0] for command in BAD} == set(entry.COMMANDS)


@pytest.fixture(scope="module")
def words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """What stands for folders and addresses."""
    folder = tmp_path_factory.mktemp("bad")
    (folder / "file").write_text("")
    (folder / "bad.csv").write_text("carrier,dest\nUA,DEN\nAA,\n")
    (folder / "wanted.csv").write_text("subscriber,filter\nalice,dest = DEN\n")
    with socket.socket() as taken, socket.socket() as nobody:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        nobody.bind(("127.0.0.1", 0))  # and does not listen
        yield {
            "DIR": str(folder),
            "TAKEN": f"127.0.0.1:{taken.getsockname()[1]}",
            "NOBODY": f"siena://127.0.0.1:{nobody.getsockname()[1]}",
        }


@pytest.mark.parametrize(
    ("command", "arguments"), CASES, ids=[f"{c} {' '.join(a)}" for c, a in CASES]
)
def test_bad_input_is_one_line_with_a_code(
    command: str,
    arguments: list[str],
    words: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", words["DIR"])
    monkeypatch.chdir(words["DIR"])
    monkeypatch.delenv("SIENA_URL", raising=False)
    monkeypatch.setattr("siena.cli.common.surveying.SECONDS_MAX", 0.2)
    for name, value in words.items():
        arguments = [argument.replace(name, value) for argument in arguments]
    monkeypatch.setattr(sys, "argv", ["siena", *command.split(), *arguments])
    with pytest.raises(SystemExit) as leaving:
        entry.main()
    _, err = capfd.readouterr()
    assert leaving.value.code in {1, 2, 3}, err
    assert "Traceback" not in err
    last = err.rstrip("\n").split("\n")[-1]
    assert last.startswith("siena: error: "), err
    assert len(last) > len("siena: error: ") + 5
    # Only lines about lines come before it, and about the sum of them; or the text that
    # is wrong, and a mark at the place.
    before = err.splitlines()[:-1]
    shows_place = command == "translate" and [*map(str.strip, before[1:])] == ["^"]
    assert not before or command == "sift" or shows_place, err


@pytest.mark.parametrize(
    "arguments",
    [
        ["serve", "--listen", "127.0.0.1:0"],
        ["sift", "-s", "wanted.csv"],
        ["explain", "--stdin"],
        ["sim", "check", "--worlds", "100000"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_an_interrupt_is_quiet(arguments: list[str], words: dict[str, str]) -> None:
    running = subprocess.Popen(
        [sys.executable, "-c", STARTED, *arguments],
        cwd=words["DIR"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert running.stderr is not None
        assert running.stderr.readline() == "started\n"
        os.kill(running.pid, signal.SIGINT)
        _, err = running.communicate(timeout=SECONDS)
    finally:
        running.kill()  # should it not have ended
    assert running.returncode in {0, 130}
    assert "Traceback" not in err


# Says when Ctrl-C would come to the command, and no longer to its imports.  Tests that
# a shell starts in the background would ignore it.
STARTED = """
import signal, sys, threading
signal.signal(signal.SIGINT, signal.default_int_handler)
import siena.cli.main as entry
import siena.cli.service.serve, siena.cli.sim.check
import siena.cli.data.sift, siena.cli.data.explain
sys.argv[0] = "siena"
threading.Timer(0.5, lambda: print("started", file=sys.stderr, flush=True)).start()
entry.main()
"""
