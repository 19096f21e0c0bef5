"""Chaos: real brokers, real faults, and a ledger that says what became of each promise.

From the ground up: ``proxy`` (a way between two brokers, which can be cut),
``moved_clock`` (a broker whose clock can be wrong), ``ledger`` (what was published, and
who got it) → ``client_process``, ``mortals`` (clients that are killed) → ``cast``
(brokers, publishers, subscribers) → ``faults`` → ``run``.
"""
