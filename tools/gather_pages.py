"""Gather the pages of the documentation site: docs/, and what is generated.

    python tools/gather_pages.py [FOLDER]    # build/site, unless said otherwise

Pages in docs/ are plain Markdown, with links that work in the repository.  Here they
are copied, and links that leave docs/ lead to copies of what they point at, or are
shown as text.  Generated are the commands, from the command line itself, the examples
with their output, and the list of decisions.
"""

import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import typer
from typer.core import TyperGroup
from typer.main import get_command

from siena.cli.main import COMMANDS, app

ROOT = Path(__file__).parent.parent
SITE = Path(sys.argv[1]).resolve() if sys.argv[1:] else ROOT / "build" / "site"
PAGES = SITE / "pages"
# What stands at the root of the repository, and its page.
MOVED = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "README.md": "readme.md",
}
# The text of a link may have brackets in it, as `[access]` has.
_LINK = re.compile(r"\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^)\s]+)\)")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Write all pages, and the configuration that names them."""
    shutil.rmtree(PAGES, ignore_errors=True)
    SITE.mkdir(parents=True, exist_ok=True)
    shutil.copytree(ROOT / "docs", PAGES)
    for page in PAGES.rglob("*.md"):
        source = ROOT / "docs" / page.relative_to(PAGES)
        page.write_text(linked(page.read_text("utf-8"), source, page), "utf-8")
    for name, target in MOVED.items():
        page = PAGES / target
        text = linked((ROOT / name).read_text("utf-8"), ROOT / name, page)
        page.write_text(text, "utf-8")
    (PAGES / "reference" / "commands.md").write_text("\n".join(commands()), "utf-8")
    (PAGES / "examples.md").write_text("\n".join(examples()), "utf-8")
    listed = PAGES / "decisions" / "README.md"
    text = listed.read_text("utf-8") + "\n".join(decisions()) + "\n"
    listed.write_text(text, "utf-8")
    (PAGES / "moves.tsv").unlink()
    configure()


def linked(text: str, source: Path, page: Path) -> str:
    """A page with its links turned to where things are in the site."""

    def turned(found: re.Match[str]) -> str:
        target, _, part = found["target"].partition("#")
        if not target or ":" in target:
            return found[0]
        place = (source.parent / target).resolve()
        if not place.exists():
            sys.exit(f"{source.relative_to(ROOT)}: there is no {target}")
        there = _page_of(place)
        if there is None:
            return f"`{place.relative_to(ROOT)}`"
        up = "../" * (len(page.relative_to(PAGES).parts) - 1)
        return f"[{found['text']}]({up}{there}{'#' + part if part else ''})"

    kept = _FENCE.findall(text)  # what stands in code is no link
    plain = _FENCE.sub("\0", text)
    plain = _LINK.sub(turned, plain)
    for block in kept:
        plain = plain.replace("\0", block, 1)
    return plain


def _page_of(place: Path) -> str | None:
    """Where in the site a file of the repository is, if it is there."""
    if place.is_relative_to(ROOT / "docs"):
        found = place.relative_to(ROOT / "docs")
        if place.is_dir():
            return f"{found}/README.md" if (place / "README.md").exists() else None
        return None if found.name == "moves.tsv" else str(found)
    if place.is_relative_to(ROOT / "examples"):
        return "examples.md"
    return MOVED.get(str(place.relative_to(ROOT)))


def commands() -> Iterator[str]:
    """A page with the help of every command, as it prints it."""
    yield "# Commands\n"
    yield "What `siena COMMAND --help` prints, for every command.\n"
    group = get_command(app)
    assert isinstance(group, TyperGroup)
    context = typer.Context(group, info_name="siena")
    for name in COMMANDS:
        yield from _help(group.get_command(context, name), name, context, "##")


def _help(
    command: object, name: str, above: typer.Context, heading: str
) -> Iterator[str]:
    context = typer.Context(command, info_name=name, parent=above)  # type: ignore[arg-type]
    yield f"{heading} siena {context.command_path.removeprefix('siena ')}\n"
    yield f"```text\n{context.get_help().rstrip()}\n```\n"
    if isinstance(command, TyperGroup):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            yield from _help(found, below, context, heading + "#")


def examples() -> Iterator[str]:
    """A page with every example, and what it prints."""
    yield "# Examples\n"
    yield "Each stands in `examples/` with its output beside it; the tests run them.\n"
    for path in sorted((ROOT / "examples").glob("*.py")):
        yield f"## {path.name}\n\n```python\n{path.read_text('utf-8').rstrip()}\n```\n"
        output = path.with_suffix(".txt")
        if output.exists():
            yield f"It prints:\n\n```text\n{output.read_text('utf-8').rstrip()}\n```\n"
    network = ROOT / "examples" / "five-brokers.toml"
    yield f"## {network.name}\n\n```toml\n{network.read_text('utf-8').rstrip()}\n```\n"


def decisions() -> Iterator[str]:
    """A line for each decision, by its title."""
    for path in sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md")):
        if not path.name.startswith("0000"):
            title = path.read_text("utf-8").splitlines()[0].lstrip("# ")
            yield f"- [{title}]({path.name})"


def configure() -> None:
    """The configuration, with the guides and references that there are."""
    text = (ROOT / "zensical.toml").read_text("utf-8")
    text = text.replace('"GUIDES"', _listed("guides"))
    text = text.replace('"REFERENCE"', _listed("reference"))
    text = text.replace('paths = ["src"]', f'paths = ["{ROOT / "src"}"]')
    (SITE / "zensical.toml").write_text(text, "utf-8")


def _listed(folder: str) -> str:
    """The pages of a folder, by their titles."""
    pages = {
        path.read_text("utf-8").splitlines()[0].lstrip("# "): path
        for path in (PAGES / folder).glob("*.md")
    }
    lines = [
        f'{{ "{title}" = "{pages[title].relative_to(PAGES)}" }}'
        for title in sorted(pages)
    ]
    return f"[{', '.join(lines)}]"


if __name__ == "__main__":
    main()
