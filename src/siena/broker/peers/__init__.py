"""Neighbouring brokers, and identities that move between them.

From the ground up: ``link`` (one neighbour, once both have agreed);
``websocket_caller`` and ``websocket_called`` (the two ends of a WebSocket that carries
a link) → ``destination`` (where a neighbour is called) → ``dialer`` (one attempt to
link) → ``links`` (all of them); ``handoff_source`` (the broker that an identity leaves)
→ ``handoff`` (the one where it arrives).
"""
