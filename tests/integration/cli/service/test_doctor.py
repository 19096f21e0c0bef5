"""``siena doctor``: what is missing has a fix, and what is there is found."""

import json
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from siena import testing
from siena.cli.main import main
from siena.cli.service import doctor
from siena.extras import how_to_get

Ask = Callable[..., tuple[int, dict[str, Any]]]


@pytest.fixture
def ask(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    def ask() -> tuple[int, dict[str, Any]]:
        monkeypatch.setattr(sys, "argv", ["siena", "doctor", "--no-spark", "--json"])
        with pytest.raises(SystemExit) as leaving:
            main()
        said = json.loads(capsys.readouterr().out)
        assert said["ok"] is (leaving.value.code == 0)
        return leaving.value.code == 0, {each["name"]: each for each in said["checks"]}

    return ask


def test_here_everything_is_found(ask: Ask) -> None:
    is_well, found = ask()
    assert is_well
    assert found["Python"]["state"] == found["siena"]["state"] == "ok"
    assert found["PySpark"]["state"] == found["flights"]["state"] == "ok"
    assert all(each["fix"] for each in found.values() if each["state"] != "ok")


def test_a_taken_port_is_named_with_who_is_there(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    with testing.broker() as broker, socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        port = int(broker.url.rpartition(":")[2])
        silent = other.getsockname()[1]
        monkeypatch.setattr(doctor, "PORTS", {"native": port, "HTTP": silent})
        is_well, found = ask()
    assert is_well  # another port will do
    assert "a broker is there" in found[f"port {port}"]["found"]
    assert "--listen" in found[f"port {port}"]["fix"]
    assert "broker" not in found[f"port {silent}"]["found"]
    assert "--http" in found[f"port {silent}"]["fix"]


def test_without_java_it_says_what_to_type(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    is_well, found = ask()
    assert is_well  # only Spark needs it
    assert found["Java"]["state"] == "note"
    assert "apt install openjdk-17-jre-headless" in found["Java"]["fix"]


def test_an_old_java_is_wrong(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    java = tmp_path / "bin" / "java"
    java.parent.mkdir()
    java.write_text("#!/bin/sh\necho 'java version \"1.8.0_292\"' >&2\n")
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    is_well, found = ask()
    assert not is_well
    assert "is version 8" in found["Java"]["found"]


def test_a_missing_extra_says_how_to_install_it(
    ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda _: None)
    is_well, found = ask()
    assert is_well
    assert found["PySpark"]["fix"] == how_to_get("spark")


def test_people_get_a_line_for_each_and_the_fix_below(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor, "find_spec", lambda _: None)
    monkeypatch.setattr(sys, "argv", ["siena", "doctor", "--no-spark"])
    with pytest.raises(SystemExit):
        main()
    lines = capsys.readouterr().out.splitlines()
    (place,) = [i for i, line in enumerate(lines) if line.startswith("· flights")]
    assert lines[place + 1].strip() == f"→ {how_to_get('demo')}"
