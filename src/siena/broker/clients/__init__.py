"""Clients of a broker: who they are, what they asked for, and what waits for them.

From the ground up: ``session`` (a client, as long as it is remembered), ``letters``
(what the router has for it, as frames), ``reading`` (an interest from its text) →
``requests`` and ``cancelling`` (what it asks for, carried out), ``granting`` (what it
may, when that changes) → ``in_process_client`` → ``client`` (the other end of a
connection) → ``in_process_entry`` (clients without a connection, such as those of
HTTP).  ``entrance`` has those of whom it is not known yet who they are, ``remembered``
the identities that outlive the broker.
"""
