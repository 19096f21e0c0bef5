"""The inner loops, compiled ahead of time by Cython from the Python that you see.

Each module beside this one is a kernel: flat arrays in, flat arrays out, no object
and no allocation inside.  ``setup.py`` compiles it; uncompiled it runs as well, a
hundred times slower, which is how tests and debuggers step through it.  There are no
bounds checks inside, so only the module in front of a kernel fills its arrays.  Small
functions that several kernels share are in ``inline``.
"""

import pkgutil
from collections.abc import Iterable
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder


def are_compiled(package: str, folders: Iterable[str]) -> bool:
    """Whether every module of a package of kernels is machine code.

    Asked of the finder, not of the modules: to know, no kernel has to be loaded.
    """
    path = list(folders)
    specs = [
        PathFinder.find_spec(f"{package}.{module.name}", path)
        for module in pkgutil.iter_modules(path)
        if not module.ispkg
    ]
    return all(
        spec is not None
        and spec.origin is not None
        and spec.origin.endswith(tuple(EXTENSION_SUFFIXES))
        for spec in specs
    )


COMPILED = are_compiled(__name__, __path__)
"""Whether every kernel is machine code here."""
