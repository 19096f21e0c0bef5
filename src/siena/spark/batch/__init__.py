"""Tables of notifications: matched, tried on history, reduced.

From the ground up: ``compiling`` (subscriptions into a file, with ``piecework``; no
Spark yet) → ``shipping`` → ``rows``, ``columns``, ``worker`` (what a task does) →
``attributes``, ``asking`` → ``matching``, ``parquet`` → ``backtesting``, ``reducing``;
``join`` is the oracle: plain SQL, no engine.
"""
