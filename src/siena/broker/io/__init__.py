"""Bytes in and out: connections, their buffers and their bounds.

From the ground up: ``backpressure`` (who waits for whom), ``outbox`` (what is sent in
this tick, and what is too much), ``role`` (what the other end is) → ``connection`` →
``tick`` (what all connections got is looked at together), ``listen``.
"""
