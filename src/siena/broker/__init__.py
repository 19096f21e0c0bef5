"""The broker: what a process does around the router, with sockets and a clock.

From the ground up: ``limits``, ``counters``, ``naming`` → ``settings`` → ``intake``,
``exchange``, ``outbox`` → ``session`` → ``parties`` → ``publications`` → ``requests`` →
``connection`` → ``broker``, the room's front.
"""
