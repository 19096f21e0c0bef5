"""Rule sets from files, folders and rows."""

from pathlib import Path

import pytest

from siena.errors import InvalidFormError, SienaError
from siena.rules import RuleEntry, RuleSet, SetAside, load_rules, read_rules
from siena.rules.rows import entries_of, entry_of

SIGMA = """title: Sees A
id: 11111111-2222-3333-4444-555555555555
status: test
level: high   # of course
date: 2024-01-02
logsource:
    category: process_creation
    product: windows
detection:
    selection:
        Image|endswith: '\\\\a.exe'
    condition: selection
"""


def test_a_table_in_csv_has_rules_with_all_columns(tmp_path: Path) -> None:
    (tmp_path / "rules.csv").write_text(
        "id,dialect,text,severity,enabled,version\n"
        'a,sql,"x IN (1, 2)",high,yes,3\n'
        "b,,x = 1,,no,\n",
        encoding="utf-8",
    )
    rules = load_rules(tmp_path / "rules.csv")
    place = str(tmp_path / "rules.csv")
    assert list(rules) == [
        RuleEntry(
            "a", "x IN (1, 2)", "sql", "high", version="3", place=f"{place}, line 2"
        ),
        RuleEntry("b", "x = 1", enabled=False, place=f"{place}, line 3"),
    ]
    assert [entry.id for entry in rules.enabled] == ["a"]


def test_lines_that_are_no_rules_are_put_aside_and_the_others_stay(
    tmp_path: Path,
) -> None:
    path = tmp_path / "rules.ndjson"
    path.write_text(
        '{"id": "a", "text": "x = 1"}\n\n{"id": "b"}\n[1]\n{"id": "c", "text": "y\n'
        '{"id": "a", "text": "x = 2"}\n',
        encoding="utf-8",
    )
    rules = load_rules(path)
    assert [entry.id for entry in rules] == ["a"]
    assert [aside.place.rpartition(" ")[2] for aside in rules.set_aside] == [
        "3",
        "4",
        "5",
        "6",
    ]


def test_a_folder_of_sigma_rules_is_read_and_other_yaml_is_passed_over(
    tmp_path: Path,
) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "one.yml").write_text(SIGMA, encoding="utf-8")
    (tmp_path / "info.yml").write_text("events: 1\n", encoding="utf-8")
    (tmp_path / "readme.md").write_text("detection: no\n", encoding="utf-8")
    (entry,) = load_rules(tmp_path)
    assert entry.id == "11111111-2222-3333-4444-555555555555"
    assert (entry.severity, entry.version, entry.title) == (
        "high",
        "2024-01-02",
        "Sees A",
    )
    assert entry.place == "deep/one.yml"
    (read,) = read_rules([entry])
    assert not isinstance(read, SetAside)
    assert read.rule.matches(
        {
            "Image": "C:\\A.EXE",
            "logsource.category": "process_creation",
            "logsource.product": "windows",
        }
    )


def test_files_without_a_form_of_their_own_are_rules_of_the_dialect_that_is_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "on.json").write_text('{"state": ["on"]}', encoding="utf-8")
    (entry,) = load_rules(tmp_path, dialect="eventbridge")
    assert (entry.id, entry.dialect) == ("on", "eventbridge")


def test_a_file_that_is_no_text_does_not_hide_its_neighbours(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "good.csv").write_text("id,text\na,x = 1\n", encoding="utf-8")
    rules = load_rules(tmp_path)
    assert [entry.id for entry in rules] == ["a"]
    assert rules.set_aside[0].place == "bad.csv"


def test_a_folder_without_rules_is_an_error_that_says_what_rules_are(
    tmp_path: Path,
) -> None:
    with pytest.raises(SienaError, match=r"no rules in it.*yml"):
        load_rules(tmp_path)


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"text": "x = 1"}, "has an id"),
        ({"id": "a"}, 'needs a "text"'),
        ({"id": "a", "text": "x = 1", "enabled": "perhaps"}, "neither true nor false"),
        ({"id": ["a"], "text": "x = 1"}, '"id" of a rule is a text'),
    ],
)
def test_a_row_that_is_no_rule_says_why(row: dict[str, object], reason: str) -> None:
    with pytest.raises(InvalidFormError, match=reason):
        entry_of(row)
    (aside,) = entries_of([row])
    assert isinstance(aside, SetAside)
    assert aside.place == "row 1"


def test_a_rule_that_cannot_be_read_is_put_aside_with_its_id() -> None:
    entries = [RuleEntry("a", "x >", "siena"), RuleEntry("b", "x > 3")]
    aside, read = read_rules(entries)
    assert isinstance(aside, SetAside)
    assert aside.id == "a"
    assert not isinstance(read, SetAside)
    assert read.id == "b"


def test_of_two_rules_with_one_id_the_first_counts() -> None:
    rules = RuleSet([RuleEntry("a", "x = 1", place="p"), RuleEntry("a", "x = 2")])
    assert rules["a"].text == "x = 1"
    assert "already, p" in rules.set_aside[0].reason
