"""What the README shows is what happens: its commands and its table are run here.

Its Python is run as a doctest, like all documentation.
"""

import re
import shutil
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from repository import ROOT
from siena import parse_notification, parse_predicate

README = (ROOT / "README.md").read_text()
EXAMPLES = ROOT / "examples"
# Below those that the system gives to tests which run at the same time.
FREE_PORTS = range(20_000, 32_000)
CONSOLE = re.findall(r"^```console\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
COMMANDS = [
    re.fullmatch(r"(.*?)\n(.*)", shown, re.DOTALL)
    for block in CONSOLE
    for shown in re.split(r"^\$ ", block, flags=re.MULTILINE)
    if shown
]
TERMINALS = [
    block
    for block in re.findall(r"^```sh\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    if "siena serve" in block
]
# Others may listen at the ports that the README names.
PORT = re.compile(r"\b(26\d\d)\b")
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


@pytest.fixture
def ports() -> dict[str, str]:
    """A free port for each that the README and its network name."""
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


def test_the_readme_shows_terminals() -> None:
    assert len(TERMINALS) == 3


@pytest.mark.parametrize("block", TERMINALS, ids=["one", "HTTP", "network"])
def test_what_is_published_in_one_terminal_comes_in_another(
    block: str, ports: dict[str, str], tmp_path: Path
) -> None:
    """The lines of a block are typed in three terminals, as they are."""
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
        wait_for(subscriber, "DIS")


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
    quote = re.search(r"^`(class = .+)`$", README, re.MULTILINE)
    assert quote is not None
    notification = parse_notification(quote[1])
    assert parse_predicate(text).matches(notification) == (answer == "yes")
