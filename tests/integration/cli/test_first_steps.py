"""What newcomers stumbled over, once: each is a hint now."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import siena
from http_wire import web
from siena import testing
from siena.cli.main import main
from siena.errors import NotEnteredError, SienaError

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with testing.broker() as broker:
        yield broker.url


@pytest.fixture
def run(
    url: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Run:
    monkeypatch.setenv("SIENA_URL", url)

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["siena", *arguments])
        with pytest.raises(SystemExit) as leaving:
            main()
        return (int(leaving.value.code or 0), *capsys.readouterr())

    return run


FORMS = [
    ["symbol=DIS", "change=-4"],
    ["symbol=DIS change=-4"],
    ["symbol = DIS, change = -4"],
    ['{"symbol": "DIS", "change": -4}'],
]


@pytest.mark.parametrize("form", FORMS, ids=" ".join)
def test_pub_why_and_trace_take_notifications_in_the_same_forms(
    url: str, run: Run, form: list[str]
) -> None:
    with siena.connect(url) as client:
        wanted = client.subscribe("symbol = DIS and change < 0").settled()
        assert run("pub", *form)[0] == 0
        assert run("trace", *form)[0] == 0
        for _ in range(2):
            assert wanted.get(10) == siena.Notification(symbol="DIS", change=-4)
    assert run("why", *form, "symbol = DIS and change < 0")[0] == 0
    assert run("why", *form, "--filter", "symbol=DIS")[0] == 0
    assert run("why", *form, "change > 0")[0] == 1


def test_why_names_the_nearest_filter_and_what_it_missed(url: str, run: Run) -> None:
    with siena.connect(url) as client:
        client.subscribe("symbol = MSFT and change > 0").settled()
        near = client.subscribe("symbol = DIS and change < 0").settled()
        code, out, _ = run("why", "symbol=DIS", "change=4", "--server", url)
        assert code == 1
        lines = [line.strip() for line in out.splitlines()]
        place = lines.index("✗ nobody here wants it")
        assert lines[place + 1].startswith("nearest: change < 0 and symbol = DIS, of ")
        assert lines[place + 2].startswith("✗ change < 0")
        _, out, _ = run("why", "symbol=DIS", "change=4", "--server", url, "--json")
        (step,) = json.loads(out)["brokers"]
        assert [each["subject"] for each in step["nearest"]["missed"]] == ["change < 0"]
        near.close()


def test_pub_tells_a_terminal_what_it_sent(
    run: Run, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    assert run("pub", "x=1") == (0, "", "")  # a script is told nothing
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    _, _, err = run("pub", "x=1")
    assert err.rstrip().endswith(f"siena: published x = 1 at {url}")
    assert "published" not in run("pub", "x=1", "--quiet")[2].rpartition("\r")[2]


def test_explain_answers_bad_input_with_an_object(run: Run) -> None:
    code, out, err = run("explain", "covers", "x >", "x > 3", "--json")
    assert code == 2
    assert json.loads(out)["error"] in err


def test_sift_does_not_pass_over_a_whole_file_in_silence(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "n.csv").write_text("carrier,dest\nUA,DEN\n")
    (tmp_path / "s.csv").write_text("subscriber,filter\nalice,dest = DEN\n")
    code, _, err = run("sift", str(tmp_path / "n.csv"), "-s", str(tmp_path / "s.csv"))
    assert code == 2
    assert "siena match reads CSV" in err.splitlines()[-1]
    (tmp_path / "n.csv").write_text("what is this\ndest = DEN\n")
    code, _, _ = run("sift", str(tmp_path / "n.csv"), "-s", str(tmp_path / "s.csv"))
    assert code == 0  # one was good


def test_a_connection_without_with_says_how(url: str) -> None:
    connecting = siena.connect(url)
    with pytest.raises(NotEnteredError, match="with siena"):
        connecting.publish(x=1)  # type: ignore[attr-defined,unused-ignore]
    assert issubclass(NotEnteredError, SienaError)
    assert not hasattr(connecting, "publsh")


def test_a_timeout_says_what_was_waited_for(url: str) -> None:
    with siena.connect(url) as client:
        wanted = client.subscribe("never any").settled()
        with pytest.raises(TimeoutError, match=r"nothing came within 0\.01 s"):
            wanted.get(timeout_s=0.01)


async def test_a_plain_get_of_the_websocket_is_told_to_upgrade() -> None:
    async with web() as found:
        answer = await found.client.get("/ws")
        assert answer.status_code == 426
        assert answer.headers["upgrade"] == "websocket"
        assert "WebSocket" in answer.json()["text"]


def test_a_shell_can_complete_commands() -> None:
    done = subprocess.run(
        [Path(sys.executable).with_name("siena")],
        env={
            **os.environ,
            "_SIENA_COMPLETE": "complete_bash",
            "COMP_WORDS": "siena ex",
            "COMP_CWORD": "1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["explain"]


def test_a_warning_is_a_line_and_names_no_place_in_our_code(tmp_path: Path) -> None:
    (tmp_path / "wanted.csv").write_text("subscriber,filter\nann,x > 1 and x < 1\n")
    (tmp_path / "rows.csv").write_text("x\n1\n")
    done = subprocess.run(
        [sys.executable, "-m", "siena", "match", "wanted.csv", "rows.csv"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = "siena: warning: nothing can satisfy 'x > 1 and x < 1'\n"
    assert done.stderr == said
