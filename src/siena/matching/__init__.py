"""From notifications to those who want them.

``counting`` finds all filters that match a notification.  ``pattern`` and
``compound`` find combinations of notifications in a stream; each is a small machine
without a clock, fed by whoever owns the stream.

The inner loops are in ``kernels``.  Where they could not be compiled everything still
works, far more slowly, and :data:`COMPILED` says so.
"""

from siena.matching.kernels import COMPILED

__all__ = ["COMPILED"]
