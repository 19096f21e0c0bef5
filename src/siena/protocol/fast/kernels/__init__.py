"""The wire's inner loops: ``framing``, compiled like the kernels of the engine."""

from siena.matching.kernels import are_compiled

COMPILED = are_compiled(__name__, __path__)
"""Whether publications are cut, and deliveries written, by machine code here."""
