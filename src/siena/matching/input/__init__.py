"""Notifications and filters in bulk: Arrow batches, JSON texts, texts of filters.

From the ground up: ``numbers``, ``flat``, ``arrow_interface`` → ``arrow`` →
``json_rows``; ``filter_texts``.
"""
