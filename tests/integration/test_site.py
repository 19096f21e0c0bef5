"""The documentation site: its pages are gathered, and their links lead somewhere."""

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from repository import ROOT

CODE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?P<target>[^)\s#:]+)(#[^)]*)?\)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, str(ROOT / "tools" / "gather_pages.py"), str(folder)]
    subprocess.run(command, check=True)
    return folder


def test_every_link_of_a_page_leads_to_a_page(site: Path) -> None:
    pages = list((site / "pages").rglob("*.md"))
    assert len(pages) > 50
    for page in pages:
        text = re.sub(
            r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL
        )
        for link in LINK.finditer(text):
            assert (page.parent / link["target"]).exists(), f"{page.name}: {link[0]}"


def test_every_command_and_every_guide_is_there(site: Path) -> None:
    commands = (site / "pages" / "reference" / "commands.md").read_text("utf-8")
    for name in ("siena serve", "siena log read", "siena sim check"):
        assert f" {name}\n\n```text\nUsage: {name} " in commands
    configuration = (site / "zensical.toml").read_text("utf-8")
    for guide in (ROOT / "docs" / "guides").glob("*.md"):
        assert f'"guides/{guide.name}"' in configuration


def test_every_page_is_in_the_navigation_and_on_the_first_page(site: Path) -> None:
    """But a single decision, which its list has, and the README, which is no page."""
    configuration = (site / "zensical.toml").read_text("utf-8")
    first = (site / "pages" / "index.md").read_text("utf-8")
    for page in (site / "pages").rglob("*.md"):
        name = str(page.relative_to(site / "pages"))
        if re.match(r"decisions/\d|readme.md", name):
            continue
        assert f'"{name}"' in configuration, name
        if name not in {"index.md", "examples.md"}:
            assert f"({name})" in first, name


def test_pictures_need_no_variables_of_a_style_sheet() -> None:
    """Many renderers do not know them, and draw all in black."""
    pictures = list((ROOT / "docs").rglob("*.svg"))
    assert len(pictures) > 20
    for picture in pictures:
        assert "var(" not in picture.read_text("utf-8"), picture.name


@pytest.mark.parametrize("room", ["siena", "siena.spark", "siena.testing"])
def test_what_may_be_imported_is_in_the_reference(room: str) -> None:
    """Each name of ``__all__``, alone or with the module that it is from."""
    text = (ROOT / "docs" / "reference" / "python.md").read_text("utf-8")
    shown: set[object] = set()
    for path in re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE):
        module, _, name = path.rpartition(".")
        found = getattr(importlib.import_module(module), name, None)
        if found is None or isinstance(found, ModuleType):
            found = importlib.import_module(path)
            shown |= {id(each) for each in vars(found).values()}
        shown.add(id(found))
    front = importlib.import_module(room)
    missing = [name for name in front.__all__ if id(getattr(front, name)) not in shown]
    assert missing == []


@pytest.mark.slow
def test_the_site_is_built_strictly(site: Path) -> None:
    pytest.importorskip("zensical", reason="make docs installs it")
    command = [sys.executable, "-m", "zensical", "build", "--strict"]
    command += ["--config-file", "zensical.toml"]
    subprocess.run(command, cwd=site, check=True)
    assert (site / "html" / "reference" / "python.html").exists()
