"""Notifications and filters in bulk: blocks, Arrow batches, JSON texts, filters.

From the ground up: ``buffers``, blocks back to back; ``flat``,
``arrow_interface`` → ``arrow`` → ``json_rows``; ``filter_texts``.
"""
