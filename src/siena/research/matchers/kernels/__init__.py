"""The inner loops of ``counting``, and of ``strings``, compiled as the engine's are."""

from siena.matching.kernels import are_compiled

COMPILED = are_compiled(__name__, __path__)
"""Whether the papers' matchers are machine code here."""
