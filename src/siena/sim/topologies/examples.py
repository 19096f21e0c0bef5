"""The small networks that our specification names.

The figures of the papers are lost; weights were reconstructed so that everything the
text says about them holds (E.9).
"""

from siena.routing.topology.topology import Topology

# TR0605, Figures 1, 2 and 4.  All shortest paths are unique.
N12 = Topology(
    [
        (1, 2, 7),
        (1, 5, 2),
        (1, 6, 3),
        (2, 3, 2),
        (2, 6, 2),
        (3, 4, 7),
        (3, 7, 7),
        (4, 8, 2),
        (5, 9, 2),
        (6, 7, 2),
        (6, 9, 2),
        (7, 8, 2),
        (7, 10, 4),
        (7, 11, 3),
        (8, 12, 4),
        (9, 10, 2),
        (10, 11, 6),
        (11, 12, 2),
    ]
)

# N12 with a tie: 5 reaches 6 through 1 or through 9.
N12T = Topology([(a, b, 2 if (a, b) == (1, 6) else w) for a, b, w in N12.links])

# TR0605, Figure 3: per-interface forwarding sends too much here.
N4 = Topology([(1, 2, 2), (1, 4, 1), (3, 4, 1), (2, 3, 1)])

# T-E7: a tie for broker 5 that makes a shortest-path tree larger than it need be.
TIE = Topology([(1, 2), (1, 3), (2, 4), (2, 5), (3, 5)])

# T-C20: pruned receiver advertisements lose a route here.
PRUNED = Topology([(1, 3, 1), (2, 3, 1), (2, 4, 1), (1, 4, 2)])

# T-C23: the manual workload of the authors' simulator; brokers from 0.
MANUAL = Topology(
    [
        (0, 1, 8),
        (0, 2, 45),
        (2, 3, 56),
        (1, 3, 32),
        (3, 4, 62),
        (1, 4, 30),
        (2, 4, 37),
    ]
)

# T-B24b: pruning by covering alone loses a notification on this ring.
RING7 = Topology(
    [
        (1, 2, 49),
        (2, 3, 206),
        (3, 4, 577),
        (4, 5, 633),
        (5, 6, 394),
        (6, 7, 324),
        (1, 7, 106),
    ]
)

EXAMPLES = {
    "N12": N12,
    "N12t": N12T,
    "N4": N4,
    "tie": TIE,
    "pruned": PRUNED,
    "manual": MANUAL,
    "ring7": RING7,
}
"""By the names under which a command may ask for them."""
