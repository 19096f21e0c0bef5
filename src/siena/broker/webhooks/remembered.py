"""Handlers that outlive their broker, where it has a log.

Which identity has which handler is written down in a file beside the log, with who has
asked for it: what that principal may is looked up anew when the broker is back.
"""

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import msgspec
from msgspec import Struct

from siena.broker.access.authenticator import Authenticator
from siena.broker.access.principal import LOCAL, Principal
from siena.broker.durable.checked_file import CheckedFile, read_checked
from siena.broker.log.files import SYSTEM, Files
from siena.broker.webhooks.durable import WantedDurable
from siena.errors import SienaError
from siena.protocol.error_codes import Fault, ProtocolError

log = logging.getLogger("siena.broker")

FILE = "handlers.state"


class Asker(Struct, frozen=True, omit_defaults=True):
    """The principal that has asked, as its credential has it; no secret is in it."""

    identity: str | None = None
    roles: tuple[str, ...] = ()
    claims: dict[str, str] = {}
    expires_at: float | None = None
    credential: str = ""

    @classmethod
    def of(cls, principal: Principal) -> "Asker | None":
        """What is written down of a principal; of one that was not asked, nothing."""
        if principal.is_local:
            return None
        shown = principal.shown or principal
        return cls(
            *(shown.identity, shown.roles, dict(shown.claims)),
            *(shown.expires_at, shown.credential),
        )

    def principal(self) -> Principal:
        """The principal, before settings give it more roles."""
        return Principal(
            *(self.identity, self.roles, self.claims),
            expires_at=self.expires_at,
            credential=self.credential,
        )


class HandlerLine(Struct, frozen=True, omit_defaults=True):
    """An identity, and where its notifications go."""

    identity: str
    handler: str
    asker: Asker | None = None
    durable: WantedDurable | None = None


class RememberedHandlers:
    """The file of a broker's handlers.

    Ownership: of the file, from :meth:`take_up` to :meth:`close`.
    """

    def __init__(
        self,
        folder: Path,
        lines: Callable[[], list[HandlerLine]],
        files: Files = SYSTEM,
    ) -> None:
        self._path = folder / FILE
        self._file = CheckedFile(
            self._path, lambda: msgspec.json.encode(lines()), files
        )

    def take_up(
        self, access: Authenticator, *, is_open: bool
    ) -> list[tuple[HandlerLine, Principal]]:
        """All that still may; of the others it is said that they do not.

        Raises:
            SienaError: if the file is damaged.
        """
        try:
            lines = msgspec.json.decode(
                read_checked(self._path) or b"[]", type=list[HandlerLine]
            )
        except msgspec.MsgspecError as error:
            raise SienaError(f"{self._path} cannot be understood: {error}") from None
        found = []
        for line in lines:
            principal: Principal | None
            if line.asker is None:
                principal = LOCAL if is_open else None
            else:
                principal = access.renewed(line.asker.principal())
            if principal is None:
                text = "%s has its handler no more: the credential counts no more"
                log.warning(text, line.identity)
            else:
                found.append((line, principal))
        return found

    async def save(self) -> None:
        """Write them down; returns when the disk has them.

        Raises:
            ProtocolError: if it does not take them.
        """
        saved: asyncio.Future[OSError | None]
        saved = asyncio.get_running_loop().create_future()
        self._file.save(saved.set_result)
        failure = await asyncio.shield(saved)
        if failure is not None:
            text = f"the disk does not take it: {failure}"
            raise ProtocolError(Fault.NOT_STORED, text)

    async def close(self) -> None:
        """Write them down for the last time."""
        await self._file.close()
