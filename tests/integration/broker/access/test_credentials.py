"""Credentials that end while somebody is connected, and identities of others."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import structs

import siena
from broker.access import guarded
from broker.logs import url
from http_wire import asking
from siena.broker.access import attempts
from siena.broker.access.credentials import (
    Credentials,
    UserRecord,
    load_credentials,
    save_credentials,
)
from siena.broker.access.passwords import hash_password
from siena.broker.broker import Broker
from siena.broker.http.server import HttpServer
from siena.cli.console.looking_around import LookAround
from siena.client import Backoff
from siena.client.tokens import narrow_token, new_token
from siena.errors import RequestRefusedError, ServiceError, SienaError
from siena.protocol.control_frames import Connect, Error
from siena.protocol.handshake import AUTH, PREFACE, TOKEN
from siena.web.around import around_routes
from wire import connect, open_wire, serving, until


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "DELAY_SECONDS", 0.0)


async def refused(broker: Broker, **how: object) -> int:
    """The number of the error with which CONNECT is answered."""
    wire = await open_wire(broker)
    wire.send(PREFACE + Connect(1, **how).pack())  # type: ignore[arg-type]
    said = await wire.next()
    assert isinstance(said, Error), said
    return said.fault


async def test_a_client_says_its_token_and_brokers_say_that_they_ask(
    tmp_path: Path,
) -> None:
    async with guarded(tmp_path) as found:
        url = found.broker.addresses[0].url
        async with siena.connect(url, token=found.tokens["good"]) as client:
            await client.publish(x=1)
            await client.flush()
        with pytest.raises(ServiceError, match="not admitted") as caught:
            async with siena.connect(url, reconnect=None):
                pass
        assert "error 211; no token was shown: token=" in caught.value.hint
        bad = new_token().text
        with pytest.raises(ServiceError, match="not admitted") as caught:
            async with siena.connect(url, reconnect=None, token=bad):
                pass
        assert caught.value.hint == "error 211"
        wire = await open_wire(found.broker)
        assert {TOKEN, AUTH} <= set(wire.info.features)
    async with serving() as plain:
        wire = await open_wire(plain)
        assert not {TOKEN, AUTH} & set(wire.info.features)


async def test_a_connection_ends_with_its_credential(tmp_path: Path) -> None:
    async with guarded(tmp_path) as found:
        good = found.tokens["good"]
        assert good is not None
        short = await connect(found.broker, token=narrow_token(good, for_s=1.2))
        long = await connect(found.broker, token=good)
        said = await short.next()
        assert isinstance(said, Error)
        assert said.fault == 212
        assert await short.closed()
        assert await long.sync() == []
        await until(lambda: len(found.broker.leases) == 1)


async def test_what_is_revoked_ends_its_connections_and_no_others(
    tmp_path: Path,
) -> None:
    async with guarded(tmp_path) as found:
        bob = new_token()
        known = load_credentials(found.file).with_token(bob, "bob", (), made_at=0.0)
        save_credentials(found.file, known)
        assert found.broker.reload(found.broker.settings) == []
        ann = await connect(found.broker, token=found.tokens["good"])
        narrowed = await connect(found.broker, token=found.tokens["narrower"])
        other = await connect(found.broker, token=bob.text)
        save_credentials(found.file, known.without("ann"))
        found.broker.reload(found.broker.settings)
        for wire in (ann, narrowed):
            said = await wire.next()
            assert isinstance(said, Error)
            assert said.fault == 214
            assert await wire.closed()
        assert await other.sync() == []
        assert await refused(found.broker, token=found.tokens["good"]) == 211


async def test_a_client_whose_token_is_revoked_is_told_so_and_gives_up(
    tmp_path: Path,
) -> None:
    async with guarded(tmp_path) as found:
        patient = Backoff(first_s=0.01, most_s=0.05, give_up_s=600)
        async with siena.connect(
            url(found.broker), token=found.tokens["good"], reconnect=patient
        ) as client:
            wanted = client.subscribe("x any")
            known = load_credentials(found.file)
            save_credentials(found.file, known.without("ann"))
            found.broker.reload(found.broker.settings)
            async with asyncio.timeout(30):
                with pytest.raises(RequestRefusedError) as refusal:
                    await wanted.get()
            assert refusal.value.fault == 211


@pytest.mark.parametrize(
    ("method", "path", "said"),
    [
        *(
            ("POST", path, b'{"notification": "x = 1"}')
            for path in ("/publish", "/api/why", "/api/who", "/api/way")
        ),
        ("PUT", "/api/identities/ann", b'{"handler": "mailto:ann@example.org"}'),
    ],
)
async def test_a_request_that_is_still_on_its_way_is_not_let_in_either(
    tmp_path: Path, method: str, path: str, said: bytes
) -> None:
    async with guarded(tmp_path) as found:
        broker = found.broker
        routes = around_routes(LookAround(broker))
        server = HttpServer(broker, "127.0.0.1:0", routes)
        await server.start()
        logins = broker.state.counters.logins

        async def body() -> AsyncIterator[bytes]:
            yield said[:1]
            await until(lambda: broker.state.counters.logins > logins)
            save_credentials(found.file, Credentials())
            broker.reload(broker.settings)
            yield said[1:]

        headers = {
            "authorization": f"Bearer {found.tokens['good']}",
            "content-type": "application/json",
        }
        async with asking(server.url) as client:
            answer = await client.request(method, path, content=body(), headers=headers)
        await server.drain()
        assert (answer.status_code, answer.json().get("error")) == (401, 214)
        assert broker.state.counters.publications == 0


async def test_roles_that_change_are_those_of_connections_that_stand(
    tmp_path: Path,
) -> None:
    async with guarded(tmp_path) as found:
        wire = await connect(found.broker, token=found.tokens["good"])
        assert wire.welcome is not None
        session = found.broker.state.sessions[wire.welcome.session]
        assert session.principal.roles == ("all",)
        known = load_credentials(found.file)
        tokens = {
            number: structs.replace(record, roles=("other",))
            for number, record in known.tokens.items()
        }
        save_credentials(found.file, structs.replace(known, tokens=tokens))
        found.broker.reload(found.broker.settings)
        assert session.principal.roles == ("other",)


async def test_a_wrong_file_is_refused_whole(tmp_path: Path) -> None:
    async with guarded(tmp_path) as found:
        wire = await connect(found.broker, token=found.tokens["good"])
        found.file.write_text("{")
        with pytest.raises(SienaError, match="no file of credentials"):
            found.broker.reload(found.broker.settings)
        assert await wire.sync() == []
        await connect(found.broker, token=found.tokens["good"])


async def test_an_identity_is_that_of_its_principal(tmp_path: Path) -> None:
    """Whoever connects while the owner is away does not get what was kept."""
    async with guarded(tmp_path) as found:
        bob = new_token()
        known = load_credentials(found.file).with_token(bob, "bob", (), made_at=0.0)
        save_credentials(found.file, known)
        found.broker.reload(found.broker.settings)
        good = found.tokens["good"]
        ann = await connect(found.broker, token=good, identity="ann/phone")
        await ann.subscribe(1, "x any")
        ann.close()
        await until(lambda: found.broker.state.identities["ann/phone"].sink is None)
        for identity in ("ann/phone", "ann", "bobby"):
            assert await refused(found.broker, token=bob.text, identity=identity) == 213
        await connect(found.broker, token=bob.text, identity="bob/desk")
        again = await connect(found.broker, token=good, identity="ann/phone")
        assert again.welcome is not None
        assert again.welcome.resumed


async def test_handlers_are_those_of_the_owner(tmp_path: Path) -> None:
    async with guarded(tmp_path) as found:
        bob = new_token()
        known = load_credentials(found.file).with_token(bob, "bob", (), made_at=0.0)
        save_credentials(found.file, known)
        found.broker.reload(found.broker.settings)
        ann = {"authorization": f"Bearer {found.tokens['good']}"}
        eve = {"authorization": f"Bearer {bob.text}"}
        hook = {"handler": "http://127.0.0.1:9/", "subscriptions": ["x any"]}
        path = "/api/identities/ann"
        assert (await found.client.put(path, json=hook, headers=ann)).is_success
        for answer in (
            await found.client.put(path, json=hook, headers=eve),
            await found.client.delete(path, headers=eve),
            await found.client.delete(
                f"{path}/subscriptions", params={"filter": "[]"}, headers=eve
            ),
        ):
            assert (answer.status_code, answer.json()["error"]) == (403, 213)
        listed = await found.client.get("/api/identities", headers=eve)
        assert listed.json() == {}
        listed = await found.client.get("/api/identities", headers=ann)
        assert list(listed.json()) == ["ann"]


async def test_a_password_is_checked_while_others_are_served(tmp_path: Path) -> None:
    async with guarded(tmp_path) as found:
        record = UserRecord(password=hash_password("correct horse"), roles=("all",))
        save_credentials(
            found.file, load_credentials(found.file).with_user("bob", record)
        )
        found.broker.reload(found.broker.settings)
        other = await connect(found.broker, token=found.tokens["good"])
        both = asyncio.gather(
            connect(found.broker, token="bob:correct horse"),  # noqa: S106 -- a test's
            refused(found.broker, token="bob:wrong horse"),  # noqa: S106 -- a test's
        )
        assert await other.sync() == []
        wire, number = await both
        assert number == 211
        # What was sent behind CONNECT, before anybody knew who this is, is carried out.
        await wire.subscribe(1, "x any")
        answer = await found.client.get("/api/counters", auth=("bob", "correct horse"))
        assert answer.is_success


async def test_what_comes_behind_connect_waits_for_its_answer(tmp_path: Path) -> None:
    async with guarded(tmp_path) as found:
        record = UserRecord(password=hash_password("correct horse"), roles=("all",))
        save_credentials(found.file, Credentials().with_user("bob", record))
        found.broker.reload(found.broker.settings)
        reader, writer = await asyncio.open_connection(*found.broker.addresses[0].pair)
        await reader.readline()
        writer.write(b"pub x=1\nping early\n")  # by a stranger
        assert b'"error":211' in await reader.readline()
        assert await reader.read() == b""
        writer.close()
        reader, writer = await asyncio.open_connection(*found.broker.addresses[0].pair)
        await reader.readline()
        # No space in a token: a line has words.
        record = UserRecord(password=hash_password("horse-battery"), roles=("all",))
        save_credentials(found.file, Credentials().with_user("bob", record))
        found.broker.reload(found.broker.settings)
        writer.write(b"auth bob:horse-battery\npub x=1\nping now\n")
        assert await reader.readline() == b'{"siena":"PONG","data":"now"}\n'
        assert found.broker.state.counters.publications == 1
        writer.close()


async def test_strangers_hear_whether_it_is_well_and_nothing_else(
    tmp_path: Path,
) -> None:
    async with guarded(tmp_path) as found:
        assert (await found.client.get("/healthz")).json() == {"ok": True}
        assert (await found.client.get("/readyz")).json() == {"ready": True}
        answer = await found.client.get("/subscribe", params={"filter": "x any"})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        # Never in the address.
        answer = await found.client.get(
            "/api/counters", params={"token": str(found.tokens["good"])}
        )
        assert answer.status_code == 401
