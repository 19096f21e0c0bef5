"""Neighbouring brokers, and identities that move between them.

From the ground up: ``bounds`` (what a neighbour may take), ``pulse`` and ``standstill``
(whether it is there, and takes anything) → ``link`` (one, once both have agreed) →
``gaps`` (what may have been lost while there was none);
``websocket_caller`` and ``websocket_called`` (the two ends of a WebSocket that carries
a link) → ``destination`` (where a neighbour is called) → ``dialer`` (one attempt to
link, by ``callers``) → ``links`` (all of them); ``handoff_source`` (the broker that an
identity leaves) → ``handoff_tasks`` (the one where it arrives).
"""
