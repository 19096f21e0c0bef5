"""``siena sift``: every matcher, good lines and bad, files and streams."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from command import siena
from siena.cli.data.matchers import BATCH, SIEVES

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
    done = siena("sift", *arguments, cwd=folder, stdin=text)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "subscriptions.csv").write_text(SUBSCRIPTIONS)
    (tmp_path / "notifications.txt").write_text(NOTIFICATIONS)
    return tmp_path


@pytest.mark.parametrize("matcher", SIEVES)
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
        {"line": 4, "subscribers": []},
    ]
    report, summary = err.splitlines()
    assert report == "siena: line 3: column 6: expected a value, found the end"
    assert summary.startswith("4 lines, 2 wanted, 4 deliveries, 1 bad, ")


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


def test_a_file_of_something_else_is_one_line(folder: Path) -> None:
    (folder / "bad.csv").write_bytes(b"subscriber,filter\nb\xf6b,x any\n")
    code, out, err = run(folder, "-s", "bad.csv")
    assert (code, out) == (2, "")
    assert err == "siena: error: bad.csv, line 2: this is not UTF-8\n"


def test_names_stay_on_their_line(folder: Path) -> None:
    (folder / "wanted.csv").write_text('subscriber,filter\n"b\nb",dest = DEN\n')
    code, out, _ = run(folder, "notifications.txt", "-s", "wanted.csv")
    assert (code, out) == (0, '1: "b\\nb"\n2: \n4: \n')


def test_strict_stops_after_what_came_before(folder: Path) -> None:
    code, out, err = run(folder, "-s", "subscriptions.csv", "--strict")
    assert (code, out) == (2, "1: alice, bob\n2: alice, carol\n")
    summary, error = err.splitlines()
    assert summary.startswith("3 lines, 2 wanted, 4 deliveries, 1 bad, ")
    assert error.startswith("siena: error: line 3: column 6")


def test_bad_options_are_refused(folder: Path) -> None:
    code, _, err = run(folder, "-s", "subscriptions.csv", "--matcher", "oracle")
    assert code == 2
    assert "'oracle' is not a matcher (one of engine" in err
    code, _, err = run(folder, "-s", "missing.csv")
    assert (code, err) == (2, "siena: error: missing.csv: No such file or directory\n")


@pytest.mark.parametrize("matcher", ["engine", "counting", "tree"])
def test_lines_keep_their_numbers_whatever_is_between_them(
    folder: Path, matcher: str
) -> None:
    """Over several batches, with lines that are empty, bad, or the last one."""
    rows = ["dest = DEN", "", '{"dest": "DEN"}', "bad", "  \r", '{"x": 1}'] * BATCH
    code, out, err = run(
        folder, "-s", "subscriptions.csv", "--matcher", matcher, text="\n".join(rows)
    )
    assert code == 0
    expected = {"dest = DEN": "bob", '{"dest": "DEN"}': "bob", '{"x": 1}': ""}
    assert out.splitlines() == [
        f"{number}: {expected[row]}"
        for number, row in enumerate(rows, start=1)
        if row in expected
    ]
    assert err.count("siena: line") == BATCH
    assert f"{6 * BATCH:,} lines, {2 * BATCH} wanted, {2 * BATCH} deliv" in err


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


def test_who_ends_a_stream_still_gets_the_summary(folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "siena", "sift", "-s", "subscriptions.csv"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Where the tests themselves run in the background, the signal is ignored, and
        # whoever is started from there would ignore it as well.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509 -- there are no other threads
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write("dest = DEN\n")
        process.stdin.flush()
        assert process.stdout.readline() == "1: bob\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.read().startswith("1 lines, 1 wanted, 1 deliveries, 0 ")
        assert process.wait() == 130


def test_a_terminal_shows_the_progress_and_then_nothing_of_it(folder: Path) -> None:
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        command = [sys.executable, "-m", "siena", "sift", "-s", "subscriptions.csv"]
        process = subprocess.Popen(
            [*command, "notifications.txt"],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=theirs,
        )
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # how Linux ends a terminal
            while part := terminal.read(1000):
                shown += part
        assert process.wait() == 0
    said = "4 lines, 2 wanted, 4 deliveries, 1 bad"
    report = "siena: line 3: column 6: expected a value, found the end\r\n"
    start, erase = "\r", "\x1b[K"
    progress = f"{start}{said}{erase}{start}{erase}"
    assert shown.decode().startswith(f"{report}{progress}{said}, ")
