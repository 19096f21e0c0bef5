"""A broker that asks who comes, and credentials of every kind for it."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from msgspec import structs

from http_wire import asking
from siena.broker.access.credentials import Credentials, save_credentials
from siena.broker.access.grants.roles import PeerSettings, RoleSettings
from siena.broker.access.settings import Access
from siena.broker.broker import Broker
from siena.broker.http.server import HttpServer
from siena.broker.settings import AuditLog, HandlerSettings, Log, Settings
from siena.client.tokens import narrow_token, new_token
from wire import serving

# What those may who have shown who they are.
ALL = RoleSettings(
    publish="[]",
    subscribe="[]",
    inspect="[]",
    peer=PeerSettings(import_="[]", export="[]"),
    hold=True,
    beyond="refuse",
)
# What those may who may less than others ask for: no more than x.
LESS = RoleSettings(
    publish="x any", subscribe="x any", inspect="what = none", beyond="refuse"
)


@dataclass
class Guarded:
    """A broker with access control, its HTTP side, and credentials for it."""

    broker: Broker
    server: HttpServer
    client: httpx.AsyncClient
    tokens: dict[str, str | None]
    file: Path
    _written: list[dict[str, Any]] = field(default_factory=list)
    _read_to: int = 0

    @property
    def audit(self) -> list[dict[str, Any]]:
        """What was written down; what was read before is not read again."""
        with Path(self.broker.settings.audit.path or "").open("rb") as file:
            file.seek(self._read_to)
            self._written += map(json.loads, file)
            self._read_to = file.tell()
        return list(self._written)


def make_tokens(file: Path, identity: str = "ann") -> dict[str, str | None]:
    """Credentials of every kind, of which this file knows some."""
    good, expired, unknown, revoked, less = (new_token() for _ in range(5))
    known = Credentials().with_token(good, identity, ("all",), made_at=0.0)
    known = known.with_token(expired, identity, ("all",), made_at=0.0, expires_at=1.0)
    known = known.with_token(revoked, identity, ("all",), made_at=0.0)
    known = known.with_token(less, "lee", ("less",), made_at=0.0)
    save_credentials(file, known.without(revoked.number))
    return {
        "without": None,
        "wrong": f"siena1.{good.number}.{unknown.proof}",
        "unknown": unknown.text,
        "revoked": revoked.text,
        "expired": expired.text,
        "narrower, expired": narrow_token(expired.text, "x any"),
        "narrower": narrow_token(good.text, "x any", for_s=3600),
        "less": less.text,
        "good": good.text,
    }


@asynccontextmanager
async def guarded(folder: Path, **more: Any) -> AsyncIterator[Guarded]:  # noqa: ANN401 -- any setting
    """A broker that asks, with a log, that links to others and calls web hooks."""
    file = folder / "credentials.json"
    tokens = make_tokens(file)
    settings = Settings(
        name="b1",
        listen=("127.0.0.1:0",),
        accept_peers=True,
        access=Access(credentials=str(file), roles={"all": ALL, "less": LESS}),
        audit=AuditLog(path=str(folder / "audit.jsonl")),
        log=Log(path=str(folder / "log")),
        handlers=HandlerSettings(allow=("http://127.0.0.1:9/",)),
    )
    async with serving(structs.replace(settings, **more)) as broker:
        server = HttpServer(broker, "127.0.0.1:0")
        await server.start()
        async with asking(server.url) as client:
            try:
                yield Guarded(broker, server, client, tokens, file)
            finally:
                await server.drain()
