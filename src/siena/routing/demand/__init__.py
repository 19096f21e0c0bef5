"""The demand on a neighbour: the least that it must be told of what others want.

From the ground up: ``covering_order`` → ``demand``, by difference, with its slow twin
``declarative``, the rule as it is written down → ``merging``, ``announcer``; ``older``
is what a neighbour of an older version is told.
"""
