"""A scenario carried by simulated brokers, message by message."""

import random

from siena.messages import (
    Advertise,
    Message,
    Notify,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from siena.model import Advertisement, Constraint, Filter, Notification, Operator
from siena.research.scenarios.behaviour import Party
from siena.sim.clients import Client
from siena.sim.network import Fault
from siena.sim.world import World


class CarriedByBrokers:
    """The clients of a world are the objects and parties of a scenario.

    An event is one attribute, and filters are equality on it, as in the papers.
    """

    def __init__(self, world: World) -> None:
        self.world = world
        self.scheduler = world.scheduler
        self.account = world.network.account
        self._parties: dict[str, Party] = {}
        self._filters: dict[str, Filter] = {}
        self._advertisements: dict[str, Advertisement] = {}
        self._notifications: dict[str, Notification] = {}
        world.network.is_traced = False
        world.heard = self._hear

    def subscribe(self, who: Party) -> None:
        """A party asks its broker."""
        self._parties[who.name] = who
        client = self.world.client(who.name, who.site)
        self.world.ask(client, Subscribe(self._filter(who.event)))

    def unsubscribe(self, who: Party) -> None:
        """A party asks its broker to forget."""
        client = self.world.client(who.name, who.site)
        self.world.ask(client, Unsubscribe(self._filter(who.event)))

    def advertise(self, name: str, site: int, event: str) -> None:
        """An object tells its broker, where brokers listen to that."""
        if self.world.options.is_advertising:
            client = self.world.client(name, site)
            self.world.ask(client, Advertise(self._advertisement(event)))

    def unadvertise(self, name: str, site: int, event: str) -> None:
        """An object tells its broker that it has finished."""
        if self.world.options.is_advertising:
            client = self.world.client(name, site)
            self.world.ask(client, Unadvertise(self._advertisement(event)))

    def publish(self, name: str, site: int, event: str) -> None:
        """An object publishes at its broker."""
        found = self._notifications.get(event)
        if found is None:
            found = self._notifications[event] = Notification(event=event)
        self.world.publish(self.world.client(name, site), found)

    def spoil(self, fault: Fault, rng: random.Random) -> None:
        """Something happens to the next frame of a random link."""
        one, other = rng.choice(sorted(self.world.edges))
        self.world.spoil_frame(one, other, fault)

    def finish(self) -> None:
        """Nothing is held back."""

    def _hear(self, client: Client, message: Message) -> None:
        if isinstance(message, Notify):
            client.received.clear()  # nobody will look at them again
            self._parties[client.name].receive()

    def _filter(self, event: str) -> Filter:
        if event not in self._filters:
            self._filters[event] = Filter([Constraint("event", Operator.EQ, event)])
        return self._filters[event]

    def _advertisement(self, event: str) -> Advertisement:
        if event not in self._advertisements:
            wanted = self._filter(event).constraints
            self._advertisements[event] = Advertisement(wanted)
        return self._advertisements[event]
