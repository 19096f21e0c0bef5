"""``siena translate``: what it prints, what it writes back, and how it refuses."""

import json
import subprocess
import sys
from pathlib import Path

from command import siena

SQL = "price * 2 > 7 AND symbol LIKE 'D%'"


def translate(*arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return siena("translate", *arguments, stdin=stdin)


def test_an_exact_rule_is_shown_as_filters() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "siena", "translate", "--from", "sql", SQL],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0
    assert done.stdout.splitlines() == [
        "1 filter, exact",
        "  price > 3.5 and symbol >* D",
    ]


def test_a_residual_is_shown_with_what_covers_it() -> None:
    done = translate("--from", "sql", "bid < ask")
    assert done.stdout.splitlines() == [
        "1 filter and a residual",
        "  ask any and bid any",
        "if  bid < ask",
    ]


def test_json_has_everything() -> None:
    answer = json.loads(translate("--from", "sql", "bid < ask", "--json").stdout)
    assert answer["exact"] is False
    assert answer["filters"] == 1
    assert answer["residual"] == {"<": [{"attribute": "bid"}, {"attribute": "ask"}]}


def test_a_rule_comes_from_a_file_or_from_stdin(tmp_path: Path) -> None:
    path = tmp_path / "rule.sql"
    path.write_text(SQL, encoding="utf-8")
    from_file = translate("--from", "sql", str(path))
    from_stdin = translate("--from", "sql", "-", stdin=SQL)
    assert (
        from_file.stdout == from_stdin.stdout == translate("--from", "sql", SQL).stdout
    )


def test_a_rule_is_written_in_another_language() -> None:
    pattern = '{"detail": {"state": ["on"]}}'
    done = translate("--from", "eventbridge", pattern, "--to", "sql")
    assert done.stdout == "\"detail.state\" = 'on'\n"


def test_what_another_language_cannot_say_is_refused() -> None:
    done = translate("--from", "sql", "bid < ask", "--to", "eventbridge")
    assert done.returncode == 2
    assert "residual" in done.stderr


def test_an_error_shows_the_place_with_a_caret() -> None:
    done = translate("--from", "sql", "price = = 3")
    assert done.returncode == 2
    pointed, caret, message = done.stderr.splitlines()
    assert pointed == "price = = 3"
    assert caret == "        ^"
    assert message.startswith("siena: error: column 9: expected a value")


def test_an_unknown_dialect_is_told_the_known_ones() -> None:
    done = translate("--from", "prolog", "a")
    assert done.returncode == 2
    assert "cesql" in done.stderr


def test_an_error_is_json_where_json_is_wanted() -> None:
    done = translate("--from", "sql", "a =", "--json")
    assert done.returncode == 2
    assert "expected a value" in json.loads(done.stdout)["error"]
