"""Checks on the code itself, so that reviewers need not remember them.

Which room may import which is checked by import-linter, in ``make check``.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from repository import ROOT

PACKAGE = ROOT / "src" / "siena"
MODULES = sorted(PACKAGE.rglob("*.py"))

# The rooms whose results depend on their arguments and on nothing else.
CORE = (
    *("errors.py", "model", "block", "lang", "algebra", "matching", "messages"),
    *(
        "dialects",
        "rules",
        "routing",
        "sim",
        "research/matchers",
        "research/schemes",
        "research/cbcb",
    ),
    *("research/scenarios", "research/oracles"),
)
CORE_MODULES = [
    m for m in MODULES if m.relative_to(PACKAGE).as_posix().startswith(CORE)
]
EFFECTS = {"breakpoint", "eval", "exec", "input", "open", "print"}

# A module is read in one sitting; beyond this it says why it is still one.
LINES_MAX = 400

# A room has about a dozen modules; beyond this there is a room inside that wants walls.
FOLDER_MODULES_MAX = 15

# Whatever the reason, a module is no longer than this; but for the engine's kernel,
# whose loops would have to call each other across modules (decision 25).
LINES_MAX_EVER = 600
LONG_KERNELS = {"matching/kernels/match.py"}

# A docstring says which thing it speaks of, that of an attribute as well.
NAMELESS = re.compile(
    r"\b(?:some|no|any|every)(?:body|one)\b|\bwhoever\b|\bwhosoever\b", re.IGNORECASE
)
# Messages of errors, which doctests show.
SHOWN = {"broker/io/listen.py", "client/request_reply.py"}

# In this one a folder is a room: what one paper calls a node, or a network, has nothing
# to do with what another does.
LABORATORY = "research"
# The blocking client has the names of the other, so that a program has to be changed
# where it waits, and nowhere else.
TWINS = {"Advertising", "Client", "DurableSubscription", "LogClient", "Subscription"}

# In docstrings, a module of the room has its bare name.
MODULE_NAME = re.compile(r"``([a-z_]+)``")
# In prose, a file is named in backticks, from the root or from src/siena.
FILE_NAME = re.compile(r"`([\w./*-]+\.(?:json|md|py|toml|txt))`")


def name(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_a_module_fits_in_one_reading(module: Path) -> None:
    text = module.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= LINES_MAX or "Why one module:" in text


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_a_module_is_not_a_book(module: Path) -> None:
    lines = len(module.read_text(encoding="utf-8").splitlines())
    assert lines <= LINES_MAX_EVER or name(module) in LONG_KERNELS


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_a_module_says_what_lives_in_it(module: Path) -> None:
    assert ast.get_docstring(parse(module)), "needs a module docstring"


def test_docstrings_name_what_they_speak_of() -> None:
    found = [
        (name(module), line)
        for module in MODULES
        for said in docstrings(parse(module))
        for line in said.splitlines()
        if NAMELESS.search(line)
        and (name(module) not in SHOWN or "siena.errors." not in line)
    ]
    assert found == []


def test_a_class_has_its_name_alone_in_its_room() -> None:
    met = defaultdict(set)
    for module in MODULES:
        room, *inside = module.relative_to(PACKAGE).parts
        if room == LABORATORY:
            room += f"/{inside[0]}"
        for node in parse(module).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                met[room, node.name].add(name(module))
    assert {
        place: modules
        for place, modules in met.items()
        if len(modules) > 1 and not (place[0] == "client" and place[1] in TWINS)
    } == {}


@pytest.mark.parametrize("module", CORE_MODULES, ids=name)
def test_a_module_of_the_core_has_no_effects(module: Path) -> None:
    called = {
        node.func.id
        for node in ast.walk(parse(module))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not called & EFFECTS


@pytest.mark.parametrize("folder", sorted({m.parent for m in MODULES}), ids=name)
def test_a_folder_is_a_room_and_not_a_hall(folder: Path) -> None:
    modules = [m for m in folder.glob("*.py") if m.name != "__init__.py"]
    assert len(modules) <= FOLDER_MODULES_MAX


@pytest.mark.parametrize("folder", sorted({m.parent for m in MODULES}), ids=name)
def test_a_folder_of_modules_is_a_package(folder: Path) -> None:
    assert (folder / "__init__.py").exists()


@pytest.mark.parametrize("folder", sorted({m.parent for m in MODULES}), ids=name)
def test_a_room_says_in_what_order_the_modules_stand_that_it_has(folder: Path) -> None:
    """Where its docstring has an arrow, names around it are those of modules."""
    said = ast.get_docstring(parse(folder / "__init__.py")) or ""
    ordered = [part for part in said.split("\n\n") if "→" in part]
    named = {word for part in ordered for word in MODULE_NAME.findall(part)}
    there = {p.stem for p in folder.iterdir()} | {folder.name}
    assert named <= there | {p.name for p in folder.parent.iterdir() if p.is_dir()}


@pytest.mark.parametrize("folder", sorted({m.parent for m in MODULES}), ids=name)
def test_a_room_names_the_rooms_within(folder: Path) -> None:
    """What is behind a door stands on it, but for that of all, which is for users."""
    said = ast.get_docstring(parse(folder / "__init__.py")) or ""
    within = {path.parent.name for path in folder.glob("*/__init__.py")}
    assert within <= set(MODULE_NAME.findall(said)) or folder == PACKAGE


@pytest.mark.parametrize(
    ("document", "least"), [("ARCHITECTURE.md", 60), ("CONTRIBUTING.md", 5)]
)
def test_a_document_names_only_files_that_exist(document: str, least: int) -> None:
    names = FILE_NAME.findall((ROOT / document).read_text(encoding="utf-8"))
    assert len(set(names)) >= least
    assert not [name for name in names if not exists(name)]


def test_every_old_name_of_a_module_leads_to_one_that_exists() -> None:
    lines = (ROOT / "docs" / "moves.tsv").read_text(encoding="utf-8").splitlines()
    for line in lines:
        _, new = line.split("\t")
        path = ROOT.joinpath("src", *new.split("."))
        assert path.with_suffix(".py").exists() or path.is_dir(), line


@cache
def parse(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


def docstrings(tree: ast.Module) -> Iterator[str]:
    """Those of modules, classes and functions, and below attributes."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant(value=str(said))):
                yield said
            case _:
                pass


def exists(pattern: str) -> bool:
    return any(any(base.glob(pattern)) for base in (ROOT, PACKAGE))
