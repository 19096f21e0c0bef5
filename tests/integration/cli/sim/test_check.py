"""``siena sim check``: worlds that are checked in several processes."""

import sys

import pytest

from siena.cli.main import main


def test_worlds_are_checked(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["check", "--worlds", "5", "--jobs", "2"]
    monkeypatch.setattr(sys, "argv", ["siena", "sim", *arguments])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 0
    assert capfd.readouterr() == ("5 worlds, 0 violations\n", "")
