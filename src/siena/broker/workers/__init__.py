"""Workers: several processes that serve one port, and together are one broker.

From the ground up: ``worker`` (who one of them is) → ``socket_passing`` (a connection
goes from one process to another) → ``process`` (what a worker does) → ``supervisor``,
which starts them, starts anew what has died, and ends them.

The system hands each new connection to one of them.  Each has a router and a table of
its own; they are linked to the first, the hub, and publications go between them in runs
as between any brokers.  What there must be once is at the hub: identities, whose
connections are passed to it, links to other brokers, and HTTP.
"""
