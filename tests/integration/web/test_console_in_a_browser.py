"""The console in headless Chromium, on a live network of five brokers."""

from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any

import pytest

import siena
from served import process, ready

api = pytest.importorskip("playwright.sync_api", reason="pip install .[browser]")
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="pip install .[browser]"
)
if which("chromium") is None:
    pytest.skip("there is no chromium", allow_module_level=True)

# Playwright's own, of which nothing is known where it is missing.
Browser = Any
Page = Any

MILLISECONDS = 30_000
NETWORK = """
brokers = [
  { name = "one", http = "127.0.0.1:0" },
  { name = "two" }, { name = "three" }, { name = "four" }, { name = "five" },
]
links = [
  { from = "two", to = "one" }, { from = "three", to = "two" },
  { from = "four", to = "one" }, { from = "five", to = "four" },
]
"""
# Chromium looks for nothing elsewhere, and runs as root where tests do.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def brokers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Where each broker is, and the HTTP side of the first."""
    path = tmp_path_factory.mktemp("network") / "network.toml"
    path.write_text(NETWORK, encoding="utf-8")
    with process("--network", str(path), "--json") as found:
        said = [ready(found) for _ in range(5)]
        urls = {each["broker"]: each["urls"][0] for each in said}
        yield {**urls, "http": said[0]["http"]}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=which("chromium"), args=FLAGS
        )
        yield found
        found.close()


@pytest.fixture(params=["light", "dark", "narrow"])
def page(
    request: pytest.FixtureRequest, browser: Browser, brokers: dict[str, str]
) -> Iterator[Page]:
    """The console, of which nothing may be written to the browser's console."""
    width = 390 if request.param == "narrow" else 1_100
    context = browser.new_context(
        color_scheme="dark" if request.param == "dark" else "light",
        viewport={"width": width, "height": 900},
        bypass_csp=True,  # for axe
    )
    context.set_default_timeout(MILLISECONDS)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "console",
        lambda said: wrong.append(said.text) if said.type == "error" else None,
    )
    page.goto(brokers["http"])
    yield page
    context.close()
    assert wrong == []


def check(page: Page) -> None:
    """What axe has against it: nothing."""
    found = axe.Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_network_is_drawn_and_a_link_explained(
    page: Page, brokers: dict[str, str]
) -> None:
    with (
        siena.connect(brokers["one"], name="desk") as desk,
        siena.connect(brokers["three"], name="trader") as trader,
    ):
        wanted = [desk.subscribe("level > 3"), desk.subscribe("level > 5 and x = 1")]
        wanted.append(trader.subscribe("symbol = DIS"))
        for each in wanted:
            each.settled(MILLISECONDS / 1_000)
        page.get_by_role("img", name="5 brokers and 4 links").wait_for()
        for name in ("one", "two", "three", "four", "five"):
            page.locator("svg text", has_text=name).first.wait_for()
        page.get_by_role("button", name="filters of two").click()
        page.get_by_role("button", name="why level > 3").click()
        page.get_by_text("for level > 5 and x = 1 of client").wait_for()
        page.get_by_text("symbol = DIS").first.wait_for()
        check(page)


def test_a_filter_is_explained_while_it_is_typed(
    page: Page, brokers: dict[str, str]
) -> None:
    with siena.connect(brokers["one"]) as client:
        wanted = client.subscribe("level > 3").settled(MILLISECONDS / 1_000)
        page.get_by_role("link", name="Workbench").click()
        text = page.get_by_label("A filter, a predicate or a pattern")
        text.fill("level >> 2")
        page.get_by_text("is not an operator").wait_for()
        assert page.locator("pre.bad").inner_text() == "level >> 2\n      ^"
        text.fill("level > 2")
        page.get_by_text("It covers 1 of 1").wait_for()
        page.get_by_text('selects, for example, {"level":3}').wait_for()
        check(page)
        wanted.close()


def test_what_is_published_elsewhere_appears(
    page: Page, brokers: dict[str, str]
) -> None:
    page.get_by_role("link", name="Live").click()
    page.get_by_label("A filter; everything without one").fill("seen any")
    page.get_by_role("button", name="Subscribe").click()
    page.get_by_text("in force: seen any").wait_for()
    with siena.connect(brokers["five"]) as client:
        client.publish(seen=7, unseen="no")
    page.get_by_text('{"seen":7,"unseen":"no"}').wait_for()
    page.get_by_label("A notification, as JSON").fill('{"seen": 8}')
    page.get_by_role("button", name="Publish", exact=True).click()
    page.get_by_text('{"seen":8}', exact=True).wait_for()
    with siena.connect(brokers["three"]) as client:
        wanted = client.subscribe("seen = 9").settled(MILLISECONDS / 1_000)
        page.get_by_label("A notification, as JSON").fill('{"seen": 9}')
        page.get_by_role("button", name="Publish and trace").click()
        page.get_by_text("The way it took: 3 brokers").wait_for()
        assert wanted.get(MILLISECONDS / 1_000)["seen"] == 9
        wanted.close()
    check(page)


def test_who_does_not_get_it_is_told_why(page: Page, brokers: dict[str, str]) -> None:
    with siena.connect(brokers["one"]) as client:
        wanted = client.subscribe("level > 3").settled(MILLISECONDS / 1_000)
        page.get_by_role("link", name="Why not").click()
        page.get_by_label("A notification, as text or JSON").fill("level = 2")
        page.get_by_role("button", name="Look").click()
        page.get_by_text("0 of 1 filters of this broker want it").wait_for()
        page.get_by_text("✗ level > 3: level = 2").wait_for()
        check(page)
        wanted.close()


def test_the_pages_need_nothing_from_elsewhere(brokers: dict[str, str]) -> None:
    static = Path(siena.__file__).parent / "web" / "static"
    for path in static.rglob("*"):
        if path.suffix in {".html", ".css", ".js"}:
            assert "https:" not in path.read_text(encoding="utf-8"), brokers
