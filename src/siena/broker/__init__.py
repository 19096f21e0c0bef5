"""The broker: what a process does around the router, with sockets and a clock.

From the ground up: ``limits``, ``counters``, ``naming`` → ``settings`` → ``intake``,
``exchange``, ``outbox`` → ``session`` → ``parties`` → ``publications`` → ``requests`` →
``connection`` → ``snapshots`` → ``broker``, the room's front; then ``lobby`` for
guests, and ``handlers`` and ``http``, which have rooms of their own.
"""
