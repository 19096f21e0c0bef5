"""``siena demo``: a real day, through five brokers and through Spark.

From the ground up: ``day`` (its world) → ``brokers``, ``covering``, ``network`` and
``spark`` (its parts) → ``result`` → ``charts``, ``report`` → ``command``.
"""
