"""Moves that once went wrong, each as a script of its own."""

import pytest

from siena.lang.parser import parse_filter
from siena.model import Notification
from siena.routing.options import Options
from siena.routing.topology.topology import Topology
from siena.sim.architecture import Architecture
from siena.sim.steps import Op, Step
from worlds.compare import PLAYS
from worlds.script import ALL_KEPT, Hurried, Round, Script


def step(
    op: Op, client: str, at: int, x: int = 0, *, to: int = 0, keep: int = 0
) -> Step:
    """A step of one whose filter is always ``x > 0``, and whose notification is x."""
    return Step(
        op=op,
        client=client,
        at=at,
        to=to,
        queue=keep,
        interest=parse_filter("x > 0"),
        notification=Notification(n=x, x=x) if x else None,
    )


@pytest.mark.parametrize("kind", ["calm", "gentle"])
@pytest.mark.parametrize("architecture", ["acyclic", "general", "hierarchical"])
@pytest.mark.parametrize("on", ["simulator", "virtual"])
def test_what_was_got_at_the_old_broker_does_not_come_again_over_a_slow_link(
    on: str, architecture: Architecture, kind: str
) -> None:
    """Ann has it from broker 1 and goes to broker 3, where it arrives later for Bob."""
    asked = (step("subscribe", "ann", 1), step("subscribe", "bob", 3))
    went = (step("publish", "cat", 1, 7), step("move", "ann", 1, to=3, keep=ALL_KEPT))
    script = Script(
        seed=1,
        architecture=architecture,
        topology=Topology([(1, 2), (2, 3)]),
        options=Options(),
        latency=(0.4, 0.4),
        slow=frozenset({(2, 3)}),
        is_apart=False,
        clients={"ann": 1, "bob": 3, "cat": 1},
        rounds=(
            Round("calm", tuple(Hurried(s, 0.0) for s in asked), ()),
            Round(
                "gentle" if kind == "gentle" else "calm",
                tuple(Hurried(s, 0.1) for s in went),
                (step("publish", "cat", 1, 8),),
            ),
        ),
    )
    told: list[str] = []
    invariants = PLAYS[on](script, told.append)
    assert [line for line in told if "gets n = 7" in line] == [
        "    ann gets n = 7 and x = 7",
        "    bob gets n = 7 and x = 7",
    ]
    assert invariants.reached[-1] == {"ann": (8,), "bob": (8,), "cat": ()}
