"""``siena top``, ``topo``, ``why`` and ``trace`` against real brokers."""

import io
import json
import re
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from rich.console import Console

import siena
from served import process, ready
from siena import testing
from siena.broker.access.credentials import Credentials, save_credentials
from siena.cli.common import surveying
from siena.cli.common.observing import Observer
from siena.cli.main import main
from siena.cli.service.top import (
    DURABLE_COLUMNS,
    GROWING,
    LINK_COLUMNS,
    NOW,
    Rates,
    picture,
)
from siena.client.tokens import new_token
from siena.errors import RequestRefusedError
from siena.protocol.limits import LOOK_MAX
from siena.testing.network import RunningNetwork


class Outcome(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@pytest.fixture(scope="module")
def chain() -> Iterator[RunningNetwork]:
    with testing.network("chain:3") as network:
        yield network


@pytest.fixture
def run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Run:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def run(*arguments: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["siena", *arguments])
        capsys.readouterr()
        try:
            main()
            code = 0
        except SystemExit as leaving:
            code = int(leaving.code or 0)
        return Outcome(code, *capsys.readouterr())

    return run


def test_a_network_is_drawn_from_any_of_its_brokers(
    chain: RunningNetwork, run: Run
) -> None:
    done = run("topo", "--server", chain[1].url)
    assert done.code == 0
    first, second, third = done.out.splitlines()
    assert first.startswith("1  siena://")
    assert second.startswith("└── 2  ")
    assert third.startswith("    └── 3  ")
    assert "peer, " in third
    said = json.loads(run("topo", "--server", chain[3].url, "--json").out)
    assert [broker["broker"] for broker in said["brokers"]] == ["3", "2", "1"]


def test_a_cycle_is_drawn_once(run: Run) -> None:
    with testing.network("ring:3", architecture="general") as network:
        out = run("topo", "--server", network[1].url).out
    assert len(out.splitlines()) == 4
    assert out.count("─ ─") == 1


def test_top_shows_counters_and_links(chain: RunningNetwork, run: Run) -> None:
    with siena.connect(chain[1].url) as client:
        client.publish(x=1)
        client.flush()
    done = run("top", "--server", chain[1].url, "-n", "2", "--interval", "0.1")
    assert done.code == 0
    assert "publications" in done.out
    assert "link to" in done.out
    both = ("--server", chain[1].url, "--server", chain[2].url)
    lines = run("top", *both, "--json").out.splitlines()
    one, two = map(json.loads, lines)
    assert (one["broker"], two["broker"]) == ("1", "2")
    assert one["counters"]["publications"] >= 1
    assert {link["name"] for link in two["links"]} == {"1", "3"}


def test_top_draws_how_the_rates_went() -> None:
    rates, looks = Rates(), []
    for second, publications in enumerate([0, 10, 30, 30, 5]):
        counters = dict.fromkeys((*NOW, *GROWING), 0) | {"publications": publications}
        looks.append({"broker": "b", "links": [], "counters": counters})
        rates.add(looks[-1:], float(2 * second))
    # The last broker began anew, and is taken to have counted nothing.
    assert rates.of(0, "publications") == [5.0, 10.0, 0.0, 0.0]
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(picture(looks[-1:], rates, console.width))
    (line,) = (
        line for line in console.export_text().splitlines() if "publications" in line
    )
    assert line.split() == ["publications", "5", "0", "▅█▁▁"]


@pytest.mark.parametrize("brokers", [1, 2, 5, 7])
def test_top_fits_into_a_terminal_of_80_columns(brokers: int) -> None:
    counters = dict.fromkeys((*NOW, *GROWING), 12_345_678)
    links = [
        {"name": "neighbour", "side": "peer", "address": "127.0.0.1:2606"}
        | dict.fromkeys(LINK_COLUMNS, 123_456)
    ]
    seen = [
        {"broker": f"broker-{i}", "links": links, "counters": counters}
        for i in range(brokers)
    ]
    rates = Rates()
    for second in range(40):
        rates.add(seen, float(second))
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(picture(seen, rates, console.width))
    text = console.export_text()
    assert "…" not in text
    assert text.count("12,345,678") == brokers * len((*NOW, *GROWING))
    assert text.count("123,456") == brokers * len(LINK_COLUMNS)
    assert ("lately" in text) == (brokers == 1)


@pytest.mark.parametrize(("width", "left"), [(120, 5), (100, 5), (80, 3), (60, 2)])
def test_top_cuts_no_name_and_no_number_of_a_link(width: int, left: int) -> None:
    """Found: where brokers have only addresses and have run for days, all was cut."""
    link: dict[str, Any] = dict.fromkeys(LINK_COLUMNS, 1_234_567)
    link |= {"name": "127.0.0.1:2607", "side": "peer", "address": "127.0.0.1:41234"}
    counters = dict.fromkeys((*NOW, *GROWING), 0)
    billing: dict[str, Any] = dict.fromkeys(DURABLE_COLUMNS, 7_654_321)
    billing |= {"name": "billing", "filter": "order any and total > 100 and x any"}
    seen: dict[str, Any] = {"broker": "127.0.0.1:2606", "links": [link]}
    seen |= {"counters": counters, "durables": [billing] if width >= 80 else []}
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(picture([seen], Rates(), console.width))
    text = console.export_text()
    assert "…" not in text
    (row,) = (line for line in text.splitlines() if "127.0.0.1:2607" in line)
    assert row.startswith("127.0.0.1:2606  127.0.0.1:2607")
    assert row.count("1,234,567") == left
    assert text.count("7,654,321") == len(DURABLE_COLUMNS) * len(seen["durables"])


def test_top_shows_what_was_refused_and_to_whom(tmp_path: Path, run: Run) -> None:
    token = new_token()
    known = Credentials().with_token(token, "ann", ("watcher",), made_at=0.0)
    save_credentials(tmp_path / "credentials.json", known)
    file = tmp_path / "ann.token"
    file.write_text(token.text)
    access = {
        "credentials": str(tmp_path / "credentials.json"),
        "roles": {"watcher": {"inspect": "what in (counters, links)"}},
    }
    with testing.broker(access=access) as broker:
        with siena.connect(broker.url, token=token.text) as ann:
            for _ in range(3):
                ann.publish(x=1)
            with pytest.raises(RequestRefusedError, match="publish is not granted"):
                ann.flush()
        added = run("context", "add", "here", broker.url, "--token", str(file))
        assert added.code == 0, added
        shown = run("top", "--server", "here")
        assert shown.code == 0, shown
        assert "refused" in shown.out
        assert re.search(r"publish +watcher +3 *$", shown.out, re.MULTILINE), shown.out
        looked = json.loads(run("top", "--server", "here", "--json").out)
        assert looked["refusals"][0]["verb"] == "publish"


def test_why_without_a_broker(run: Run) -> None:
    done = run(
        "why", "symbol=DIS change=4", "symbol = DIS and change < 0", "symbol any"
    )
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0] == "no: change < 0 and symbol = DIS"
    assert any(line.startswith("  ✗ change < 0") for line in lines)
    assert "yes: symbol any" in lines
    done = run("why", '{"x": 1}', "x > 3", "--json")
    assert done.code == 1
    (said,) = json.loads(done.out)["filters"]
    assert (said["filter"], said["matches"]) == ("x > 3", False)


