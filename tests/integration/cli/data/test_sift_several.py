"""``siena sift``, and ``siena match`` on files: nested events, several values."""

import json
from pathlib import Path

import pytest

from command import siena

WHO = {
    "ann": "a.b = 1 and tags = x",
    "bob": "tags = x and tags = y",
    "cy": "tags = x and ports = 80",
    "dan": "Image >* a and not EventID = 4",
    "eve": "Event.System.EventID = 1",
}
EVENTS = [
    {"a": {"b": 1}, "tags": ["x", "y"], "ports": [80, 81]},
    {"a": {"b": 1}, "tags": "x"},
    {"Event": {"System": {"EventID": 1}, "EventData": {"Image": "a.exe"}}},
    {"tags": [*map(str, range(70)), "x", "y"], "ports": [*range(90)]},
]
MANY = ("--many", "tags", "--many", "ports")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [{"subscriber": who, "filter": text} for who, text in WHO.items()]
    (tmp_path / "who.ndjson").write_text("\n".join(map(json.dumps, rows)))
    lines = [*map(json.dumps, EVENTS), "[1]", "tags = x, a.b = 1"]
    (tmp_path / "events.ndjson").write_text("\n".join(lines))
    return tmp_path


def sifted(folder: Path, *words: str) -> tuple[dict[int, list[str]], str]:
    done = siena(
        "sift", "events.ndjson", "-s", "who.ndjson", "--json", *words, cwd=folder
    )
    answers = map(json.loads, done.stdout.splitlines())
    return {a["line"]: a["subscribers"] for a in answers}, done.stderr


def test_nested_events_are_sifted(folder: Path) -> None:
    found, said = sifted(folder, "--nested", *MANY)
    assert found == {
        1: ["ann", "bob", "cy"],
        2: ["ann"],
        3: ["eve"],  # by path, whatever the first object is called
        4: ["bob", "cy"],
        6: ["ann"],
    }
    assert "line 5: an event is a JSON object" in said
    # Of what is not declared, one value has to satisfy all that a filter says of it.
    found, said = sifted(folder, "--nested")
    assert (found[1], found[3]) == (["ann", "cy"], ["eve"])
    assert "line 4: more than 4096 choices" in said


def test_strict_answers_what_came_before_an_event_that_is_bad(folder: Path) -> None:
    choices = {"tags": [*range(70)], "ports": [*range(90)]}
    lines = [json.dumps(event) for event in (EVENTS[1], choices, EVENTS[1])]
    (folder / "events.ndjson").write_text("\n".join(lines))
    done = siena(
        *("sift", "events.ndjson", "-s", "who.ndjson", "--nested", "--strict"),
        cwd=folder,
    )
    assert (done.returncode, done.stdout) == (2, "1: ann\n")
    assert "line 2: more than 4096 choices" in done.stderr


def test_events_of_windows_may_be_the_only_ones(folder: Path) -> None:
    found, said = sifted(folder, "--nested", "windows")
    assert found == {3: ["dan"], 6: ["ann"]}
    assert "a Windows event is an object" in said
    done = siena(
        "sift", "events.ndjson", "-s", "who.ndjson", "--nested=deep", cwd=folder
    )
    assert "not how events are nested" in done.stderr


def test_other_matchers_know_single_values(folder: Path) -> None:
    done = siena(
        *("sift", "events.ndjson", "-s", "who.ndjson", "--nested"),
        *("--matcher", "tree"),
        cwd=folder,
    )
    assert done.returncode == 2
    assert "--matcher engine" in done.stderr


def test_match_does_it_without_spark(folder: Path) -> None:
    done = siena(
        *("match", "who.ndjson", "events.ndjson", "--nested", *MANY, "--set-aside"),
        *("--output", "out"),
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    assert "4 deliveries" not in done.stdout
    assert "7 deliveries" in done.stdout
    plain = siena(
        *("match", "who.ndjson", "events.ndjson", *MANY, "--set-aside", "--json"),
        cwd=folder,
    )
    assert json.loads(plain.stdout)["answers"] == 2  # bob and cy, of the fourth
