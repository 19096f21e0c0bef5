"""Batches of sinks: ``staging`` → ``idempotent_batches``, published once."""
