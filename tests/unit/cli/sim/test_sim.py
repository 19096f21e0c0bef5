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


@pytest.fixture(scope="session")
def fonts() -> None:
    """Fonts that Matplotlib has looked for: the first time ever, it asks a process.

    For the session, so that it happens before a test is kept inside this process.
    """
    pytest.importorskip("matplotlib.font_manager")


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


def test_a_handler_gets_what_is_for_a_client(run: Run) -> None:
    script = "\n".join(
        json.dumps(step)
        for step in (
            {"op": "subscribe", "client": "a", "at": 1, "filter": "x any"},
            {"op": "subscribe", "client": "a", "at": 1, "filter": "y any then z any"},
            {"op": "map_identity", "client": "a", "at": 1, "handler": "pager"},
            {"op": "publish", "client": "p", "at": 3, "notification": {"x": 1}},
            {"op": "publish", "client": "p", "at": 3, "notification": {"y": 1}},
            {"op": "publish", "client": "p", "at": 3, "notification": {"z": 1}},
            {"op": "move", "client": "a", "at": 1, "to": 2},
            {"op": "publish", "client": "p", "at": 3, "notification": {"x": 2}},
            {"op": "map_identity", "client": "a", "at": 2, "handler": "a"},
            {"op": "publish", "client": "p", "at": 3, "notification": {"x": 3}},
        )
    )
    code, out, err = play(run, script, "--topology", "chain:3", "--json")
    assert (code, err) == (0, "")
    steps = [json.loads(line) for line in out.splitlines()]
    receivers = [step["receivers"] for step in steps if "receivers" in step]
    assert receivers == [["pager"], [], ["pager"], ["pager"], ["a"]]


def test_a_handler_belongs_to_one_client(run: Run) -> None:
    steps = [
        {"op": "map_identity", "client": "a", "at": 1, "handler": "pager"},
        {"op": "map_identity", "client": "b", "at": 1, "handler": "pager"},
    ]
    script = "\n".join(map(json.dumps, steps))
    code, _, err = play(run, script, "--topology", "chain:3")
    assert (code, err) == (
        2,
        "siena: error: line 2: 'pager' is a handler of 'a'\n",
    )


def test_frames_are_lost_and_come_twice(run: Run) -> None:
    script = "\n".join(
        json.dumps(step)
        for step in (
            {"op": "subscribe", "client": "a", "at": 1, "filter": "x any"},
            {"op": "lose", "at": 1, "to": 2},
            {"op": "publish", "client": "p", "at": 3, "notification": {"x": 1}},
            {"op": "publish", "client": "p", "at": 3, "notification": {"x": 2}},
            {"op": "duplicate", "at": 2, "to": 1},
            {"op": "publish", "client": "p", "at": 3, "notification": {"x": 3}},
            {"op": "publish", "client": "p", "at": 3, "notification": {"x": 4}},
        )
    )
    code, out, err = play(run, script, "--topology", "chain:3", "--json")
    assert (code, err) == (0, "")
    steps = [json.loads(line) for line in out.splitlines()]
    receivers = [step["receivers"] for step in steps if "receivers" in step]
    assert receivers == [[], ["a"], ["a"], ["a"]]
    assert [1, 2, "peerconnect"] in steps[2]["sent"]
    assert [1, 2, "peerconnect"] in steps[5]["sent"]


@pytest.mark.parametrize(
    ("script", "arguments", "reason"),
    [
        ('{"op": "dance", "at": 1}', (), "line 1: there is no op 'dance'"),
        ('\n{"op": "crash", "at": 9}', (), "line 2: there is no broker 9"),
        ('{"op": "crash"}', (), 'line 1: crash needs "at"'),
        ('{"op": "lose", "at": 1, "to": 3}', (), "line 1: brokers 1 and 3 are not li"),
        ('{"op": "duplicate", "at": 1, "to": 7}', (), "line 1: there is no broker 7"),
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
        ("", ("--topology", "ring:4"), "the link between 3 and 4 closes a cycle"),
        ("", ("--topology", "blob"), '"blob" is no shape of a network'),
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


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        (
            "net.json",
            '{"links": [\n[1, 2, -1]]}',
            "link 1, line 2, column 1: the weight of link 1-2 is -1, and must be",
        ),
        (
            "net.json",
            '{"links": [[1, 2],\n[2, 3],\n[1, 3]]}',
            "link 3, line 3, column 1: the link between 1 and 3 closes a cycle",
        ),
        (
            "net.txt",
            "broker 1 2\nlink 1 2 -1",
            "line 2, column 10: the weight of link 1-2 is -1, and must be positive",
        ),
        ("net.txt", "broker 1 2\nlink 1 3", "line 2, column 8: there is no broker 3"),
        (
            "net.txt",
            "broker 1 2 3\nlink 1 2\nlink 2 3\nlink 1 3\n",
            "line 4, column 1: link 1-3 closes a cycle",
        ),
        ("net.txt", "bridge 1 2", 'column 1: "bridge" is no statement'),
        ("net.txt", "broker 0 1\nlink 0 1", "brokers of a simulated network are"),
        ("net.ts", "ts 1 1\n3 0", "line 2, column 1: 3 words are wanted"),
    ],
)
def test_a_bad_topology_is_refused_with_file_line_and_reason(
    run: Run, name: str, text: str, reason: str
) -> None:
    Path(name).write_text(text)
    code, out, err = play(run, "", "--topology", name)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert reason in err
    assert err.startswith("siena: error: ")
    if "line" in reason:
        assert err.startswith(f"siena: error: {name}, {reason}")


