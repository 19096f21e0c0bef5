"""The JavaScript client: the same cases in Node and in a browser; its weight."""

import gzip
import json
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from shutil import which
from typing import Any

import httpx
import pytest

from repository import ROOT
from served import process, ready
from siena.broker.access.credentials import Credentials, save_credentials
from siena.client.tokens import new_token
from siena.lang.notification_form import notification_to_json
from siena.lang.parser import parse_notification

MODULE = ROOT / "src" / "siena" / "web" / "static" / "siena.js"
CASES = ROOT / "tests" / "support" / "javascript"
# So that a page has it at once, and a reader in a quarter of an hour.
WEIGHT_MAX = 8_000


def names() -> list[str]:
    """What the cases are called, as they are written there."""
    text = (CASES / "cases.mjs").read_text(encoding="utf-8")
    return [line.split('"')[1] for line in text.splitlines() if line.startswith('  "')]


def kit() -> list[dict[str, Any]]:
    """Which filters match which notifications, from the conformance kit."""
    found = []
    for area in ("matches", "closed-language"):
        text = (ROOT / "conformance" / f"{area}.json").read_text(encoding="utf-8")
        for case in json.loads(text)["cases"]:
            if case["relation"] == "matches":
                form = notification_to_json(parse_notification(case["notification"]))
                found.append(
                    {
                        "id": case["id"],
                        "filter": case["left"],
                        "notification": json.dumps(form),
                        "expected": case["expected"],
                    }
                )
    return found


class Served:
    """A broker with HTTP and a log, which can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            self._port = one.getsockname()[1]
        self._folder = folder
        self._running = ExitStack()
        self.start()

    def start(self) -> None:
        """Start it, at the same address as before."""
        found = self._running.enter_context(
            process(
                *("--json", "--listen", "127.0.0.1:0", "--log", str(self._folder)),
                *("--http", f"127.0.0.1:{self._port}"),
            )
        )
        self.http = str(ready(found)["http"])
        self._process = found

    def restart(self) -> None:
        """Kill it, and start it again."""
        self._process.kill()
        self._process.wait()
        self._running.close()
        self.start()

    @property
    def url(self) -> str:
        """Where its WebSockets are."""
        return self.http.replace("http", "ws") + "/ws"

    def stop(self) -> None:
        """End it."""
        self._running.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    found = Served(tmp_path / "log")
    yield found
    found.stop()


def in_node(served: Served) -> dict[str, str | None]:
    """What each case came to: nothing, or an error."""
    node = which("node")
    if node is None:
        pytest.skip("there is no node")
    command = [node, "--experimental-websocket", str(CASES / "node.mjs")]
    found: dict[str, str | None] = {}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        what = {"module": MODULE.as_uri(), "url": served.url, "kit": kit()}
        print(json.dumps(what), file=running.stdin, flush=True)
        for line in running.stdout:
            said = json.loads(line)
            if "restart" in said:
                served.restart()
                print("{}", file=running.stdin, flush=True)
            elif "name" in said:
                found[said["name"]] = said.get("error")
    return found


def in_a_browser(served: Served) -> dict[str, str | None]:
    """The same, in a page that the broker serves."""
    api = pytest.importorskip("playwright.sync_api", reason="pip install .[browser]")
    chromium = which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium")
    found: dict[str, str | None] = {}
    with api.sync_playwright() as playwright:
        flags = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=chromium, args=flags)
        page = browser.new_page()
        text = (CASES / "cases.mjs").read_text(encoding="utf-8")
        page.route(
            "**/console/cases.mjs",
            lambda route: route.fulfill(body=text, content_type="text/javascript"),
        )
        page.expose_function("restart", served.restart)
        page.goto(served.http)
        for name in names():
            found[name] = page.evaluate(
                """async ([name, url, kit]) => {
                    const { cases } = await import("/console/cases.mjs");
                    const siena = await import("/siena.js");
                    try {
                        await cases[name]({ siena, url, kit, restart: window.restart });
                        return null;
                    } catch (error) { return String(error.stack ?? error); }
                }""",
                [name, served.url, kit()],
            )
        browser.close()
    return found


@pytest.mark.parametrize("run", [in_node, in_a_browser])
def test_the_client_keeps_its_promises(
    served: Served, run: Callable[[Served], dict[str, str | None]]
) -> None:
    assert run(served) == dict.fromkeys(names())


TOKENS = """
import { connect } from "MODULE";
for (const token of JSON.parse(process.argv[2])) {
  try {
    const client = await connect("URL", token === null ? {} : { token });
    await client.subscribe("x any").settled();
    await client.close();
    console.log("admitted");
  } catch (error) { console.log(`${error.name} ${error.fault}`); }
}
process.exit(0);
"""


def test_a_token_is_the_first_message(tmp_path: Path) -> None:
    node = which("node")
    if node is None:
        pytest.skip("there is no node")
    good, wrong = new_token(), new_token()
    known = Credentials().with_token(good, "ann", ("all",), made_at=0.0)
    save_credentials(tmp_path / "credentials.json", known)
    (tmp_path / "broker.toml").write_text(
        'listen = ["127.0.0.1:0"]\nhttp = "127.0.0.1:0"\n'
        f'[access]\ncredentials = "{tmp_path / "credentials.json"}"\n'
        '[access.roles]\nall = {subscribe = "[]"}\n'
    )
    with process("--json", "--config", str(tmp_path / "broker.toml")) as found:
        url = str(ready(found)["http"]).replace("http", "ws") + "/ws"
        text = TOKENS.replace("MODULE", MODULE.as_uri()).replace("URL", url)
        (tmp_path / "tokens.mjs").write_text(text)
        said = subprocess.run(
            [
                *(node, "--experimental-websocket", str(tmp_path / "tokens.mjs")),
                json.dumps([good.text, wrong.text, "no token at all"]),
            ],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
    assert said == ["admitted", *["RequestRefusedError 211"] * 2]


def test_the_broker_serves_the_module(served: Served) -> None:
    answer = httpx.get(f"{served.http}/siena.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.content == MODULE.read_bytes()


def test_types_are_checked_strictly() -> None:
    compiler = which("tsc")
    if compiler is None:
        pytest.skip("there is no tsc (npm install --global typescript)")
    options = ("--strict", "--checkJs", "--allowJs", "--noEmit", "--target", "es2022")
    libraries = ("--lib", "es2022,dom,dom.iterable")
    done = subprocess.run(
        [compiler, *options, *libraries, str(MODULE)],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.stdout == ""
    assert done.returncode == 0


def test_the_module_is_light_and_needs_no_other(
    capsys: pytest.CaptureFixture[str],
) -> None:
    weight = len(gzip.compress(MODULE.read_bytes()))
    with capsys.disabled():  # to be read, whatever is captured
        print(f"\nsiena.js weighs {weight:,} bytes, compressed")  # noqa: T201
    assert weight <= WEIGHT_MAX, f"{weight:,} bytes, compressed"
    assert "\nimport " not in MODULE.read_text(encoding="utf-8")
