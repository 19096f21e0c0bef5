"""The slow twins of the kernels: the same files, run as plain Python.

A compiled kernel wins every normal import, so the twin is loaded from its source, by
path and under another name.
"""

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

import siena

KERNELS = {
    path.stem: path
    for path in Path(siena.__path__[0]).rglob("kernels/*.py")
    if path.stem != "__init__"
}
"""Every kernel there is, of whatever room, by its name."""


@cache
def plain(name: str) -> ModuleType:
    """The kernel of this name, uncompiled."""
    spec = importlib.util.spec_from_file_location(f"plain_{name}", KERNELS[name])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
