"""Bytes in and out: connections, their buffers and their bounds.

From the ground up: ``backpressure`` (who waits for whom) → ``receive_buffer`` (what
came and is not understood yet; :mod:`siena.protocol.fast` cuts it), ``outbox`` (what
is sent in this tick, and what is too much), ``role`` → ``connection`` → ``tick`` (what
all connections got is looked at together), ``listen``.
"""
