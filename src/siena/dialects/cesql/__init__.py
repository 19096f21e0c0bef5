"""CloudEvents SQL 1.0, the expression language of CloudEvents subscriptions.

``types`` (what is known before anything is evaluated), ``functions`` → ``reader``.

Reference:
    CloudEvents SQL Expression Language, version 1.0.0.
"""

from siena.dialects.cesql.reader import read_cesql, read_cesql_filter

__all__ = ["read_cesql", "read_cesql_filter"]
