"""Durable subscriptions for programs: with ``await``, and without."""
