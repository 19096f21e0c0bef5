"""The inner loops, compiled ahead of time by Cython from the Python that you see.

Each module beside this one is a kernel: flat arrays in, flat arrays out, no object
and no allocation inside.  ``setup.py`` compiles it; uncompiled it runs as well, a
hundred times slower, which is how tests and debuggers step through it.  There are no
bounds checks inside, so only the module in front of a kernel fills its arrays.
"""

import pkgutil
from importlib.machinery import EXTENSION_SUFFIXES, PathFinder


def _is_compiled(name: str) -> bool:
    # Asked of the finder, not of the module: nobody should load a kernel to know.
    spec = PathFinder.find_spec(f"{__name__}.{name}", __path__)
    origin = spec.origin if spec else None
    return origin is not None and origin.endswith(tuple(EXTENSION_SUFFIXES))


NAMES = tuple(sorted({module.name for module in pkgutil.iter_modules(__path__)}))
"""Every kernel there is."""

COMPILED = all(map(_is_compiled, NAMES))
"""Whether every kernel is machine code here."""
