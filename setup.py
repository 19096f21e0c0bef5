"""Compiles the kernels.  Everything else about the package is in pyproject.toml.

A kernel is a module in a folder called ``kernels``: Python with Cython's annotations,
which runs as it is, slowly, and as C once this has compiled it.  Where there is no C
compiler the package installs all the same, and ``siena.matching.COMPILED`` is false.
The load generator's kernels are compiled only if ``SIENA_BENCH`` is set.
"""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

SOURCES = Path("src")
# MSVC optimises as far as it can by default, and does not know these.
FLAGS = [] if os.name == "nt" else ["-O3", "-g0"]
LINK_FLAGS: list[str] = []
if os.environ.get("SIENA_SANITIZE"):  # see `make sanitize`
    FLAGS = ["-fsanitize=address", "-fno-omit-frame-pointer", "-O1", "-g"]
    LINK_FLAGS = ["-fsanitize=address"]


def is_wanted(path: Path) -> bool:
    """Whether a file is a kernel to compile: the load generator's only if asked for."""
    is_bench = SOURCES / "siena" / "bench" in path.parents
    return path.stem != "__init__" and (
        not is_bench or bool(os.environ.get("SIENA_BENCH"))
    )


extensions = cythonize(
    [
        Extension(
            ".".join(path.relative_to(SOURCES).with_suffix("").parts),
            [path.as_posix()],
            depends=["setup.py"],
            extra_compile_args=FLAGS,
            extra_link_args=LINK_FLAGS,
        )
        for path in sorted(SOURCES.rglob("kernels/*.py"))
        if is_wanted(path)
    ],
    build_dir="build/kernels",  # generated C stays out of the package
    compiler_directives={
        "language_level": 3,
        "infer_types": True,
        # No checks inside: whoever calls a kernel checks what it hands over.
        "boundscheck": False,
        "initializedcheck": False,
        "wraparound": False,
        # C's division: kernels never divide negative numbers, where Python differs.
        "cdivision": True,
        # Kernels share nothing that changes but what their callers lock or hand over:
        # tests/unit/matching/test_threads.py, also with a Python that has no such lock.
        "freethreading_compatible": True,
    },
)
for extension in extensions:
    extension.optional = True  # here, because cythonize() drops it from its arguments

# One compiler for each core: most of the time of a set-up is spent here.
setup(
    ext_modules=extensions,
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
)
