"""Those who show nothing: let in where a role is for them, and told nothing else."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace
from websockets.asyncio.client import connect as connect_ws

from broker.access import ALL, Guarded, guarded
from siena.broker.access import attempts
from siena.broker.access.grants.roles import RoleSettings
from siena.broker.access.settings import Access
from siena.broker.broker import Broker
from siena.broker.settings import Settings
from siena.errors import SienaError
from siena.protocol.control_frames import Connect, Error, Settled, Subscribe
from siena.protocol.durable.reading import DurableSubscribe
from siena.protocol.handshake import PREFACE
from wire import connect, open_wire

PUBLIC = RoleSettings(subscribe="public = true")


def opened(found: Guarded, *anonymous: str) -> Settings:
    """The settings of a broker that lets everybody hear what is public."""
    access = found.broker.settings.access
    assert access is not None
    roles = {**access.roles, "public": PUBLIC}
    new = replace(access, roles=roles, anonymous=anonymous)
    return replace(found.broker.settings, access=new)


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "DELAY_SECONDS", 0.0)


async def test_by_default_nobody_is_let_in_without_a_credential(tmp_path: Path) -> None:
    async with guarded(tmp_path) as found:
        assert (await found.client.get("/subscribe?filter=[]")).status_code == 401
        wire = await open_wire(found.broker)
        wire.send(PREFACE + Connect(1).pack())
        said = await wire.next()
        assert isinstance(said, Error)
        assert said.fault == 211


async def test_a_role_is_for_those_who_show_nothing(tmp_path: Path) -> None:
    async with guarded(tmp_path) as found:
        found.broker.reload(opened(found, "public"))
        anybody = await connect(found.broker)
        anybody.send(Subscribe(1, "x any"))
        assert await anybody.next() == Settled(1, "public = true and x any")
        for body, number in (
            (Subscribe(2, "x any then y any"), None),
            (DurableSubscribe(3, "x any", "d"), 110),
        ):
            anybody.send(body)
            said = await anybody.next()
            assert getattr(said, "fault", None) == number
        anybody.publish({"public": True})
        assert [e.fault for e in await anybody.sync() if isinstance(e, Error)] == [110]
        header = {"authorization": f"Bearer {found.tokens['wrong']}"}
        for path, status in (
            ("/api/sessions", 403),
            ("/metrics", 403),
            ("/api/identities", 200),
            ("/healthz", 200),
        ):
            answer = await found.client.get(path)
            assert answer.status_code == status, path
        assert (await found.client.get("/healthz")).json() == {"ok": True}
        # What is wrong is not taken for nothing.
        answer = await found.client.get("/api/identities", headers=header)
        assert answer.status_code == 401
        # And when it is taken back, those who are there go.
        found.broker.reload(opened(found))
        said = await anybody.next()
        assert isinstance(said, Error)
        assert said.fault == 214


async def test_a_page_may_show_a_token_or_go_on_without(tmp_path: Path) -> None:
    async with guarded(tmp_path) as found:
        found.broker.reload(opened(found, "public"))
        url = f"ws://{found.server.address.place}/ws"
        heard: list[dict[str, Any]] = []
        for first in ([], [{"token": found.tokens["good"]}]):
            async with connect_ws(url, proxy=None) as ws:
                for message in (*first, {"sub": "x any"}):
                    await ws.send(json.dumps(message))
                heard.append(json.loads(await ws.recv()))
        assert [said.get("in_force") for said in heard] == [
            "public = true and x any",
            None,
        ]


async def test_a_subscriber_over_http_hears_that_its_grant_shrinks(
    tmp_path: Path,
) -> None:
    async with guarded(tmp_path) as found:
        found.broker.reload(opened(found, "public"))
        async with found.client.stream("GET", "/subscribe?filter=x+any") as answer:
            events = answer.aiter_lines()
            assert await anext(events) == "event: settled"
            less = replace(
                opened(found, "public"),
                access=Access(
                    anonymous=("public",),
                    roles={"public": RoleSettings(subscribe="x = 1"), "all": ALL},
                ),
            )
            found.broker.reload(less)
            said = [await anext(events) for _ in range(5)]
        assert "event: grant_changed" in said
        assert '"in_force":"x = 1"' in "".join(said)


# --- Without roles --------------------------------------------------------------------


async def test_a_broker_that_asks_who_comes_says_what_they_may(tmp_path: Path) -> None:
    settings = Settings(listen=("127.0.0.1:0",), access=Access())
    with pytest.raises(SienaError, match="nobody could do anything") as caught:
        await Broker(settings).start()
    # Whoever wants no roles can copy one.
    assert 'publish = "[]"' in str(caught.value)
    async with guarded(tmp_path) as found:
        with pytest.raises(SienaError, match="nobody could do anything"):
            found.broker.reload(replace(found.broker.settings, access=Access()))
        header = {"authorization": f"Bearer {found.tokens['good']}"}
        answer: httpx.Response = await found.client.get("/metrics", headers=header)
        assert answer.is_success  # nothing has changed
        assert found.audit[-1]["event"] != "reloaded"
        assert "reload refused" in {line["event"] for line in found.audit}


async def test_a_role_that_is_not_there_grants_nothing(tmp_path: Path) -> None:
    async with guarded(tmp_path) as found:
        other = Access(
            credentials=str(found.file), roles={"other": RoleSettings(publish="[]")}
        )
        found.broker.reload(replace(found.broker.settings, access=other))
        ann = await connect(found.broker, token=found.tokens["good"])
        ann.publish({"x": 1})
        ann.send(Subscribe(1, "[]"))
        said = await ann.sync()
        assert [s.fault for s in said if isinstance(s, Error)] == [110]
        assert Settled(1, "not []") in said
