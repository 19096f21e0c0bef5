"""What the README shows is what happens: its commands and its table are run here.

Its Python is run as a doctest, like all documentation.
"""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from siena import parse_notification, parse_predicate

README = (Path(__file__).parents[1] / "README.md").read_text()
CONSOLE = re.findall(r"^```console\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
COMMANDS = [
    re.fullmatch(r"(.*?)\n(.*)", shown, re.DOTALL)
    for block in CONSOLE
    for shown in re.split(r"^\$ ", block, flags=re.MULTILINE)
    if shown
]
ROWS = re.findall(r"^\| `(.+?)` \| (yes|no) \|", README, re.MULTILINE)


def test_the_readme_shows_commands_and_a_table() -> None:
    assert len(COMMANDS) >= 5
    assert len(ROWS) >= 15


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all commands: some write a file that the next one reads."""
    return tmp_path_factory.mktemp("readme")


@pytest.mark.parametrize("shown", COMMANDS, ids=lambda m: m[1][:60])
def test_a_command_prints_what_the_readme_shows(
    shown: re.Match[str], folder: Path
) -> None:
    commands = Path(sys.executable).parent
    done = subprocess.run(
        ["/bin/sh", "-c", shown[1]],
        cwd=folder,
        env={"PATH": f"{commands}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.stdout == shown[2]
    assert done.stderr == ""


@pytest.mark.parametrize(("text", "answer"), ROWS)
def test_a_filter_matches_as_the_table_says(text: str, answer: str) -> None:
    quote = re.search(r"^`(class = .+)`$", README, re.MULTILINE)
    assert quote is not None
    notification = parse_notification(quote[1])
    assert parse_predicate(text).matches(notification) == (answer == "yes")
