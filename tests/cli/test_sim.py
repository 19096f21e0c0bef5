"""``siena sim``: scripts, worlds, and what is refused."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from siena.cli.main import main

SCRIPT = """\
{"op": "subscribe", "client": "a", "at": 1, "filter": "x > 3"}
{"op": "subscribe", "client": "b", "at": 4, "filter": "x > 5"}
{"op": "publish", "client": "p", "at": 2, "notification": {"x": 5}}

{"op": "unsubscribe", "client": "a", "at": 1, "filter": "x any"}
{"op": "publish", "client": "p", "at": 2, "notification": "x = 7"}
"""


Run = Callable[..., tuple[object, str, str]]


@pytest.fixture
def run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Run:
    """``siena sim`` in this process: its exit code, its stdout and its stderr."""
    monkeypatch.chdir(tmp_path)

    def command(*arguments: str) -> tuple[object, str, str]:
        monkeypatch.setattr(sys, "argv", ["siena", "sim", *arguments])
        with pytest.raises(SystemExit) as leaving:
            main()
        return (leaving.value.code, *capfd.readouterr())

    return command


def play(run: Run, script: str, *arguments: str) -> tuple[object, str, str]:
    Path("script.ndjson").write_text(script)
    return run("play", "script.ndjson", *arguments)


def test_a_script_is_played_step_by_step(run: Run) -> None:
    code, out, err = play(run, SCRIPT, "--topology", "chain:4", "--json")
    assert (code, err) == (0, "")
    assert [json.loads(line) for line in out.splitlines()] == [
        {
            "step": 1,
            "sent": [[1, 2, "subscribe"], [2, 3, "subscribe"], [3, 4, "subscribe"]],
        },
        {
            "step": 2,
            "sent": [[4, 3, "subscribe"], [3, 2, "subscribe"], [2, 1, "subscribe"]],
        },
        {"step": 3, "receivers": ["a"], "sent": [[2, 1, "notify"]]},
        {
            "step": 4,
            "sent": [
                [1, 2, "unsubscribe"],
                [2, 3, "unsubscribe"],
                [3, 4, "unsubscribe"],
            ],
        },
        {"step": 5, "receivers": ["b"], "sent": [[2, 3, "notify"], [3, 4, "notify"]]},
    ]


@pytest.mark.parametrize(
    ("architecture", "topology"),
    [
        ("centralised", "star:4"),
        ("hierarchical", "tree:3x1"),
        ("acyclic", "star:4"),
        ("general", "ring:4"),
    ],
)
def test_every_architecture_plays_it(
    run: Run, architecture: str, topology: str
) -> None:
    arguments = ("--topology", topology, "--architecture", architecture, "--json")
    code, out, err = play(run, SCRIPT, *arguments)
    assert (code, err) == (0, "")
    steps = [json.loads(line) for line in out.splitlines()]
    assert [step.get("receivers") for step in steps] == [None, None, ["a"], None, ["b"]]


def test_people_get_a_line_for_each_step(run: Run) -> None:
    code, out, _ = play(run, SCRIPT, "--topology", "chain:4")
    assert code == 0
    assert out.splitlines()[2] == "3: publish; received by a; 2→1 notify"


HYBRID = {
    "links": [
        {"from": 2, "to": 1, "role": "master"},
        {"from": 4, "to": 3, "role": "master"},
        {"from": 1, "to": 3, "role": "mesh"},
    ]
}


def test_a_hybrid_network_comes_from_a_file(run: Run) -> None:
    Path("hybrid.json").write_text(json.dumps(HYBRID))
    arguments = ("--topology", "hybrid.json", "--architecture", "hybrid", "--json")
    code, out, err = play(run, SCRIPT, *arguments)
    assert (code, err) == (0, "")
    assert json.loads(out.splitlines()[4])["receivers"] == ["b"]


def test_links_and_clients_come_and_go(run: Run) -> None:
    script = "\n".join(
        json.dumps(step)
        for step in (
            {"op": "subscribe", "client": "a", "at": 1, "filter": "x any"},
            {"op": "disconnect", "at": 1, "to": 2},
            {"op": "publish", "client": "p", "at": 3, "notification": {"x": 1}},
            {"op": "connect", "at": 1, "to": 2},
            {"op": "publish", "client": "p", "at": 3, "notification": {"x": 2}},
            {"op": "suspend", "client": "a", "at": 1, "queue": 5},
            {"op": "publish", "client": "p", "at": 3, "notification": {"x": 3}},
            {"op": "move", "client": "a", "at": 1, "to": 2},
            {"op": "publish", "client": "p", "at": 3, "notification": {"x": 4}},
            {"op": "crash", "at": 3},
            {"op": "restart", "at": 3},
            {"op": "publish", "client": "p", "at": 3, "notification": {"x": 5}},
        )
    )
    code, out, err = play(run, script, "--topology", "chain:3", "--json")
    assert (code, err) == (0, "")
    steps = [json.loads(line) for line in out.splitlines()]
    receivers = [step["receivers"] for step in steps if "receivers" in step]
    assert receivers == [[], ["a"], [], ["a"], ["a"]]


@pytest.mark.parametrize(
    ("script", "arguments", "reason"),
    [
        ('{"op": "dance", "at": 1}', (), "line 1: there is no op 'dance'"),
        ('\n{"op": "crash", "at": 9}', (), "line 2: there is no broker 9"),
        ('{"op": "crash"}', (), 'line 1: crash needs "at"'),
        ('{"op": "crash", "at": 1, "hard": 1}', (), 'line 1: crash has no "hard"'),
        ('{"op": "crash", "at": "1"}', (), "line 1: a broker is a number from 1"),
        ("[]", (), "line 1: a step is a JSON object"),
        ("{", (), "line 1, column 2: this is not JSON"),
        (
            '{"op": "subscribe", "client": "a", "at": 1, "filter": "x >"}',
            (),
            "line 1, column 4: expected a value",
        ),
        ('{"op": "connect", "at": 1, "to": 3}', (), "line 1: the link between 1 and 3"),
        ("", ("--topology", "ring:4"), "the link between 1 and 4 closes a cycle"),
        ("", ("--topology", "blob"), "'blob' is not a shape"),
        ("", ("--architecture", "flat"), "'flat' is not an architecture"),
        ("", ("--forwarding", "rumour"), "forwarding is subscription or advertisement"),
        (
            "",
            ("--architecture", "hierarchical", "--forwarding", "advertisement"),
            "a hierarchical network does not forward advertisements",
        ),
    ],
)
def test_what_is_bad_is_refused_with_line_and_reason(
    run: Run, script: str, arguments: tuple[str, ...], reason: str
) -> None:
    code, out, err = play(run, script, "--topology", "chain:3", *arguments)
    assert (code, out) == (2, "")
    assert err.startswith(f"siena: error: {reason}")
    assert err.count("\n") == 1


def test_a_bad_topology_file_is_named(run: Run) -> None:
    Path("net.json").write_text('{"links": [[1, 2, -1]]}')
    code, _, err = play(run, "", "--topology", "net.json")
    assert code == 2
    assert err == (
        "siena: error: net.json, link 1: a weight is greater than 0, not -1\n"
    )


def test_worlds_are_checked(run: Run) -> None:
    code, out, err = run("check", "--worlds", "5", "--jobs", "2")
    assert (code, out, err) == (0, "5 worlds, 0 violations\n", "")


SCENARIO = """\
servers = acyclic adv_fwd;
objects { event = "A"; number = 5; pub/adv = 3; time/pub = 20~25; cycles = 2; };
parties { pattern = "A"; number = 20; notif/sub = 2; cycles = 3; };
"""


def test_a_scenario_costs_what_the_oracle_counts(run: Run) -> None:
    Path("scenario.txt").write_text(SCENARIO)
    arguments = ("run", "scenario.txt", "--seed", "3", "--json")
    code, out, err = run(*arguments)
    assert (code, err) == (0, "")
    totals = json.loads(out)
    assert totals["publications"] == 30
    assert set(totals["messages"]) == {
        *("advertise", "notify", "subscribe", "unadvertise", "unsubscribe")
    }
    assert run(*arguments, "--oracle") == (0, out, "")


@pytest.mark.parametrize("topology", ["transit-stub", "waxman:20"])
def test_a_network_is_drawn_by_the_seed(run: Run, topology: str) -> None:
    Path("scenario.txt").write_text(SCENARIO)
    arguments = ("run", "scenario.txt", "--topology", topology, "--json", "--seed")
    one, other = run(*arguments, "3"), run(*arguments, "4")
    assert one[0] == other[0] == 0
    assert one != other
    assert run(*arguments, "3", "--oracle") == one


def test_people_get_a_table(run: Run) -> None:
    Path("scenario.txt").write_text(SCENARIO)
    code, out, _ = run("run", "scenario.txt", "--topology", "ring:5")
    assert code == 0
    assert out.splitlines()[0].startswith("advertise")
    assert "30 publications" in out


def test_a_bad_scenario_is_refused_with_its_place(run: Run) -> None:
    Path("scenario.txt").write_text("servers = acyclic;\nthings { };")
    code, _, err = run("run", "scenario.txt")
    assert code == 2
    assert err == (
        "siena: error: scenario.txt, line 2, column 1: 'things' is not a section "
        "(objects, parties)\n"
    )


def test_a_network_is_drawn_with_its_tables(run: Run) -> None:
    Path("script.ndjson").write_text(SCRIPT)
    code, _, err = run(
        *("draw", "net.svg", "--topology", "ring:4", "--architecture", "general"),
        *("--script", "script.ndjson"),
    )
    assert (code, err) == (0, "")
    root = ET.parse("net.svg").getroot()  # noqa: S314 -- our own picture
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("x > 5 : b") == 1
    assert [t for t in texts if t and t.isdigit()] == ["1", "2", "3", "4"]
    assert len(list(root.iter("{http://www.w3.org/2000/svg}line"))) == 4


def test_a_picture_is_an_svg(run: Run) -> None:
    code, _, err = run("draw", "net.bmp", "--topology", "ring:4")
    assert (code, err) == (2, "siena: error: net.bmp is not a file .svg\n")
