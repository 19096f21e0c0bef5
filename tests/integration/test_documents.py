"""What the documents show is what happens: their commands and tables are run here.

Their Python is run as doctests.  A block that is run by nothing says why in a comment
above it.
"""

import re
import shutil
import socket
import subprocess
import sys
import tomllib
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

import pytest

from repository import ROOT
from siena import parse_notification, parse_predicate

DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"
PAGES = [
    ROOT / "README.md",
    DOCS / "tutorial.md",
    *sorted((DOCS / "guides").glob("*.md")),
    *sorted((DOCS / "reference").glob("*.md")),
]
# Below those that the system gives to tests which run at the same time.
FREE_PORTS = range(20_000, 32_000)
# Others may listen at the ports that the documents name.
PORT = re.compile(r"\b(26\d\d)\b")
BLOCK = re.compile(
    r"(?P<above>^<!--[^\n]*-->\n)?^```(?P<kind>\w+)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
# Fences come in pairs: what has a language is passed over whole.
BARE = re.compile(
    r"^```\w+\n.*?^```$|^```\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)

SECONDS = re.compile(r" \(\d+\.\d s\)$", re.MULTILINE)


class Shown(NamedTuple):
    """A command, and what it prints."""

    page: Path
    command: str
    output: str


def blocks(page: Path) -> list[re.Match[str]]:
    return list(BLOCK.finditer(page.read_text(encoding="utf-8")))


COMMANDS = [
    Shown(page, *shown.split("\n", 1))
    for page in PAGES
    for block in blocks(page)
    if block["kind"] == "console" and block["above"] is None
    for shown in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)
    if shown
]
TERMINALS = [
    (page, block["text"])
    for page in PAGES
    for block in blocks(page)
    if block["kind"] == "sh" and block["text"].startswith("siena serve")
    if block["above"] is None
]
FILTERS = (DOCS / "guides" / "filters.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `(.+?)` \| (yes|no) \|", FILTERS, re.MULTILINE)


def test_the_documents_show_commands_terminals_and_a_table() -> None:
    assert len(COMMANDS) >= 10
    assert len(TERMINALS) == 7
    assert len(ROWS) >= 15


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_block_of_commands_says_what_it_is(page: Path) -> None:
    """Without a language it would neither be run nor have to say why."""
    text = page.read_text(encoding="utf-8")
    for block in BARE.finditer(text):
        first = (block["text"] or "").lstrip().removeprefix("$ ")
        assert not first.startswith(("siena ", "pip ", "make ")), block[0]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_what_is_not_run_says_why(page: Path) -> None:
    for block in blocks(page):
        is_run = block["kind"] in {"console", "pycon"} or (
            (page, block["text"]) in TERMINALS
        )
        shows_code = block["kind"] in {"sh", "python", "js"}
        if shows_code and not is_run and block["text"] != "pip install .\n":
            assert block["above"], f"{page.name}: say why it is not run:\n{block[0]}"
        for named in re.findall(r"tests/[\w/.]+\b", block["above"] or ""):
            assert (ROOT / named).exists(), f"{page.name}: there is no {named}"


def test_nothing_is_to_be_installed_from_where_it_is_not() -> None:
    """Found in examples: no index has the package, and another may take its name."""
    shown = [*DOCS.rglob("*.md"), *EXAMPLES.rglob("*.*"), *ROOT.glob("*.md")]
    for page in shown:
        is_text = page.is_file() and page.suffix != ".pyc"
        text = page.read_text(encoding="utf-8") if is_text else ""
        assert not re.search(r"pip install [^\n]*siena-pubsub", text), page


SETTINGS = [
    (page, block["text"])
    for page in PAGES
    for block in blocks(page)
    if block["kind"] == "toml"
]


@pytest.mark.parametrize(
    ("page", "text"), SETTINGS, ids=lambda part: getattr(part, "stem", "")
)
def test_settings_that_are_shown_can_be_read(page: Path, text: str) -> None:
    assert tomllib.loads(text), page.name


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Path]:
    """One for all commands of a page: some write a file that the next one reads."""
    return {page: tmp_path_factory.mktemp(page.stem) for page in PAGES}