def test_why_follows_the_tables_of_brokers(chain: RunningNetwork, run: Run) -> None:
    with siena.connect(chain[3].url) as client:
        wanted = client.subscribe("x > 3").settled()
        done = run("why", "x=4", "--server", chain[1].url)
        assert done.code == 0
        assert done.out.splitlines()[:4] == [
            "at 1:",
            "  ✓ broker 2  because of x > 3",
            "at 2 from 1:",
            "  ✓ broker 3  because of x > 3",
        ]
        assert "✓ client " in done.out
        done = run("why", "x=3", "--server", chain[1].url, "--json")
        assert done.code == 1
        (step,) = json.loads(done.out)["brokers"]
        assert (step["broker"], step["clients"], step["brokers"]) == ("1", {}, {})
        done = run("why", "x=3", "--server", chain[1].url)
        assert "✗ nobody here wants it" in done.out
        assert "at 3: it does not come there" in done.out
        wanted.close()


def test_why_asks_about_all_filters_however_many_there_are(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    with testing.network("chain:2") as network, siena.connect(network[2].url) as client:
        wanted = [client.subscribe(f"x = {n}") for n in range(LOOK_MAX + 500)]
        wanted[-1].settled(10)
        asked = ("why", f"x={LOOK_MAX + 499}", "--server", network[1].url)
        done = run(*asked)
        assert done.code == 0, done
        assert f"✓ broker 2  because of x = {LOOK_MAX + 499}" in done.out
        assert f"/{wanted[-1].number}  because of x = {LOOK_MAX + 499}" in done.out
        assert "not all of them" not in done.out
        other = run("why", "x=-1", "--server", network[2].url)
        assert (other.code, "✗ nobody here wants it" in other.out) == (1, True)
        assert "nearest of its first 1,000: x = " in other.out
        # A broker of before lists the first of them, and no more is known.
        monkeypatch.setattr(Observer, "wanting", lambda *_: None)
        older = run("why", f"x={LOOK_MAX + 499}", "--server", network[2].url)
        said = "among its first 1,000 filters none wants it; it has more"
        assert (older.code, said in older.out) == (1, True), older


def test_why_knows_that_masters_get_everything(run: Run) -> None:
    with testing.network("chain:2", architecture="hierarchical") as network:
        outs = [run("why", "x=4", "--server", url).out for url in network.urls]
    assert sum("because of it is the master" in out for out in outs) == 1


def test_a_trace_names_every_broker_on_the_way(chain: RunningNetwork, run: Run) -> None:
    with siena.connect(chain[3].url, name="me") as client:
        wanted = client.subscribe("x > 3").settled()
        done = run("trace", "x=4", "--server", chain[1].url)
        assert done.code == 0, done
        assert [line.split()[0] for line in done.out.splitlines()] == [
            *("1", "→", "2", "→", "3", "✓")
        ]
        assert "1 ← a client" in done.out
        assert " → 2\n" in done.out
        assert "  → 3: x > 3\n" in done.out
        assert "  ✓ me: x > 3\n" in done.out
        assert wanted.get(10) == siena.Notification(x=4)
        hops = run("trace", '{"x": 5}', "--server", chain[2].url, "--json")
        found = [json.loads(line) for line in hops.out.splitlines()]
        assert [(hop["broker"], hop["came_from"]) for hop in found] == [
            ("2", "a client"),
            ("3", "2"),
        ]
        done = run("trace", "x=3", "--server", chain[1].url)
        assert (done.code, done.err) == (1, "")
        assert "✗ nobody here wants it" in done.out
        wanted.close()


def test_what_is_wrong_is_said_in_one_line(run: Run) -> None:
    with socket.socket() as nobody:  # bound, and nobody listens
        nobody.bind(("127.0.0.1", 0))
        url = f"siena://127.0.0.1:{nobody.getsockname()[1]}"
        for arguments, code, said in (
            (("top", "--server", url), 3, "no broker at"),
            (("topo", "--server", url), 3, "no broker at"),
            (("topo", "--server", "http://x"), 2, "address"),
            (("why", "x=1"), 2, "which filter?"),
            (("why", "x=", "x any"), 2, "x=, column 3"),
            (("why", "x=1", "x any", "x >"), 2, "filter 2"),
            (("why", "x=1", "x any then y any"), 2, "pattern"),
            (("why", "x=1", "--server", url), 3, "no broker at"),
            (("trace", "x=1", "--server", url), 3, "no broker at"),
            (("trace", "x=", "--server", url), 2, "x=, column 3"),
        ):
            done = run(*arguments)
            assert done.code == code, done
            assert said in done.err
            assert done.err.count("\n") == 1


def test_a_link_that_should_be_there_is_drawn_with_a_cross(run: Run) -> None:
    url = "siena://127.0.0.1:1"
    with process("--listen", "127.0.0.1:0", "--peer", url, "--json") as serving:
        (where,) = ready(serving)["urls"]
        assert serving.stderr is not None
        said = serving.stderr.readline()
        assert f" WARNING siena.broker: no link to {url}: " in said
        done = run("topo", "--server", where)
        assert done.code == 1
        assert f"└─✗ {url}  peer, " in done.out
        (broker,) = json.loads(run("topo", "--server", where, "--json").out)["brokers"]
        assert broker["missing"][0]["url"] == url


def test_a_broker_that_cannot_be_reached_is_drawn_as_such(
    chain: RunningNetwork, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(surveying, "addresses_of", lambda *_: [])
    done = run("topo", "--server", chain[1].url)
    assert done.code == 1
    assert "2 (not reached: it has not said where it is)" in done.out


def test_names_of_others_are_no_commands_to_a_terminal(
    chain: RunningNetwork, run: Run
) -> None:
    url = chain.urls[0]
    with siena.connect(url, name="evil\x1b[2J\x9b1m\nyes") as client:
        subscription = client.subscribe("evil any")
        subscription.settled()
        for arguments in (
            ("trace", "evil=1", "-S", url),
            ("why", "evil=1", "-S", url),
            ("topo", "-S", url),
            ("top", "--count", "1", "-S", url),
        ):
            found = run(*arguments)
            assert found.code == 0, found
            assert "\x1b[2J" not in found.out
            assert "\x9b" not in found.out
            assert "\nyes" not in found.out