@pytest.mark.parametrize(
    ("text", "brokers"),
    [
        ("broker 1 2 3\nlink 1 2\nlink 2 3 7", 3),
        ('{"links": [[1, 2], [2, 3]]}', 3),
        ("ts 1 47\n1 0 0\n1 20 3 1.0\n2 20 3 1.0\n2 10 3 1.0\n", 6),
    ],
)
def test_a_network_comes_from_a_file_of_any_form(
    run: Run, text: str, brokers: int
) -> None:
    Path("net").write_text(text)
    script = f'{{"op": "crash", "at": {brokers}}}'
    assert play(run, script, "--topology", "net")[0] == 0
    script = f'{{"op": "crash", "at": {brokers + 1}}}'
    assert play(run, script, "--topology", "net")[0] == 2


def test_a_file_that_is_not_there_is_missed(run: Run) -> None:
    code, _, err = play(run, "", "--topology", "nets/net.json")
    assert (code, err) == (2, "siena: error: there is no file 'nets/net.json'\n")


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


def test_a_centralised_network_goes_the_shortest_way(run: Run) -> None:
    """From broker 3 to broker 1 it is 7 over the link; the cheapest tree has 4 + 4."""
    Path("net.json").write_text('{"links": [[1, 2, 4], [2, 3, 4], [1, 3, 7]]}')
    Path("scenario.txt").write_text(
        "servers = centralized;\nparties "
        '{ pattern = "A"; number = 40; notif/sub = 1; cycles = 1; };'
    )
    arguments = ("run", "scenario.txt", "--topology", "net.json", "--json")
    code, out, _ = run(*arguments)
    assert code == 0
    subscriptions = json.loads(out)["messages"]["subscribe"]
    to_2 = (subscriptions["cost"] - 7 * subscriptions["count"]) / (4 - 7)
    assert to_2 == int(to_2) > 0
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


FAULTS = "faults { lost = 2; duplicated = 2; time = 0~50; };"


def test_a_scenario_may_have_faults(run: Run) -> None:
    Path("scenario.txt").write_text(SCENARIO + FAULTS)
    code, out, err = run("run", "scenario.txt", "--topology", "chain:3", "--json")
    assert (code, err) == (0, "")
    assert "peerconnect" in json.loads(out)["messages"]


@pytest.mark.parametrize(
    ("scenario", "arguments", "reason"),
    [
        (SCENARIO + FAULTS, ("--oracle",), "an oracle for networks without faults"),
        (f"servers = centralized; {FAULTS}", (), "there are faults, and no links"),
        (SCENARIO + FAULTS, ("--topology", "chain:1"), "there are faults, and no li"),
        ("servers = general;", ("--oracle",), "there is an oracle for trees only"),
        (SCENARIO, ("--topology", "chain:x"), '"chain:x" is no shape'),
    ],
)
def test_what_does_not_go_together_is_refused(
    run: Run, scenario: str, arguments: tuple[str, ...], reason: str
) -> None:
    Path("scenario.txt").write_text(scenario)
    code, out, err = run("run", "scenario.txt", *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert reason in err


def test_a_bad_scenario_is_refused_with_its_place(run: Run) -> None:
    Path("scenario.txt").write_text("servers = acyclic;\nthings { };")
    code, _, err = run("run", "scenario.txt")
    assert code == 2
    assert err == (
        "siena: error: scenario.txt, line 2, column 1: 'things' is not a section "
        "(objects, parties, faults)\n"
    )


@pytest.mark.usefixtures("fonts")
def test_a_network_is_drawn_with_its_tables(run: Run) -> None:
    Path("script.ndjson").write_text(SCRIPT)
    arguments = (
        *("--topology", "ring:4", "--architecture", "general"),
        *("--script", "script.ndjson"),
    )
    assert run("draw", "net.svg", *arguments) == (0, "", "")
    root = ET.parse("net.svg").getroot()  # noqa: S314 -- our own picture
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert texts.count("x > 5 : b") == 1
    assert [t for t in texts if t and t.isdigit()] == ["1", "2", "3", "4"]
    first = Path("net.svg").read_bytes()
    assert run("draw", "net.svg", *arguments)[0] == 0
    assert Path("net.svg").read_bytes() == first


@pytest.mark.usefixtures("fonts")
def test_a_network_is_drawn_as_png(run: Run) -> None:
    assert run("draw", "net.PNG", "--topology", "star:3") == (0, "", "")
    assert Path("net.PNG").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("net.bmp", "'net.bmp' is not a picture (end it in .png, .svg, .pdf)"),
        ("none/net.png", "there is no folder 'none' (make it)"),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_refused(
    run: Run, name: str, reason: str
) -> None:
    code, _, err = run("draw", name, "--topology", "ring:4")
    assert (code, err) == (2, f"siena: error: {reason}\n")
