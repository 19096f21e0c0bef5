"""Why the study of patterns has two ways and not three."""

from random import Random

from siena.research.studies.framework.rows import Row
from siena.research.studies.runs import patterns
from siena.routing.options import Options
from siena.sim.topologies.drawn import random_tree
from siena.sim.world import World

ROW: Row = {"clients": 20, "publications": 60, "together": 0.5}


def test_brokers_that_delegate_nothing_send_what_clients_ask_for_alone() -> None:
    """Without advertisements a broker takes patterns apart, and looks by itself."""
    tree = random_tree(10, seed=1)
    plan = patterns.draw(ROW, tree.brokers, Random(1))
    factored, alone = (
        patterns.carry(World(tree, "acyclic", Options()), plan, delegates=delegates)
        for delegates in (True, False)
    )
    assert factored == alone
    assert factored.found
