"""What ``import siena`` gives: the public names, complete, sorted and light."""

import subprocess
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import siena

# Needed by some rooms or commands; nobody else should wait for them.
HEAVY = {"asyncio", "numpy", "rich", "typer"}


def test_every_module_can_be_imported() -> None:
    """Also those that have no doctests, and are not collected for them."""
    package = Path(siena.__path__[0])
    names = [
        ".".join(["siena", *path.relative_to(package).with_suffix("").parts])
        for path in sorted(package.rglob("*.py"))
        if path.name != "__main__.py" and "kernels" not in path.parts
    ]
    assert len(names) > 500
    for name in names:
        import_module(name.removesuffix(".__init__"))


def test_every_public_name_exists() -> None:
    assert [n for n in siena.__all__ if not hasattr(siena, n)] == []


def test_every_public_name_is_listed() -> None:
    public = {
        name
        for name, thing in vars(siena).items()
        if not name.startswith("_") and not isinstance(thing, ModuleType)
    }
    assert public <= set(siena.__all__)


def test_the_list_is_sorted() -> None:
    """Constants, then classes, then functions, as ``ruff check`` sorts them."""
    assert list(siena.__all__) == sorted(set(siena.__all__), key=rank)


def test_the_import_is_light() -> None:
    """In a fresh interpreter: this one has imported them all."""
    script = "import sys, siena; print(*sys.modules, sep='\\n')"
    # -I: neither the current folder nor PYTHONPATH adds anything.
    command = [sys.executable, "-I", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "siena" in done.stdout.split()
    assert not HEAVY & set(done.stdout.split())


def rank(name: str) -> tuple[bool, bool, str]:
    return not name.isupper(), not name[0].isupper(), name
