"""The broker: what a process does around the router, with sockets and a clock.

From the ground up: ``limits``, ``counters``, ``ids`` → ``settings`` → ``access`` (who
has come) → ``contracts``, ``state`` (what the rooms share) → ``io`` (bytes in and out)
→ ``data`` (publications) → ``clients`` and ``peers`` (the other end of a connection) →
``log`` → ``inspect`` → ``broker``, the front → ``network`` and ``workers`` (several of
them) → ``webhooks`` and ``http``.
"""
