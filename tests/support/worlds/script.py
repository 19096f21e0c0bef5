"""Scripts: what happens in a world, written down before it happens.

A script goes through rounds.  In each a few things happen in a hurry, while messages
are on their way; then the world comes to rest, and some publish in a row: what becomes
of these is judged exactly.  Every notification has a number of its own, so that it is
known wherever it turns up.
"""

from dataclasses import dataclass
from typing import Literal

from siena.model import Notification
from siena.routing.options import Options
from siena.routing.topology.topology import Topology
from siena.sim.architecture import Architecture
from siena.sim.steps import Step

# The attribute that tells notifications apart.
NUMBER = "n"
# What a suspended client has kept for it: nothing, little, all of it.
NONE_KEPT, FEW_KEPT, ALL_KEPT = 0, 2, 500
# As much is kept for one who just hangs up, so that is how running clients do it: one
# who suspends hangs up until there is something to say, and one who moves asks its new
# broker for everything itself.  In the simulator there is no difference.
ABSENT_KEPT = 1_000
# How many times as slow as others a slow link is.
SLOWNESS = 5.0

# Calm: clients change their minds.  Gentle: they only ask for more, and move.  Storm:
# links go down and up.
Kind = Literal["calm", "gentle", "storm"]
Ends = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Hurried:
    """A step, and the share of a link's longest delay that passes after it."""

    step: Step
    pause: float


@dataclass(frozen=True, slots=True)
class Round:
    """What happens in a hurry, and what is published once everything rests."""

    kind: Kind
    hurried: tuple[Hurried, ...]
    judged: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Script:
    """A world, and all that happens in it."""

    seed: int
    architecture: Architecture
    topology: Topology
    options: Options
    latency: tuple[float, float]
    # The links that are slow where links can differ; in the simulator all are alike.
    slow: frozenset[Ends]
    is_apart: bool  # in the beginning no link is up
    clients: dict[str, int]
    rounds: tuple[Round, ...]

    def __str__(self) -> str:
        options = self.options
        return (
            f"{self.architecture}, {len(self.topology.brokers)} brokers, "
            f"{options.forwarding} forwarding, covering {options.covering}, "
            f"merging {options.merging}, {options.paths} paths, "
            f"delays {self.latency[0]} to {self.latency[1]} s, slow {sorted(self.slow)}"
        )


def number_of(notification: Notification) -> int:
    """The number that a script has given to a notification."""
    number = notification[NUMBER]
    assert isinstance(number, int)
    return number


def said(step: Step) -> str:
    """A step in words.

    >>> said(Step(op="move", client="ann", at=1, to=3))
    'ann at 1: move to 3'
    >>> said(Step(op="disconnect", at=2, to=3))
    'broker 2: disconnect from 3'
    """
    about: object = step.notification or ""
    if step.to:
        about = f"{'from' if step.op == 'disconnect' else 'to'} {step.to}"
    elif step.op == "suspend":
        about = f"and keep {step.queue}"
    elif step.op in {"subscribe", "unsubscribe"}:
        about = step.interest
    elif step.op in {"advertise", "unadvertise"}:
        about = step.advertisement
    who = f"{step.client} at {step.at}" if step.client else f"broker {step.at}"
    return f"{who}: {step.op} {about}".rstrip()
