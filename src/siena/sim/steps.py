"""Steps: what can happen in a world, as values, and how it happens."""

from dataclasses import dataclass
from typing import Literal, get_args

from siena.errors import SienaError
from siena.messages import (
    Advertise,
    Interest,
    Resume,
    Side,
    Subscribe,
    Suspend,
    Unadvertise,
    Unsubscribe,
)
from siena.messages.requests import filters_of
from siena.model import Advertisement, Notification, Pattern
from siena.sim.architecture import Edge
from siena.sim.network import Fault, ends
from siena.sim.world import World

Op = Literal[
    "subscribe",
    "unsubscribe",
    "advertise",
    "unadvertise",
    "publish",
    "connect",
    "disconnect",
    "lose",
    "duplicate",
    "suspend",
    "resume",
    "map_identity",
    "move",
    "crash",
    "restart",
]
OPS: tuple[Op, ...] = get_args(Op)


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing that happens: a client asks for something, or the network changes."""

    op: Op
    at: int
    client: str = ""
    handler: str = ""
    to: int = 0
    queue: int = 0
    interest: Interest | None = None
    advertisement: Advertisement | None = None
    notification: Notification | None = None


def perform(world: World, step: Step) -> None:
    """Let it happen, without waiting for what follows."""
    if step.at not in world.topology:
        raise SienaError(f"there is no broker {step.at}")
    if step.op in {"crash", "restart"}:
        (world.crash if step.op == "crash" else world.restart)(step.at)
    elif step.op in {"connect", "disconnect", "lose", "duplicate"}:
        _change_link(world, step)
    elif step.op in {"suspend", "resume", "map_identity", "move"}:
        _change_client(world, step)
    else:
        _ask(world, step)


def _ask(world: World, step: Step) -> None:
    client = world.client(step.client, step.at)
    if step.op == "publish":
        assert step.notification is not None
        world.publish(client, step.notification)
    elif step.op == "advertise":
        assert step.advertisement is not None
        client.advertise(step.advertisement)
        world.ask(client, Advertise(step.advertisement))
    elif step.op == "unadvertise":
        assert step.advertisement is not None
        client.unadvertise(step.advertisement)
        world.ask(client, Unadvertise(step.advertisement))
    else:
        assert step.interest is not None
        is_new = step.op == "subscribe"
        if isinstance(step.interest, Pattern) and not step.interest.is_simple:
            (client.add_pattern if is_new else client.remove_patterns)(step.interest)
        else:
            for f in filters_of(step.interest):
                (client.subscribe if is_new else client.unsubscribe)(f)
        world.ask(client, (Subscribe if is_new else Unsubscribe)(step.interest))


def _change_client(world: World, step: Step) -> None:
    client = world.client(step.client, step.at)
    if step.op == "suspend":
        client.is_suspended = world.ask(client, Suspend(step.queue))
    elif step.op == "resume":
        client.is_suspended = False
        world.ask(client, Resume())
    elif step.op == "map_identity":
        world.map_identity(client, step.handler)
    else:
        if step.to not in world.topology:
            raise SienaError(f"there is no broker {step.to}")
        world.move(client, step.to, step.queue)


def _change_link(world: World, step: Step) -> None:
    if step.to not in world.topology or step.to == step.at:
        raise SienaError(f"there is no broker {step.to} to be linked to")
    link = ends(step.at, step.to)
    if step.op != "connect":
        if link not in world.network:
            raise SienaError(f"brokers {step.at} and {step.to} are not linked")
        if step.op == "disconnect":
            world.disconnect(*link)
        else:
            fault: Fault = "lost" if step.op == "lose" else "duplicated"
            world.spoil_frame(*link, fault)
        return
    if link in world.network:
        raise SienaError(f"brokers {step.at} and {step.to} are linked already")
    if link not in world.edges:
        world.edges[link] = Edge(step.at, step.to, 1, _side_of_new_links(world))
    edge = world.edges[link]
    if edge.side is not Side.MESH and step.to in world.component(step.at):
        raise SienaError(f"the link between {step.at} and {step.to} closes a cycle")
    world.connect(*link)


def _side_of_new_links(world: World) -> Side:
    sides = {
        "hierarchical": Side.MASTER,
        "acyclic": Side.PEER,
        "general": Side.MESH,
    }
    if world.architecture not in sides:
        raise SienaError(f"a {world.architecture} network has no other links")
    return sides[world.architecture]
