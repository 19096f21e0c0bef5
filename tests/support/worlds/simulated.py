"""A script in the simulator: real routers, and nothing else that a broker has."""

from siena.messages import Lost, Message, Notify
from siena.sim.clients import Client
from siena.sim.steps import perform
from siena.sim.world import World
from worlds.invariants import Invariants, Tell, say_nothing
from worlds.script import Round, Script

# Worlds as small as these come to rest after a few hundred.
EVENTS_MAX = 20_000


def play_simulated(script: Script, tell: Tell = say_nothing) -> Invariants:
    """Play a script in a simulated world.

    Raises:
        Violation: if the world does what it must not.
    """
    world = World(
        script.topology,
        script.architecture,
        script.options,
        seed=script.seed,
        latency=script.latency,
    )
    world.scheduler.events_max = EVENTS_MAX
    invariants = Invariants(script, tell)

    def hear(client: Client, message: Message) -> None:
        if isinstance(message, Notify):
            invariants.hear(client.name, message.notification)
        elif isinstance(message, Lost):
            invariants.miss(client.name, message.count)

    world.heard = hear
    if script.is_apart:
        for one, other in list(world.edges):
            world.disconnect(one, other)
    for name, at in script.clients.items():
        world.client(name, at)
    for number, this in enumerate(script.rounds):
        invariants.begin(number, this)
        _play_round(world, invariants, this)
    return invariants


def _play_round(world: World, invariants: Invariants, this: Round) -> None:
    for hurried in this.hurried:
        invariants.step(hurried.step)
        perform(world, hurried.step)
        if hurried.pause:
            pause = hurried.pause * invariants.script.latency[1]
            world.scheduler.run(world.scheduler.now + pause)
    world.run()
    invariants.rest(None)  # of routers, siena.sim.invariants asks more
    for step in this.judged:
        invariants.step(step)
        perform(world, step)
    world.run()
    invariants.compare()
