"""The load generator's inner loops: ``stamping``, ``cutting`` and ``checking``.

Python could neither send nor check millions of notifications a second.  They are
compiled like the kernels of :mod:`siena.matching.kernels`, but only where benchmarks
are wanted: nothing of the product uses them.
"""

from siena.errors import SienaError
from siena.matching.kernels import COMPILED as PRODUCT_COMPILED, are_compiled

COMPILED = are_compiled(__name__, __path__)
"""Whether the load generator is machine code here."""


def require_compiled() -> None:
    """Refuse to measure Python.

    Raises:
        SienaError: if the product's kernels are not compiled, or the load generator's.
    """
    if not PRODUCT_COMPILED:
        raise SienaError(
            "the kernels are not compiled, and would be measured as Python",
            hint="install a C compiler and run make setup",
        )
    if not COMPILED:
        raise SienaError(
            "the load generator's kernels are compiled only where they are asked for",
            hint="in a clone: make setup, or SIENA_BENCH=1 pip install .",
        )
