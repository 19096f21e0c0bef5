"""Who is linked to whom, and the ways that messages take.

From the ground up: ``topology`` → ``trees`` → ``spreading`` → ``link_state`` →
``mesh``; ``linking`` stands beside them.
"""

from siena.routing.topology.topology import Topology

__all__ = ["Topology"]
