"""What must not be lost: publications with a receipt, and reading that is remembered.

From the ground up: ``limits``, ``checked_file`` (a small thing on the disk), ``owners``
→ ``receipts``, ``cursors`` → ``reading`` (who gets what, and when again), ``starts`` →
``subscribing`` (durable subscriptions as clients ask for them) → ``service``;
``over_http``, ``http_reading`` and ``json_requests`` are the same by HTTP.
"""
