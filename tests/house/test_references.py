"""What a docstring or a comment refers to exists: a class is renamed, and so is this.

Read from the sources, for attributes of an instance are found in no class, and some
modules need what not every machine has.
"""

import ast
import pkgutil
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from repository import ROOT

SOURCES = ROOT / "src"
# Kernels speak of what they share with others in C, which no import says.
MODULES = sorted(
    module
    for module in (SOURCES / "siena").rglob("*.py")
    if "kernels" not in module.parts
)
REFERENCE = re.compile(
    r":(?:attr|class|data|exc|func|meth|mod):`~?([\w.]+?)(?:\(\))?`", re.ASCII
)


def name(path: Path) -> str:
    return path.relative_to(SOURCES).as_posix()


@pytest.mark.parametrize("module", MODULES, ids=name)
def test_what_is_referred_to_exists(module: Path) -> None:
    assert [
        f"{name(module)}:{line}: {reference}"
        for line, reference in references(module)
        if not exists(module, line, reference)
    ] == []


def test_what_does_not_exist_is_noticed() -> None:
    session = SOURCES / "siena/client/core/session.py"
    line = session.read_text("utf-8").splitlines().index("class Session:") + 2
    for there in ("Session.attach", "attach", "siena.client.core.inbox.Inbox", "re"):
        assert exists(session, line, there)
    for gone in ("Talk.attach", "Session.gone", "gone", "siena.client.core.Talk"):
        assert not exists(session, line, gone)
    assert not exists(session, 1, "attach")  # which is said outside the class


def references(module: Path) -> Iterator[tuple[int, str]]:
    text = module.read_text("utf-8")
    for found in REFERENCE.finditer(text):
        yield text.count("\n", 0, found.start()) + 1, found[1]


def exists(module: Path, line: int, reference: str) -> bool:
    """Whether a reference leads somewhere from this line.

    As a reader looks for it: in the classes around it, in the module, anywhere.
    """
    path = reference.split(".")
    around = [
        node
        for node in ast.walk(parse(module))
        if isinstance(node, ast.ClassDef)
        and node.lineno <= line <= (node.end_lineno or line)
    ]
    if any(leads(module, node, path) for node in around):
        return True
    if leads(module, parse(module), path):
        return True
    if path[0] == "siena":
        return leads_from_the_top(path)
    try:
        pkgutil.resolve_name(reference)
    except (AttributeError, ImportError, ValueError):
        return False
    return True


def leads_from_the_top(path: list[str]) -> bool:
    """Whether an absolute name is that of a module, or of something in one."""
    for size in range(len(path), 0, -1):
        module = file_of(path[:size])
        if module is not None:
            return leads(module, parse(module), path[size:])
    return False


def leads(module: Path, node: ast.AST, path: list[str]) -> bool:
    """Whether there is such a thing inside a module or a class."""
    if not path:
        return True
    head, *rest = path
    found = inside(node).get(head)
    if isinstance(found, ast.ImportFrom):  # where it is defined
        there = [*(found.module or "").split("."), true_name(found, head)]
        return leads_from_the_top([*there, *rest]) if there[0] == "siena" else True
    if found is not None:
        return leads(module, found, rest)
    if isinstance(node, ast.ClassDef):  # what it inherits
        return any(
            leads_to_base(module, ast.unparse(base).split("[")[0].split("."), path)
            for base in node.bases
        )
    return False


def leads_to_base(module: Path, base: list[str], path: list[str]) -> bool:
    found = inside(parse(module)).get(base[0])
    if isinstance(found, ast.ImportFrom) and (found.module or "").startswith("siena"):
        return leads(module, parse(module), [*base, *path])
    return isinstance(found, ast.ClassDef) and leads(module, found, path)


@cache
def inside(node: ast.AST) -> dict[str, ast.AST]:
    """What has a name in a module or a class; in a class, attributes as well."""
    if not isinstance(node, ast.Module | ast.ClassDef):
        return {}
    names: dict[str, ast.AST] = {}
    for part in statements(node.body):
        match part:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                names[part.name] = part
            case ast.ImportFrom():
                names |= {a.asname or a.name: part for a in part.names}
            case ast.Import():
                names |= {(a.asname or a.name).split(".")[0]: part for a in part.names}
            case ast.Assign() | ast.AnnAssign():
                names |= dict.fromkeys(targets(part), part)
            case _:
                pass
    if isinstance(node, ast.ClassDef):
        names |= {
            part.attr: part
            for part in ast.walk(node)
            if isinstance(part, ast.Attribute)
            and isinstance(part.ctx, ast.Store)
            and isinstance(part.value, ast.Name)
            and part.value.id == "self"
        }
    return names


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """These, and those that stand under a condition."""
    for part in body:
        yield part
        for inner in ("body", "orelse", "finalbody"):
            if isinstance(part, ast.If | ast.Try | ast.With):
                yield from statements(getattr(part, inner, []))
        if isinstance(part, ast.Try):
            for handler in part.handlers:
                yield from statements(handler.body)


def targets(assigned: ast.Assign | ast.AnnAssign) -> set[str]:
    named = assigned.targets if isinstance(assigned, ast.Assign) else [assigned.target]
    return {
        node.id
        for target in named
        for node in ast.walk(target)
        if isinstance(node, ast.Name)
    }


def true_name(imported: ast.ImportFrom, name: str) -> str:
    return next(a.name for a in imported.names if name in {a.asname, a.name})


def file_of(parts: list[str]) -> Path | None:
    folder = SOURCES.joinpath(*parts)
    for path in (folder.with_suffix(".py"), folder / "__init__.py"):
        if path.exists():
            return path
    return None


@cache
def parse(module: Path) -> ast.Module:
    return ast.parse(module.read_text("utf-8"))
