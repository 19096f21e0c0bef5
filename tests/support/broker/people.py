"""A broker at which each connection is who its name says: no credentials needed."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from siena.broker.access.grants.roles import role_settings
from siena.broker.access.principal import LOCAL, Principal
from siena.broker.broker import Broker
from siena.broker.clients.client import Client
from siena.broker.clients.in_process_client import InProcessClient
from siena.broker.io.connection import Connection
from siena.broker.settings import Access, Settings
from siena.protocol.control_frames import Connect
from wire import hang_up

PEOPLE = {
    name: Principal(name, roles=(name,)) for name in ("ann", "bob", "eve", "root")
}


def access(**roles: Mapping[str, Any]) -> Access:
    """Roles, as a file has them."""
    return Access(roles=role_settings(roles))


class NamedBroker(Broker):
    """One that believes what it is told."""

    others = LOCAL

    def admit(
        self, who: Connection | InProcessClient, body: Connect
    ) -> tuple[Client, bool]:
        """Take the name for the principal."""
        who.principal = PEOPLE.get(body.name or "", self.others)
        return super().admit(who, body)


@asynccontextmanager
async def named(settings: Settings) -> AsyncIterator[NamedBroker]:
    """Such a broker, at a free port."""
    broker = NamedBroker(settings)
    await broker.start()
    try:
        yield broker
    finally:
        await broker.drain()
        hang_up()
