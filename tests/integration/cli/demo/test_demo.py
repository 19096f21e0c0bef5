"""``siena demo``: a day goes through five real brokers, and what it says is true."""

import os
import signal
import socket
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

from siena.cli.demo import day as demo_day
from siena.cli.demo.covering import Saved, saved_by_covering
from siena.cli.demo.day import live_wishes, plain_wishes, sequences_of, the_day
from siena.cli.demo.network import Published, Told
from siena.cli.demo.report import page
from siena.cli.demo.result import Result
from siena.cli.demo.spark import Matched
from siena.cli.main import main
from siena.cli.terminal.termination import EXIT_TERMINATED
from siena.lang.parser import parse_interest
from siena.model import Notification, Pattern

TRAVELLERS = 40
CARRIED = {way: 5 for link in demo_day.LINKS for way in (link, link[::-1])}
pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def day() -> list[Notification]:
    return the_day()


def wanted_by(day: list[Notification], text: str) -> list[int]:
    """By a loop, the slow twin of both network and Spark."""
    interest = parse_interest(text)
    assert not isinstance(interest, Pattern)
    return [demo_day.number_of(flight) for flight in day if interest.matches(flight)]


class Tags(HTMLParser):
    """Counts what is opened and closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.seen.add(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_day_goes_through_five_brokers_to_who_wants_it(
    tmp_path: Path,
    day: list[Notification],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As many travellers as without an option: a broker of few proves little of many.

    Without Java, one line says what is missing, and everything else is done.
    """
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("siena.cli.demo.command.the_day", lambda: day)
    options = ["--output", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", ["siena", "demo", *options])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code == 0
    out = capsys.readouterr().out
    lines = [" ".join(line.split()) for line in out.splitlines()]
    for each in demo_day.SUBSCRIBERS:
        came = len(wanted_by(day, each.interest))
        assert came
        assert f"{each.name} {each.broker} {came} {each.interest}" in lines
    found = len(sequences_of(day))
    assert found
    assert any(line.startswith(f"the desk for Boston city {found} ") for line in lines)
    (missing,) = [line for line in lines if line.startswith("not done: ")]
    assert "apt install openjdk-17-jre-headless" in missing
    report = tmp_path / "out" / "report.html"
    assert f"The report: {report.as_uri()}" in lines
    tags = Tags()
    tags.feed(report.read_text(encoding="utf-8"))
    assert not tags.open
    assert {"svg", "table", "rect", "circle"} <= tags.seen


def result(day: list[Notification], deliveries: dict[int, list[int]]) -> Result:
    live = live_wishes(TRAVELLERS)
    exact = {wish.number: wanted_by(day, wish.filter) for wish in live}
    wanted: dict[int, list[int]] = {}
    for number, flights in exact.items():
        for flight in flights:
            wanted.setdefault(flight, []).append(number)
    return Result(
        day=day,
        live=live,
        told=Told(1, 1.0),
        saved=Saved(2, 1),
        plain=Saved(4, 3),
        published=Published(
            len(day), 1.0, exact | deliveries, sequences_of(day), CARRIED
        ),
        matched=Matched(100, 1.0, wanted=wanted),
    )


def test_a_difference_between_network_and_spark_is_noticed(
    day: list[Notification],
) -> None:
    assert result(day, {}).differences == []
    first = wanted_by(day, demo_day.SUBSCRIBERS[0].interest)
    (said,) = result(day, {0: first[1:]}).differences
    assert said.endswith(
        f": {len(first) - 1} from the network, {len(first)} from Spark"
    )
    # One more, one less: as many, and not the same.
    assert result(day, {0: [*first[1:], 10_000]}).differences


def test_covering_saves_messages_and_is_counted() -> None:
    saved = saved_by_covering(live_wishes(200))
    assert 0 < saved.with_covering < saved.without
    # Without covering every different filter goes once over each of the four links.
    filters = set()
    for wish in live_wishes(200):
        interest = parse_interest(wish.filter)
        assert not isinstance(interest, Pattern)
        filters |= set(getattr(interest, "filters", [interest]))
    assert saved.without == 4 * len(filters)


def test_what_covering_saves_of_a_plainer_crowd_stands_beside_it(
    day: list[Notification],
) -> None:
    live, plain = live_wishes(200), plain_wishes(200)
    assert [wish.number for wish in plain] == [wish.number for wish in live]
    assert saved_by_covering(plain).share < saved_by_covering(live).share / 2
    shown = result(day, {})
    rows = {what: more for what, _, more in shown.rows()}
    assert "drawn so that many cover" in rows["messages that covering saved"]
    assert rows["the same of a plainer crowd"].startswith("25% of 4, ")
    assert "<b>25% or 50%</b>" in page(shown, "siena demo")


def test_served_brokers_end_with_who_started_them(tmp_path: Path) -> None:
    """SIGTERM, as ``timeout`` and others send it, leaves no broker behind."""
    command = [sys.executable, "-m", "siena", "demo", "--serve", "--no-spark"]
    command += ["--travellers", "0", "--output", str(tmp_path)]
    demo = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert demo.stdout is not None
    url = next(line.split()[1] for line in demo.stdout if "siena://" in line)
    demo.terminate()
    demo.communicate(timeout=60)
    assert demo.returncode == EXIT_TERMINATED
    host, port = url.removeprefix("siena://").split(":")
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((host, int(port)), timeout=5)


def test_served_brokers_stay_until_they_are_interrupted(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "siena", "demo", "--serve", "--no-spark"]
    command += ["--travellers", "0", "--output", str(tmp_path)]
    demo = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert demo.stdout is not None
    url = ""
    for line in demo.stdout:
        if line.strip().startswith("siena sub") or " sub --server" in line:
            url = line.split("--server ")[1].split()[0]
        if " topo " in line:
            break
    asked = subprocess.run(
        [sys.executable, "-m", "siena", "topo", "--server", url],
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == 0, asked
    assert "hub" in asked.stdout
    os.kill(demo.pid, signal.SIGINT)
    out, err = demo.communicate(timeout=60)
    assert (demo.returncode, err) == (0, "")
    assert "have ended" in out
    gone = subprocess.run(
        [sys.executable, "-m", "siena", "topo", "--server", url],
        capture_output=True,
        text=True,
        check=False,
    )
    assert gone.returncode == 3
