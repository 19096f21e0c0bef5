"""Which version of the code computed a row: a hash of all the sources it depends on.

What a module imports is read from its text, wherever the import stands, and followed
as long as it is ours, or of the package that a study of another maker lives in.  So a
change of anything that a row may depend on makes a new version.  A change of how a
figure is drawn does not, unless a study does both in one file, and none of what is only
said about the code: comments, docstrings and empty lines do not count, nor does what is
imported for checkers of types alone.
"""

import ast
import io
import tokenize
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import TypeGuard

OURS = "siena"


@cache
def code_version(module: str) -> str:
    """The version of a module and of everything of ours below it.

    >>> code_version("siena.errors") == code_version("siena.sim.workload")
    False
    >>> len(code_version("siena.errors"))
    16
    """
    digest = sha256()
    for name in sorted(closure(module)):
        path = source(name, top_of(module))
        assert path is not None
        digest.update(f"{name}\n".encode())
        digest.update(_digest_of(path, path.stat().st_mtime_ns))
    return digest.hexdigest()[:16]


@cache  # studies share most of what they depend on
def _digest_of(path: Path, written: int) -> bytes:  # noqa: ARG001 -- when, in nanoseconds
    return sha256(code_of(path.read_text(encoding="utf-8")).encode()).digest()


def code_of(text: str) -> str:
    r"""A source without what is only said about it.

    >>> code_of("'What it is.'\n\nx = '# 1'  # a text\n")
    "x = '# 1'"

    It is cut from the text, and not printed from the tree, because every version of
    Python prints a tree in its own way, and rows are of many.
    """
    lines = text.splitlines()
    said = list[ast.expr]()
    values = set[int]()  # lines that end within a text, whose every space counts
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and _is_text(node.value):
            said.append(node.value)
        elif _is_text(node) or isinstance(node, ast.JoinedStr):
            values.update(range(node.lineno, node.end_lineno or node.lineno))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip()
    for each in said:
        first, last = each.lineno, each.end_lineno or each.lineno
        before = lines[first - 1].encode()[: each.col_offset]
        after = lines[last - 1].encode()[each.end_col_offset :]
        if not before.strip() and not after.strip():
            values.difference_update(range(first, last))
            lines[first - 1 : last] = [""] * (last - first + 1)
    return "\n".join(
        line for row, line in enumerate(lines, start=1) if line or row in values
    )


def _is_text(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def closure(module: str) -> set[str]:
    """The module, and all of ours and of its package that it imports, in the end.

    >>> {"siena.model", "siena.errors"} <= closure("siena.model")
    True
    """
    found: set[str] = set()
    waiting = [module]
    home = top_of(module)
    while waiting:
        name = waiting.pop()
        path = source(name, home)
        if name in found or path is None:
            continue
        found.add(name)
        waiting += imported(path)
        package, _, _ = name.rpartition(".")
        if package:
            waiting.append(package)
    return found


def top_of(module: str) -> str:
    """The package, or the single file, that a module lives in.

    >>> top_of("siena.research.studies")
    'siena'
    """
    return module.partition(".")[0]


@cache
def source(module: str, home: str = OURS) -> Path | None:
    """The file of a module of ours, or of ``home``; ``None`` where a name is no module.

    The text counts even where a compiled twin of it is what runs.
    """
    top, *parts = module.split(".")
    if top not in {OURS, home}:
        return None
    root = find_spec(top)
    if root is None or root.origin is None:
        return None
    origin = Path(root.origin)
    if not parts:
        return origin
    base = origin.parent.joinpath(*parts)
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def imported(path: Path) -> Iterator[str]:
    """What a source names in imports that may run; some names may be no modules."""
    waiting: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.If) and _is_for_types(node.test):
            waiting += node.orelse
            continue
        waiting += ast.iter_child_nodes(node)
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _is_for_types(test: ast.expr) -> bool:
    """Whether a condition is true for checkers of types alone, who compute no rows."""
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", None)
    return name == "TYPE_CHECKING"
