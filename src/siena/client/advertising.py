"""Advertisements in force: what a client says it will publish, and who wants it."""

import asyncio
from collections.abc import AsyncIterator
from typing import Self

from siena.client.core.reading import Handle
from siena.client.core.registrations import RegisteredAdvertisement
from siena.client.core.session import Session


class Advertising(Handle):
    """A promise to publish within an advertisement, and whether it is wanted.

    It stands until it is closed, or its client is; over every reconnection the broker
    is told again.
    """

    def __init__(self, session: Session, registered: RegisteredAdvertisement) -> None:
        self._session = session
        self._registered = registered
        self._is_closed = False

    @property
    def advertisement(self) -> str:
        """What may be published, in the words of the language."""
        return self._registered.advertisement

    @property
    def number(self) -> int:
        """The number under which the broker knows it."""
        return self._registered.number

    @property
    def quenched(self) -> bool:
        """Whether nothing of it is wanted, as far as the broker has said."""
        return self._registered.answered.is_open and self._registered.is_quenched

    async def settled(self) -> Self:
        """Wait until the broker has said whether it is wanted, and return it.

        Raises:
            RequestRefusedError: if the broker does not want it.
        """
        await self._registered.answered.passed()
        return self

    async def wanted(self) -> None:
        """Wait until something of it is wanted."""
        await self._registered.wanted.passed()

    async def states(self) -> AsyncIterator[bool]:
        """Whether it is quenched: now, and again whenever that changes.

        Who reads slowly may miss a state and the one after it, never the last.
        """
        said: bool | None = None
        while not self._is_closed:
            await self._registered.answered.passed()
            if said != self.quenched:
                said = self.quenched
                yield said
            else:
                await self._registered.changed()

    def _end(self) -> asyncio.Future[None] | None:
        self._is_closed = True
        self._registered.stop()
        return self._session.unadvertise(self._registered)

    def __repr__(self) -> str:
        return f"<Advertising {self.number}: {self.advertisement}>"
