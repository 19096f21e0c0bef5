"""The broker: what a process does around the router, with sockets and a clock.

From the ground up: ``limits``, ``counters``, ``ids`` → ``settings``, with
``settings_errors`` → ``access`` (who has come) → ``contracts``, ``state`` (what the
rooms share) → ``io`` (bytes in and out) → ``data`` (publications) → ``clients`` and
``peers`` (the other end of a connection) → ``log`` → ``durable`` (what must not be
lost) → ``inspect`` → ``broker``, the front → ``network`` and ``workers`` (several of
them) → ``webhooks``, ``questions`` (why not, and what is wanted) and ``http``, with
``metric_help``.  ``logs`` and ``memory`` are about the process.
"""
