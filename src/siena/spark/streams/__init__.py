"""Streams: subscriptions that change while one runs, and patterns.

``versions`` chooses a version of the table for each micro-batch; ``sequences`` →
``searching`` → ``steps`` → ``patterns`` find sequences of notifications.  ``shards`` is
how a stream remembers, for them and for rules.
"""
