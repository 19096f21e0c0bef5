"""``siena rules``: what it prints, its codes, and its report."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from command import siena


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "rules.csv"
    path.write_text(
        "id,dialect,text,severity\n"
        "wide,siena,x > 3,high\n"
        "narrow,sql,x > 5 AND y = 1,low\n"
        "other,siena,z = 1,low\n",
        encoding="utf-8",
    )
    return path


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return siena("rules", *arguments)


def test_a_review_shows_the_proof_writes_a_report_and_ends_with_one(
    table: Path, tmp_path: Path
) -> None:
    done = run("review", table, "--html", tmp_path / "review.html")
    assert done.returncode == 1
    assert done.stdout.splitlines()[:6] == [
        "shadowed (1)",
        "  narrow",
        "    is covered by wide",
        "    ✓ x > 5 and y = 1",
        "      by wide",
        "      x > 3  implied by x > 5",
    ]
    assert "<svg" in (tmp_path / "review.html").read_text(encoding="utf-8")


def test_a_review_for_programs_and_one_whose_findings_do_not_matter(
    table: Path,
) -> None:
    done = run("review", table, "--json", "--ignore", "shadowed")
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert answer["counts"]["shadowed"] == 1
    assert answer["covering_pairs"] == [["wide", "narrow"]]


def test_the_same_rules_give_the_same_report_byte_for_byte(
    table: Path, tmp_path: Path
) -> None:
    """Whatever the order of sets in a process, and however long it took."""
    said = []
    for seed in "12":
        page = tmp_path / "review.html"
        done = subprocess.run(
            [
                *(sys.executable, "-m", "siena", "rules", "review", str(table)),
                *("--json", "--html", str(page)),
            ],
            capture_output=True,
            check=False,
            timeout=60,
            env={**os.environ, "PYTHONHASHSEED": seed},
        )
        said.append((done.stdout, page.read_bytes()))
    assert said[0] == said[1]


def test_a_diff_shows_events_that_only_one_version_matches(
    table: Path, tmp_path: Path
) -> None:
    after = tmp_path / "after.csv"
    text = table.read_text(encoding="utf-8").replace("x > 3", "x > 2")
    after.write_text(text.replace("other", "newer"), encoding="utf-8")
    done = run("diff", table, after)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "wide: wider",
        "  + x = 3",
        "newer: added",
        "  + z = 1",
        "other: removed",
        "  - z = 1",
        "1 added, 1 removed, 1 equal, 1 wider",
    ]
    assert run("diff", table, table).returncode == 0


def test_rules_are_tried_on_fixtures(table: Path, tmp_path: Path) -> None:
    events = tmp_path / "events.ndjson"
    events.write_text(
        '{"event": {"x": 4}, "exactly": ["wide"]}\n'
        '{"event": {"x": 4}, "fires": ["narrow"]}\n',
        encoding="utf-8",
    )
    done = run("test", table, events)
    assert done.returncode == 1
    assert done.stdout.splitlines() == [
        "events.ndjson, line 2",
        "  ✗ narrow should have fired",
        "2 events, 3 rules: 1 right, 1 wrong",
    ]


def test_why_shows_what_holds_and_what_lacks(table: Path) -> None:
    done = run("why", table, "x = 7", "--near", "1")
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "1 of 3 rules fire",
        "  wide",
        "    ✓ x > 3    x = 7",
        "almost:",
        "  narrow",
        "    ✓ x > 5    x = 7",
        "    ✗ y = 1    no y",
    ]
    assert run("why", table, '{"x": 1}').returncode == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["review", "nowhere.csv"], "nowhere.csv: No such file"),
        (["review", "{table}", "--overlaps", "gone"], 'no rule "gone"'),
        (["review", "{table}", "--ignore", "gone"], "findings are"),
        (["review", "{table}", "--rename", "gone"], "no FIELD=ATTRIBUTE"),
        (["why", "{table}", "x >"], "column"),
    ],
)
def test_bad_input_is_one_line_and_code_two(
    table: Path, arguments: list[str], message: str
) -> None:
    done = run(*(argument.format(table=table) for argument in arguments))
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


SIGMA = """
title: A shell
name: shell
logsource: {category: process_creation, product: windows}
detection:
    selection: {Image|endswith: sh.exe, User: [ann, bob]}
    condition: selection
"""
PIPELINE = """
name: ours
priority: 10
transformations:
    - id: names
      type: field_name_mapping
      mapping: {Image: process.path}
"""


@pytest.fixture
def sigma(tmp_path: Path) -> Path:
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "shell.yml").write_text(SIGMA, encoding="utf-8")
    (tmp_path / "names.yml").write_text(PIPELINE, encoding="utf-8")
    return tmp_path


def test_a_pipeline_and_names_of_fields_are_options_of_all(sigma: Path) -> None:
    options = [
        *("--logsource", "none", "--rename", "User=user.name"),
        *("--pipeline", str(sigma / "names.yml")),
    ]
    event = '{"process": {"path": "c:/sh.exe"}, "user": {"name": "ann"}}'
    done = run("why", sigma / "rules", event, *options)
    assert done.returncode == 0, done.stderr
    assert "process.path *<" in done.stdout
    assert "user.name" in done.stdout
    done = run("review", sigma / "rules", *options, "--json")
    assert (done.returncode, json.loads(done.stdout)["rules"]) == (0, 1)
    rule = sigma / "rules" / "shell.yml"
    done = siena("translate", "--from", "sigma", rule, *options)
    assert "process.path *<" in done.stdout
    assert run("diff", sigma / "rules", sigma / "rules", *options).returncode == 0
    bad = sigma / "bad.yml"
    bad.write_text("transformations: 7")
    done = run("why", sigma / "rules", event, "--pipeline", bad)
    assert done.returncode == 2
    assert "this is not a pipeline" in done.stderr
