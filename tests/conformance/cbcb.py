"""Scripts for the combined broadcast and content-based protocol, played by our world.

The fields are those that ``conformance/cbcb.json`` describes.
"""

from collections import Counter

from conformance.kit import Case, case_of, parse_notification, parse_predicate
from siena.research.cbcb.node import Options
from siena.research.cbcb.world import CbcbWorld, Layer
from siena.routing.topology.topology import Topology


def play(name: str) -> None:
    """Play one script, once on each broadcast layer that it asks for."""
    case = case_of("cbcb", name)
    layers: list[Layer] = case.get("layers", ["shortest paths"])
    for layer in layers:
        stage = _Stage(case, layer)
        for number, step in enumerate(case["steps"], start=1):
            stage.take(step, f"{name}, step {number}, {layer}")


class _Stage:
    """The world of a script, and what to compare its next step with."""

    def __init__(self, case: Case, layer: Layer) -> None:
        topology = Topology([tuple(link) for link in case["links"]])
        options = Options(**case.get("options", {}))
        self._world = CbcbWorld(topology, options, layer=layer)
        self._in_vain = 0

    def take(self, step: Case, where: str) -> None:
        """Do what a step says until nothing is on its way, and compare."""
        world = self._world
        packets, received, start = world.packets.copy(), self._received(), world.now
        self._act(step, where)
        for kind, count in step.get("packets", {}).items():
            assert world.packets[kind] - packets[kind] == count, where
        if "received" in step:
            came = self._received() - received
            assert came == Counter(step["received"]), where
        if "distance" in step:
            assert world.now - start == step["distance"], where
        for broker, table in step.get("tables", {}).items():
            for neighbour, text in table.items():
                wanted = world.nodes[int(broker)].table.wanted(int(neighbour))
                assert wanted == parse_predicate(text).filters, where

    def _act(self, step: Case, where: str) -> None:
        world = self._world
        match step:
            case {"want": text, "at": broker}:
                world.want(broker, parse_predicate(text))
            case {"request": broker}:
                world.request(broker)
            case {"publish": text, "at": broker, "delivered": delivered}:
                publication = world.publish(broker, parse_notification(text))
                world.run()
                assert dict(publication.received) == dict.fromkeys(delivered, 1), where
                assert publication.missing == set(step.get("missing", ())), where
                return
            case _:
                expected = step["in_vain"]
                assert (self._unmatched() > self._in_vain) is expected, where
        world.run()
        self._in_vain = self._unmatched()

    def _received(self) -> Counter[int]:
        nodes = self._world.nodes.items()
        return Counter({broker: node.counters.received for broker, node in nodes})

    def _unmatched(self) -> int:
        return sum(node.counters.unmatched for node in self._world.nodes.values())
