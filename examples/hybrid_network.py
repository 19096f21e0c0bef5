"""A hybrid network: a ring of brokers as a backbone, and a hierarchy below one.

Inside the ring there may be cycles; the branch below looks to it like one broker.

    python examples/hybrid_network.py
"""

import siena
from siena import testing
from siena.messages import Side
from siena.routing.topology import Topology

# 1, 2 and 3 are a ring; 4 and 5 are below 3, and 6 is below 4.
LINKS = [(1, 2), (2, 3), (1, 3), (3, 4), (3, 5), (4, 6)]
# What the first of two takes the second for.
SIDES = {
    (1, 2): Side.MESH,
    (2, 3): Side.MESH,
    (1, 3): Side.MESH,
    (3, 4): Side.CHILD,
    (3, 5): Side.CHILD,
    (4, 6): Side.CHILD,
}

with (
    testing.network(Topology(LINKS), "hybrid", sides=SIDES) as brokers,
    siena.connect(brokers[1].url) as centre,
    siena.connect(brokers[6].url) as leaf,
):
    alarms = leaf.subscribe("what = alarm and level > 3").settled()
    centre.publish(what="alarm", level=2)
    for hop in centre.trace(what="alarm", level=5):
        onward = f" → {', '.join(hop.went_to)}" if hop.went_to else ""
        print(f"broker {hop.broker}{onward}")
    print("leaf:", alarms.get(timeout_s=10))
