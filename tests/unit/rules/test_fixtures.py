"""Rules tried on events, and asked why."""

from pathlib import Path
from typing import cast

import pytest

from siena.errors import SienaError
from siena.lang.json_text import Json
from siena.rules import ReadRule, RuleEntry, SetAside, read_rules
from siena.rules.events import Event, event_of, nested_event, read_event
from siena.rules.firing import almost, fired
from siena.rules.fixtures import Fixture, load_fixtures, try_fixture


def rules(**texts: str) -> list[ReadRule]:
    entries = [RuleEntry(rule_id, text) for rule_id, text in texts.items()]
    return [r for r in read_rules(entries) if isinstance(r, ReadRule)]


RULES = rules(high="level > 3", failed="what = failed and level > 1", none="z any")


@pytest.mark.parametrize(
    ("line", "missing", "unwanted", "unknown"),
    [
        ('{"event": {"level": 5}, "fires": ["high"]}', [], [], []),
        ('{"event": {"level": 2}, "fires": ["high"]}', ["high"], [], []),
        ('{"event": {"level": 5}, "silent": "high"}', [], ["high"], []),
        ('{"event": {"level": 5}, "exactly": []}', [], ["high"], []),
        ('{"event": {"level": 5}, "fires": ["gone"]}', [], [], ["gone"]),
    ],
)
def test_a_fixture_says_what_rules_do(
    tmp_path: Path,
    line: str,
    missing: list[str],
    unwanted: list[str],
    unknown: list[str],
) -> None:
    path = tmp_path / "events.ndjson"
    path.write_text(line + "\n", encoding="utf-8")
    (fixture,) = load_fixtures(path)
    assert isinstance(fixture, Fixture)
    outcome = try_fixture(fixture, RULES)
    assert [*outcome.missing] == missing
    assert [*outcome.unwanted] == unwanted
    assert [*outcome.unknown] == unknown
    assert outcome.is_right is not bool(missing or unwanted or unknown)


@pytest.mark.parametrize(
    "line",
    ['{"event": {}}', '{"fires": []}', '{"event": {}, "fire": ["a"]}', "[1]", "{"],
)
def test_a_line_that_is_no_fixture_is_put_aside(tmp_path: Path, line: str) -> None:
    path = tmp_path / "events.ndjson"
    path.write_text(line, encoding="utf-8")
    (aside,) = load_fixtures(path)
    assert isinstance(aside, SetAside)
    assert aside.place == "events.ndjson, line 1"


def test_a_folder_as_sigmahq_has_it_names_the_rules_beside_the_events(
    tmp_path: Path,
) -> None:
    (tmp_path / "one").mkdir()
    info = "rule_metadata:\n    - id: high\n      title: T\n"
    (tmp_path / "one" / "info.yml").write_text(info, encoding="utf-8")
    recording = '{"level": 1}\n{\n "level": 7}\n'
    (tmp_path / "one" / "a.json").write_text(recording, encoding="utf-8")
    (fixture,) = load_fixtures(tmp_path)
    assert isinstance(fixture, Fixture)
    assert fixture.fires == {"high"}
    assert try_fixture(fixture, RULES).is_right


def test_events_are_attributes_by_path_and_by_the_names_that_rules_use() -> None:
    assert event_of({"a": {"b": 1, "c": [1, "x"]}}) == {"a.b": 1, "a.c": (1, "x")}
    windows: Json = {
        "Event": {"EventData": {"Image": "a.exe"}, "System": {"EventID": 1}}
    }
    assert event_of(windows) == {"EventID": 1, "Image": "a.exe"}
    assert read_event("x = 1", {"x": "y"}) == {"y": 1}
    with pytest.raises(SienaError, match="JSON object"):
        event_of([1])


def test_by_path_no_object_is_told_from_others_by_its_name() -> None:
    form: Json = {"Event": {"kind": "party", "where": {"city": "Bern"}}, "id": 7}
    by_path = {"Event.kind": "party", "Event.where.city": "Bern", "id": 7}
    assert nested_event(form, "path") == by_path
    assert nested_event(form, "windows") == {}
    with pytest.raises(SienaError, match="JSON object"):
        nested_event([1], "path")


@pytest.mark.parametrize("number", [12345678901234567890, 10**20, -(2**63) - 1])
def test_a_number_beyond_64_bits_is_refused_and_no_time(number: int) -> None:
    for form in ({"user": {"id": number}}, {"user": {"ids": [1, number]}}):
        with pytest.raises(SienaError, match=f"{number} does not fit in 64 bits"):
            nested_event(cast("Json", form), "path")


def test_who_fires_says_by_which_constraints_and_who_almost_did_what_lacks() -> None:
    event: Event = {"what": "failed", "level": 1}
    assert list(fired(RULES, event)) == []
    (near,) = almost(RULES, event, 5)
    assert near.rule.id == "failed"
    assert dict(zip(map(str, near.filter), near.held, strict=True)) == {
        "level > 1": False,
        "what = failed": True,
    }
    (first, second) = fired(RULES, {"what": "failed", "level": 9})
    assert {first.rule.id, second.rule.id} == {"high", "failed"}
    assert first.fires
    assert second.missing == 0


def test_a_residual_that_does_not_hold_is_what_lacks() -> None:
    (read,) = read_rules([RuleEntry("r", "a < b", "sql")])
    assert isinstance(read, ReadRule)
    (near,) = almost([read], {"a": 2, "b": 1}, 1)
    assert near.residual is False
    assert near.missing == 1


def test_of_several_values_one_suffices() -> None:
    (first,) = fired(rules(tag="tag = b"), event_of({"tag": ["a", "b"]}))
    assert first.fires
