"""The guide to access, followed as it stands, in an empty folder."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from repository import ROOT

GUIDE = (ROOT / "docs" / "guides" / "security.md").read_text()
# Of its blocks: what makes the network, what Bob does, and what Ann does.
SETTINGS, BRIDGE = re.findall(r"```toml\n(.*?)```", GUIDE, re.DOTALL)
ASKED = re.findall(r"```console\n(.*?)```", GUIDE, re.DOTALL)[0]
NETWORK, READER, WRITER, NARROW = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)[:4]


@pytest.fixture
def ports() -> dict[str, str]:
    """Free ports for those that the guide names."""
    kept = [socket.create_server(("127.0.0.1", 0)) for _ in range(3)]
    found = [str(each.getsockname()[1]) for each in kept]
    for each in kept:
        each.close()
    return dict(zip(("2601", "2602", "2603"), found, strict=True))


@pytest.mark.slow
def test_ten_lines_and_five_commands(tmp_path: Path, ports: dict[str, str]) -> None:
    def ported(text: str) -> str:
        return re.sub("260[123]", lambda found: ports[found[0]], text)

    bin_folder = str(Path(sys.executable).parent)
    environment = {
        **os.environ,
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "XDG_CONFIG_HOME": str(tmp_path / "xdg"),
    }

    def run(line: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["/bin/sh", "-c", ported(line)],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    assert len(SETTINGS.splitlines()) == 10
    *commands, serve = NETWORK.splitlines()
    assert len(commands) == 4
    (tmp_path / "network.toml").write_text(ported(SETTINGS))
    for line in commands:
        done = run(line)
        assert done.returncode == 0, done

    def start(line: str) -> "subprocess.Popen[str]":
        # In place of the shell, so that signals reach it.
        return subprocess.Popen(
            ["/bin/sh", "-c", f"exec {ported(line)}"],
            cwd=tmp_path,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    with start(serve) as network:
        assert network.stdout is not None
        try:
            for name in ("b1", "b2", "b3"):
                assert name in network.stdout.readline()
            *contexts, subscribe = READER.splitlines()
            for line in contexts:
                assert run(line).returncode == 0
            with start(subscribe) as reader:
                assert reader.stderr is not None
                assert "subscribed" in reader.stderr.readline()
                # What he may not hear, and what may not be published.
                assert run(f"{WRITER.strip()} private=true").returncode == 0
                for line in (
                    WRITER.replace("trader=ann", "trader=eve"),
                    WRITER.replace("--server ann", "--server bob"),
                ):
                    assert "error 110" in run(line).stderr
                assert run(WRITER).returncode == 0
                heard, _ = reader.communicate(timeout=60)
                assert heard == "price = 101.5 and symbol = DIS and trader = ann\n"
            assert run(NARROW).returncode == 0
            assert (tmp_path / "page.token").stat().st_mode & 0o777 == 0o600
            assert run("siena token revoke bob").returncode == 0
            network.send_signal(signal.SIGHUP)
            again = run(f"{WRITER.replace('--server ann', '--server bob')}")
            assert "error 211" in again.stderr
        finally:
            network.terminate()


@pytest.mark.parametrize("shown", ASKED.removeprefix("$ ").split("\n$ "))
def test_what_a_bridge_lets_pass_is_said_beforehand(shown: str, tmp_path: Path) -> None:
    (tmp_path / "acme.toml").write_text(BRIDGE)
    command, _, said = shown.partition("\n")
    done = subprocess.run(
        [str(Path(sys.executable).with_name("siena")), *shlex.split(command)[1:]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout.strip(), done.stderr) == (said.strip(), "")
