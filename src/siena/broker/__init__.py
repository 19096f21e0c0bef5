"""The broker: what a process does around the router, with sockets and a clock.

From the ground up: ``limits``, ``counters``, ``naming`` → ``settings`` →
``addresses``, ``worker``, ``listening`` → ``intake``, ``exchange``, ``outbox``,
``session`` → ``core`` → ``onward``, ``tracing``, ``publications`` → ``briefing``,
``away``, ``requests`` → ``hearing``, ``role``, ``connection``, ``turn`` → ``moving``,
``clients`` → ``link``, ``call``, ``links`` → ``snapshots`` → ``broker``, the room's
front → ``network``, ``workers``; then ``lobby`` for guests, and ``handlers`` and
``http``, which have rooms of their own.
"""
