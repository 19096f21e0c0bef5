"""``siena token new``: what is shown once is not lost."""

import sys
from pathlib import Path

import pytest

from siena.broker.access.credentials import load_credentials
from siena.cli.main import main


def test_a_file_that_is_there_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    credentials, out = tmp_path / "credentials.json", tmp_path / "ann.token"

    def make(identity: str) -> int:
        asked = ["token", "new", identity, "--role", "desk", "--out", str(out)]
        asked += ["--file", str(credentials)]
        monkeypatch.setattr(sys, "argv", ["siena", *asked])
        with pytest.raises(SystemExit) as leaving:
            main()
        return int(leaving.value.code or 0)

    assert make("ann") == 0
    token = out.read_text()
    capsys.readouterr()
    assert make("bob") != 0
    assert f"{out} is there already" in capsys.readouterr().err
    assert out.read_text() == token
    assert len(load_credentials(credentials).tokens) == 1
