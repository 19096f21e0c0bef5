"""``siena may`` and ``siena grants``: the answers, not only that there is one."""

import contextlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from siena.cli.main import main

SETTINGS = """
[access.roles.trader]
publish = "what = order and user = ${identity}"
subscribe = ["what = quote", "what = order and user = ${identity}"]

[access.roles.desk]
subscribe = "what = quote and symbol = DIS"

[access.roles.screen]
subscribe = "what = quote"
beyond = "refuse"

[access.roles.other]
subscribe = "what >* quo and what *< ote and what = quote"

[access.roles.dead]
subscribe = "x > 3 and x < 2"

[access.roles.team]
subscribe = "team = ${claim.team}"

[access.roles.partner]
peer = { import = "for = us", export = "for = them except secret any" }
"""

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    path = tmp_path / "broker.toml"
    path.write_text(SETTINGS)

    def run(*arguments: str) -> tuple[int, str]:
        monkeypatch.setattr(sys, "argv", ["siena", *arguments, "--config", str(path)])
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        return code, capsys.readouterr().out

    return run


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        (
            ("trader", "publish", "what = order and user = ann", "--as", "ann"),
            0,
            "yes, for example: user = ann and what = order\n",
        ),
        (
            ("trader", "publish", "what = order and user = bob", "--as", "ann"),
            1,
            "no, for example: user = bob and what = order\n",
        ),
        (
            ("trader", "subscribe", "[]", "--as", "ann"),
            1,
            (
                "no, for example: []\n"
                "it is narrowed to: user = ann and what = order or what = quote\n"
            ),
        ),
        (("screen", "subscribe", "[]"), 1, "no, for example: []\n"),
        (
            ("desk", "subscribe", "symbol = DIS then what = quote"),
            1,
            (
                "no, for example: symbol = DIS\n"
                "it is narrowed to: symbol = DIS and what = quote then "
                "symbol = DIS and what = quote\n"
            ),
        ),
        (
            ("team", "subscribe", "team = red", "--claim", "team=red"),
            0,
            "yes, for example: team = red\n",
        ),
        (
            ("team", "subscribe", "team = red", "--claim", "team=blue"),
            1,
            "no, for example: team = red\n",
        ),
        (
            ("partner", "export", "for = them and secret = 1"),
            1,
            "no, for example: for = them and secret = 1\n",
        ),
        (
            ("partner", "import", "for = us and x = 1"),
            0,
            "yes, for example: for = us and x = 1\n",
        ),
        (("dead", "subscribe", "x = 3"), 1, "no, for example: x = 3\n"),
    ],
)
def test_may_answers_with_a_notification_that_shows_it(
    run: Run, asked: tuple[str, ...], code: int, said: str
) -> None:
    assert run("may", *asked) == (code, said)


def test_may_answers_programs(run: Run) -> None:
    code, out = run("may", "trader", "subscribe", "what = quote or y = 1", "--json")
    assert code == 1
    answer = json.loads(out)
    assert answer["may"] is False
    assert answer["shown"] == "y = 1"
    assert "what = quote" in answer["in_force"]


def test_review_finds_what_is_dead_equal_or_covered(run: Run) -> None:
    code, out = run("grants", "review")
    assert code == 1
    assert out.splitlines() == [
        "dead grants nothing",
        "desk grants nothing that trader does not",
        "screen grants nothing that trader does not",
        "other grants nothing that trader does not",
        "desk grants nothing that screen does not",
        "desk grants nothing that other does not",
        "other grants the same as screen",
    ]
    code, out = run("grants", "review", "--json")
    found = json.loads(out)
    assert found["roles"] == 7
    assert {"kind": "equal", "role": "other", "other": "screen"} in found["findings"]


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        (
            ("what = quote and symbol = DIS",),
            0,
            "trader\ndesk\nscreen\nother\n",
        ),
        (("what = order and user = ann",), 0, "trader, as identity ann\n"),
        (("team = red",), 0, "team, as claim.team red\n"),
        (("y = 1",), 1, "nobody\n"),
        (
            ("what = order and user = ann", "--verb", "publish"),
            0,
            "trader, as identity ann\n",
        ),
        (("for = them and secret = 1", "--verb", "export"), 1, "nobody\n"),
        (("for = them", "--verb", "export"), 0, "partner\n"),
    ],
)
def test_who_names_the_roles_and_whom_they_are_for(
    run: Run, asked: tuple[str, ...], code: int, said: str
) -> None:
    assert run("grants", "who", *asked) == (code, said)


def test_the_settings_of_a_network_have_roles_as_those_of_a_broker_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    network = tmp_path / "network.toml"
    brokers = 'brokers = [{name = "b1", listen = "siena://127.0.0.1:2601"}]\n'
    network.write_text(brokers + SETTINGS)
    monkeypatch.setenv("SIENA_CONFIG", str(network))
    asked = ["grants", "who", "what = quote and symbol = DIS"]
    monkeypatch.setattr(sys, "argv", ["siena", *asked])
    with contextlib.suppress(SystemExit):
        main()
    assert capsys.readouterr().out.splitlines()[:2] == [
        "trader",
        "desk",
    ]
