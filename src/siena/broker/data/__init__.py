"""The way of publications: matched in one call, laid out, sent on.

From the ground up: ``licence_entries`` (what it knows of licences) → ``exchange`` (who
wants what, as bytes for each connection) →
``client_entries`` (what it knows of clients), ``neighbour_entries`` (and of
neighbours), ``licences`` (what sources may publish) → ``batch`` →
``forwarder`` (to neighbours, patterns and the offline) → ``tracing`` →
``publish_batch`` (all that came in one tick); ``table_compactor`` has the tables
compiled in a thread once interests rest.
"""
