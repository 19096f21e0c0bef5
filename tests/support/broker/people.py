"""A broker at which each connection is who its name says: no credentials needed."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from siena.broker.access.grants.roles import role_settings
from siena.broker.access.principal import LOCAL, Principal
from siena.broker.access.settings import Access
from siena.broker.broker import Broker
from siena.broker.io.connection import Connection
from siena.broker.settings import Settings
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

    def connect(self, connection: Connection, body: Connect) -> None:
        """Ask for nothing."""
        connection.principal = PEOPLE.get(body.name or "", self.others)
        self._connected(connection, body)

    async def start(self) -> None:
        """Let nobody's name end."""
        await super().start()
        self.leases.renew = lambda access: None  # type: ignore[method-assign]  # noqa: ARG005


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
