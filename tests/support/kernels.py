"""The slow twins of the kernels: the same files, run as plain Python.

A compiled kernel wins every normal import, so the twin is loaded from its source, by
path and under another name.
"""

import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from unittest.mock import patch

import siena

KERNELS = {
    path.stem: path
    for path in Path(siena.__path__[0]).rglob("kernels/*.py")
    if path.stem != "__init__"
}
"""Every kernel there is, of whatever room, by its name."""


# What a plain kernel imports of others is plain as well.
PARTS = {"match": {"siena.matching.kernels.values": "values"}}


@cache
def plain(name: str) -> ModuleType:
    """The kernel of this name, uncompiled."""
    spec = importlib.util.spec_from_file_location(f"plain_{name}", KERNELS[name])
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    parts = {full: plain(part) for full, part in PARTS.get(name, {}).items()}
    with patch.dict(sys.modules, parts):
        spec.loader.exec_module(module)
    return module