@pytest.mark.parametrize(
    "shown", COMMANDS, ids=lambda shown: f"{shown.page.stem}: {shown.command[:50]}"
)
def test_a_command_prints_what_is_shown(
    shown: Shown, folders: dict[Path, Path]
) -> None:
    commands = Path(sys.executable).parent
    done = subprocess.run(
        ["/bin/sh", "-c", shown.command],
        cwd=folders[shown.page],
        env={"PATH": f"{commands}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=False,
        text=True,
    )
    # How long something took is another time each time.
    assert SECONDS.sub("", done.stdout) == SECONDS.sub("", shown.output)
    assert done.stderr == ""


@pytest.fixture
def ports() -> dict[str, str]:
    """A free port for each that the documents and their network name."""
    numbers = map(str, filter(is_free, FREE_PORTS))
    return {
        port: next(numbers) for port in ["2606", "2680", *map(str, range(2611, 2616))]
    }


def is_free(port: int) -> bool:
    with socket.socket() as taken:
        try:
            taken.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@pytest.mark.parametrize(
    ("page", "block"),
    TERMINALS,
    ids=lambda part: part.stem if isinstance(part, Path) else part.split("\n")[0][6:],
)
def test_what_is_published_in_one_terminal_comes_in_another(
    page: Path, block: str, ports: dict[str, str], tmp_path: Path
) -> None:
    """The lines of a block are typed in three terminals, as they are."""
    assert page in PAGES
    network = (EXAMPLES / "five-brokers.toml").read_text(encoding="utf-8")
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "five-brokers.toml").write_text(moved(network, ports))
    serve, subscribe, publish = moved(block, ports).splitlines()
    if "curl" in block and shutil.which("curl") is None:
        pytest.skip("there is no curl")
    environment = {
        "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin",
        "LC_ALL": "C.UTF-8",
        "HOME": str(tmp_path),
        "SIENA_LISTEN": f"127.0.0.1:{ports['2606']}",
        "SIENA_URL": f"siena://127.0.0.1:{ports['2606']}",
    }
    with ExitStack() as stack:

        def terminal(line: str) -> "subprocess.Popen[str]":
            started = subprocess.Popen(
                ["/bin/sh", "-c", f"exec {line}"],
                cwd=tmp_path,
                env=environment,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                start_new_session=True,
            )
            stack.callback(end, started)
            return started

        wait_for(terminal(serve), "five is ready" if "network" in block else "is ready")
        subscriber = terminal(subscribe)
        wait_for(subscriber, "settled" if "curl" in block else "subscribed")
        assert terminal(publish).wait(20) == 0
        wait_for(subscriber, "DIS" if "DIS" in publish else "order = 4711")


def moved(text: str, ports: dict[str, str]) -> str:
    """The same at other ports, and without remarks."""
    text = re.sub(r"  +# \d: .*", "", text)
    return PORT.sub(lambda found: ports[found[1]], text)


def wait_for(terminal: "subprocess.Popen[str]", wanted: str) -> None:
    assert terminal.stdout is not None
    shown = []
    for line in terminal.stdout:
        shown.append(line)
        if wanted in line:
            return
    pytest.fail("".join(shown))


def end(terminal: "subprocess.Popen[str]") -> None:
    terminal.terminate()
    terminal.communicate(timeout=20)


@pytest.mark.parametrize(("text", "answer"), ROWS)
def test_a_filter_matches_as_the_table_says(text: str, answer: str) -> None:
    quote = re.search(r"^`(class = .+)`$", FILTERS, re.MULTILINE)
    assert quote is not None
    notification = parse_notification(quote[1])
    assert parse_predicate(text).matches(notification) == (answer == "yes")


def test_the_readme_comes_to_the_first_delivery_within_a_screen() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith("siena pub"))
    assert first <= 40
    assert len(lines) <= 180
