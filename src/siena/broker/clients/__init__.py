"""Clients of a broker: who they are, what they asked for, and what waits for them.

From the ground up: ``session`` (what a client asked for) → ``offline_queue`` (what is
kept while it is away) → ``requests`` (what it asks for, carried out) → ``client`` (the
handshake, then the client) → ``in_process_client`` and ``in_process_entry`` (clients
without a connection, such as those that come by HTTP).
"""
