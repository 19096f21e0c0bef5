"""``siena tour``: it runs, and says what is true."""

import sys

import pytest

from siena.cli.main import main


def test_the_tour_shows_each_part(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "150")
    monkeypatch.setattr(sys, "argv", ["siena", "tour"])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 0
    shown = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "integer change < 0 no a type is exact: the change is a float" in shown
    assert 's <= "az" s >* "a" no s = aza' in shown
    assert "root airline any airline = UA" in shown
    assert any(line.startswith("x > 200; x < 100 number x any") for line in shown)
