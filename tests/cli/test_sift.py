"""``siena sift``: every matcher, good lines and bad, files and streams."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from siena.cli import sift as command
from siena.cli.sift import MATCHERS

SUBSCRIPTIONS = """subscriber,filter
alice,"airline = UA and price < 500"
bob,dest = DEN
carol,"price < 300 or price > 1000"
alice,airline = AZ
"""
NOTIFICATIONS = """{"airline": "UA", "price": 449, "dest": "DEN"}
airline = AZ, price = 2000
bad =
{"airline": "LH"}
"""


def run(
    folder: Path, *arguments: str, text: str = NOTIFICATIONS
) -> tuple[int, str, str]:
    done = subprocess.run(
        [sys.executable, "-m", "siena", "sift", *arguments],
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "subscriptions.csv").write_text(SUBSCRIPTIONS)
    (tmp_path / "notifications.txt").write_text(NOTIFICATIONS)
    return tmp_path


@pytest.mark.parametrize("matcher", MATCHERS)
def test_all_matchers_sift_alike(folder: Path, matcher: str) -> None:
    code, out, err = run(
        folder,
        *("notifications.txt", "--subscriptions", "subscriptions.csv", "--json"),
        *("--matcher", matcher),
    )
    assert code == 0
    assert [json.loads(line) for line in out.splitlines()] == [
        {"line": 1, "subscribers": ["alice", "bob"]},
        {"line": 2, "subscribers": ["alice", "carol"]},
        {"line": 3, "error": "column 6: expected a value, found the end"},
        {"line": 4, "subscribers": []},
    ]
    assert "siena: line 3: column 6" in err
    assert "4 lines, 2 wanted, 4 deliveries, 1 bad" in err


def test_people_get_lines_and_json_subscriptions_work_too(folder: Path) -> None:
    rows = [
        {"subscriber": "dora", "filter": "dest = DEN"},
        {"subscriber": 7, "filter": [{"name": "price", "operator": ">", "value": 1}]},
    ]
    text = "\n".join(map(json.dumps, rows))
    (folder / "subscriptions.ndjson").write_text(text + "\n\n")
    code, out, _ = run(folder, "-s", "subscriptions.ndjson")
    assert code == 0
    assert out == "1: 7, dora\n2: 7\n4: \n"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ('{"subscriber": "a"}', 'line 1: a subscription needs a "filter"'),
        ('{"filter": "x any"}', 'line 1: a subscription needs a "subscriber"'),
        ('{"subscriber": "a", "filter": "x >"}', "line 1: column 4: expected a value"),
        ('{"subscriber": "a", "filter": "x any then y any"}', "line 1: a pattern"),
        ("[", "line 1: column 2: this is not JSON"),
    ],
)
def test_a_bad_subscription_is_not_lost_in_silence(
    folder: Path, row: str, said: str
) -> None:
    (folder / "bad.ndjson").write_text(row + "\n")
    code, out, err = run(folder, "-s", "bad.ndjson")
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_strict_stops_and_bad_options_are_refused(folder: Path) -> None:
    code, _, err = run(folder, "-s", "subscriptions.csv", "--strict")
    assert code == 2
    assert "error: line 3: column 6" in err
    code, _, err = run(folder, "-s", "subscriptions.csv", "--matcher", "oracle")
    assert code == 2
    assert "'oracle' is not a matcher (one of engine" in err
    code, _, err = run(folder, "-s", "missing.csv")
    assert (code, err) == (2, "siena: error: missing.csv: No such file or directory\n")


def test_each_line_is_answered_as_it_comes(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "siena", "sift", "-s", "subscriptions.csv"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in (1, 2):
            process.stdin.write("dest = DEN\n")
            process.stdin.flush()
            assert process.stdout.readline() == f"{number}: bob\n"
        process.stdin.close()


def test_a_long_line_is_refused_and_the_next_one_read(
    monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    monkeypatch.setattr(command, "LINE_BYTES_MAX", 50)
    monkeypatch.setattr(command, "CHUNK_BYTES", 16)
    path = folder / "long.txt"
    path.write_bytes(b"x = " + b"a" * 1000 + b"\ndest = DEN")
    source = os.open(path, os.O_RDONLY)
    lines = [line for chunk in command._chunks(source) for line in chunk]
    os.close(source)
    assert len(lines) == 2
    assert 50 < len(lines[0]) <= 200
    assert lines[1] == b"dest = DEN"
