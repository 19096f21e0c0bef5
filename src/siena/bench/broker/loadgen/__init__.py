"""The load generator: publishers and subscribers in a process of their own.

From the ground up: ``latency``, ``publisher``, ``subscriber`` → ``generator`` (all of
them in one loop) → ``probe`` (how long a new subscription takes) → ``worker``.
"""
