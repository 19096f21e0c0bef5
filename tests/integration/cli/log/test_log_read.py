"""``siena log``: what a broker has kept, read by offset."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import siena
from siena import testing
from siena.cli.main import main


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    with testing.broker(log={"path": str(tmp_path / "log")}) as broker:
        with siena.connect(broker.url) as client:
            client.publish_many({"level": level} for level in range(6))
            client.flush()
        yield broker.url


def run(
    monkeypatch: pytest.MonkeyPatch, *arguments: str
) -> int:  # what it wrote is with capsys
    monkeypatch.setattr(sys, "argv", ["siena", "log", *arguments])
    with pytest.raises(SystemExit) as leaving:
        main()
    return int(leaving.value.code or 0)


def test_what_was_kept_is_printed_with_its_offset(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SIENA_URL", url)
    assert run(monkeypatch, "--from", "0", "level > 3") == 0
    assert capsys.readouterr() == ("4  level = 4\n5  level = 5\n", "")
    assert run(monkeypatch, "read", "--from", "2", "--to", "4", "--json") == 0
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line)["offset"] for line in lines] == [2, 3]
    assert run(monkeypatch, "-n", "2") == 0
    assert capsys.readouterr().out == "0  level = 0\n1  level = 1\n"


def test_an_offset_beyond_the_end_and_a_broker_without_a_log_are_one_line(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--from", "9", "--server", url) == 2
    assert "there is no offset 9 yet (the log ends at 6)" in capsys.readouterr().err
    with testing.broker() as other:
        assert run(monkeypatch, "--server", other.url) == 1
    assert capsys.readouterr().err.count("\n") == 1
