"""The slow twins of the kernels: the same files, run as plain Python.

A compiled kernel wins every normal import, so the twin is loaded from its source, by
path and under another name.
"""

import importlib.util
from functools import cache
from pathlib import Path
from types import ModuleType

from siena.matching import kernels

FOLDER = Path(kernels.__path__[0])


@cache
def plain(name: str) -> ModuleType:
    """The kernel of this name, uncompiled."""
    path = FOLDER / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"plain_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
