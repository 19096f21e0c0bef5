"""From notifications to those who want them.

``table``, the ``ForwardingTable``, is the front: it keeps interests, and its ``view``
at one time asks the ``engine`` which of them match.  ``input`` reads notifications and
filters in bulk.
``matcher`` is what all matchers have in common, ``registry`` the list that each keeps,
``reference`` the one that is a loop.  ``labels``, ``answers`` and ``pieces`` are parts
of the table, ``sample`` is of the traffic that it is laid out for; ``texts`` looks for
many texts at once.
``pattern`` and ``compound`` find combinations of notifications in a stream; each is a
small machine without a clock.

The inner loops are in ``kernels``.  Where they could not be compiled everything still
works, far more slowly, and :data:`COMPILED` says so.
"""

from siena.matching.kernels import COMPILED

__all__ = ["COMPILED"]
