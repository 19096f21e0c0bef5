"""Clients of a broker: who they are, what they asked for, and what waits for them.

From the ground up: ``session`` (a client, as long as it is remembered), ``letters``
(what the router has for it, as frames) → ``requests`` and ``cancelling`` (what it asks
for, carried out) → ``client`` (the other end of a connection) → ``in_process_client``
and ``in_process_entry`` (clients without a connection, such as those of HTTP).
"""
