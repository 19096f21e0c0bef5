"""The load generator's inner loops: ``stamping``, ``cutting`` and ``checking``.

Python could neither send nor check millions of notifications a second.  They are
compiled like the kernels of :mod:`siena.matching.kernels`, and only the load generator
uses them.
"""

from siena.matching.kernels import are_compiled

COMPILED = are_compiled(__name__, __path__)
"""Whether the load generator is machine code here."""
