"""From notifications to those who want them.

``table``, the ``ForwardingTable``, is the front: it keeps interests, and its ``view``
at one time asks the ``engine`` which of them match.  ``input`` reads notifications and
filters in bulk.
``matcher`` is what all matchers have in common, ``reference`` the one that is a loop.
``pattern`` and ``compound`` find combinations of notifications in a stream; each is a
small machine without a clock.

The inner loops are in ``kernels``.  Where they could not be compiled everything still
works, far more slowly, and :data:`COMPILED` says so.
"""

from siena.matching.kernels import COMPILED

__all__ = ["COMPILED"]
