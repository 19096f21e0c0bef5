"""``siena bench match``: matchers beside each other, on the same notifications.

From the ground up: ``workload`` (which filters and notifications) → ``contenders`` and
``views`` (each matcher, and the engine asked in several ways) → ``rounds`` (all agree,
then round after round is timed) → ``report``, ``plot``.
"""
