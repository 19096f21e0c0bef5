"""What the headers of dynamic receiver partitioning name, link by link.

DRP sends receivers along with a message.  The paper's header is a partition of all of
them by next hop; it is enough to send each next hop its own part.
"""

from collections.abc import Iterator
from random import Random

from siena.research.schemes.drp import DRP, Partition
from siena.research.schemes.memory import log2_ceiling
from siena.research.schemes.network import Network
from siena.research.studies.framework.rows import Row, integer, number, text
from siena.research.studies.runs.networks import topology_of, wants
from siena.routing.topology.topology import Broker

# Notifications for each row, from anywhere.
NOTIFICATIONS = 30


def name_receivers(row: Row) -> Row:
    """How many receivers packets name, and how far the receivers are.

    >>> row = {"network": "N12", "brokers": 12, "share": 0.25, "seed": 1}
    >>> found = name_receivers(row)
    >>> found["part"] == found["hops"], found["receivers"]
    (True, 3)
    """
    seed, kind = integer(row, "seed"), text(row, "network")
    topology = topology_of(kind, integer(row, "brokers"), seed)
    network = Network(topology, {b: wants(b) for b in topology.brokers})
    drp = DRP(network)
    count = max(1, round(number(row, "share") * len(topology)))
    count = min(count, len(topology) - 1)
    random = Random(f"{seed}/{kind}/headers/{count}")
    packets = part = whole = hops = 0
    for _ in range(NOTIFICATIONS):
        source = random.choice(topology.brokers)
        others = [broker for broker in topology.brokers if broker != source]
        receivers = random.sample(others, count)
        hops += sum(len(network.trees[source].path(x)) - 1 for x in receivers)
        for sent, to in _packets(drp, source, drp.part(source, receivers)):
            packets += 1
            part += len(sent[to])
            whole += sum(map(len, sent.values()))
    distances = [
        len(network.trees[v].path(x)) - 1
        for v in topology.brokers
        for x in topology.brokers
        if x != v
    ]
    return {
        "size": len(topology),
        "receivers": count,
        "identifier_bits": log2_ceiling(len(topology)),
        "packets": packets,
        "part": part,
        "whole": whole,
        "hops": hops,
        "distance": sum(distances) / len(distances),
    }


def _packets(
    drp: DRP, source: Broker, header: Partition
) -> Iterator[tuple[Partition, Broker]]:
    """Every header that is sent, and to whom, all the way to the last receiver."""
    waiting = [(source, header)]
    while waiting:
        _, sent = waiting.pop()
        for hop in sent:
            yield sent, hop
            further = drp.header(hop, sent)
            if further:
                waiting.append((hop, further))
