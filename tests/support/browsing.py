"""Pages of a broker in headless Chromium, and what is wrong with them."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from shutil import which
from types import MappingProxyType
from typing import Any

import pytest

api = pytest.importorskip("playwright.sync_api", reason="pip install .[browser]")
axe = pytest.importorskip(
    "axe_playwright_python.sync_playwright", reason="pip install .[browser]"
)
if which("chromium") is None:
    pytest.skip("there is no chromium", allow_module_level=True)

# Playwright's own, of which nothing is known where it is missing.
Browser = Any
Page = Any
Route = Any

MILLISECONDS = 30_000
# Chromium looks for nothing elsewhere, and runs as root where tests do.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser of its own."""
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=which("chromium"), args=FLAGS
        )
        yield found
        found.close()


@contextmanager
def opened(
    browser: Browser,
    address: str,
    mode: str,
    pass_on: Mapping[str, Callable[[Route], None]] = MappingProxyType({}),
) -> Iterator[Page]:
    """A page, of which nothing may be written to the browser's console.

    What it asks for at some addresses may be passed on by others.
    """
    width = 390 if mode == "narrow" else 1_100
    context = browser.new_context(
        color_scheme="dark" if mode == "dark" else "light",
        viewport={"width": width, "height": 900},
        reduced_motion="reduce",
    )
    context.set_default_timeout(MILLISECONDS)
    page = context.new_page()
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "console",
        lambda said: wrong.append(said.text) if said.type == "error" else None,
    )
    for pattern, act in pass_on.items():
        page.route(pattern, act)
    page.goto(address)
    try:
        yield page
    finally:
        context.close()
    # That a token was asked for is a line of the browser's own.
    assert [text for text in wrong if "401" not in text] == []


def check(page: Page) -> None:
    """What axe has against it: nothing; and nothing is cut off at the side."""
    found = axe.Axe().run(page).response["violations"]
    assert [(each["id"], each["nodes"][0]["html"]) for each in found] == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def go(page: Page, name: str) -> None:
    page.get_by_role("link", name=name, exact=True).click()
    page.get_by_role("heading", level=1).wait_for()
