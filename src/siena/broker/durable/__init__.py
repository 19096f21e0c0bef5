"""What must not be lost: publications with a receipt, and reading that is remembered.

From the ground up: ``limits``, ``checked_file`` (a small thing on the disk), ``owners``
→ ``receipts``, ``cursors``, ``page`` (some records of a log) → ``member`` (a connection
that reads), ``losses`` → ``reading`` (who gets what, and when again) → ``subscribing``
(durable subscriptions as clients ask for them), ``relays`` (from store to store) →
``service``;
``over_http``, ``http_reading`` and ``json_requests`` are the same by HTTP.
"""
