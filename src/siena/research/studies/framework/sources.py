"""Which version of the code computed a row: a hash of all the sources it depends on.

What a module imports is read from its text, wherever the import stands, and followed as
long as it is ours.  So a change of anything that a row may depend on makes a new
version, and a change of how a figure is drawn does not.
"""

import ast
from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

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
        path = source(name)
        assert path is not None
        digest.update(f"{name}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def closure(module: str) -> set[str]:
    """The module, and all of ours that it imports, directly or not.

    >>> {"siena.model", "siena.errors"} <= closure("siena.model")
    True
    """
    found: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found or source(name) is None:
            continue
        found.add(name)
        waiting += imported(name)
        package, _, _ = name.rpartition(".")
        if package:
            waiting.append(package)
    return found


@cache
def source(module: str) -> Path | None:
    """The file of a module of ours; ``None`` where a name is no module.

    The text counts even where a compiled twin of it is what runs.
    """
    root = find_spec(OURS)
    assert root is not None
    assert root.origin is not None
    parts = module.split(".")
    if parts[0] != OURS:
        return None
    base = Path(root.origin).parent.joinpath(*parts[1:])
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def imported(module: str) -> Iterator[str]:
    """What a module of ours names in imports, some of which may be no modules."""
    path = source(module)
    assert path is not None
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
