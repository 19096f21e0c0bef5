"""A script in the simulator: real routers, and nothing else that a broker has."""

from siena.messages import Lost, Message, Notify
from siena.sim.clients import Client
from siena.sim.steps import perform
from siena.sim.world import World
from worlds.judge import Judge, Tell, say_nothing
from worlds.script import Round, Script

# Worlds as small as these come to rest after a few hundred.
EVENTS_MAX = 20_000


def play_simulated(script: Script, tell: Tell = say_nothing) -> Judge:
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
    judge = Judge(script, tell)

    def hear(client: Client, message: Message) -> None:
        if isinstance(message, Notify):
            judge.hear(client.name, message.notification)
        elif isinstance(message, Lost):
            judge.miss(client.name, message.count)

    world.heard = hear
    if script.is_apart:
        for one, other in list(world.edges):
            world.disconnect(one, other)
    for name, at in script.clients.items():
        world.client(name, at)
    for number, this in enumerate(script.rounds):
        judge.begin(number, this)
        _play_round(world, judge, this)
    return judge


def _play_round(world: World, judge: Judge, this: Round) -> None:
    for hurried in this.hurried:
        judge.step(hurried.step)
        perform(world, hurried.step)
        if hurried.pause:
            pause = hurried.pause * judge.script.latency[1]
            world.scheduler.run(world.scheduler.now + pause)
    world.run()
    judge.rest(None)  # of routers, siena.sim.invariants asks more
    for step in this.judged:
        judge.step(step)
        perform(world, step)
    world.run()
    judge.compare()
