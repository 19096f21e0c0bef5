"""The engine: filters compiled to flat arrays, and found again by notifications.

From the ground up: ``operands`` → ``columns`` (filters as numbers) → ``ranks``
(operands as integers), ``intervals``, ``contradictions`` (what nothing matches),
``selectivity`` (where a filter is stored), ``parts``, the room ``checking`` (what is no
interval of ranks), ``arena`` → ``layout`` →
``engine`` → ``linear_tier`` (the last few filters), ``tiers`` (what is compiled
together), ``rebuilding``, ``table_file`` (a table that processes map and share).
"""
