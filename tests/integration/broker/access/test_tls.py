"""TLS: listeners of its own, links, certificates that show who somebody is."""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
import uvloop
from msgspec import structs
from websockets.asyncio.client import connect as connect_ws

import siena
from broker.access import ALL, make_tokens
from siena.block import encode
from siena.broker.access.issuing import Authority
from siena.broker.access.settings import Access, Tls
from siena.broker.broker import Broker
from siena.broker.http.server import HttpServer
from siena.broker.settings import LinkSettings, Settings
from siena.broker.workers.supervisor import Workers
from siena.client import tls_context
from siena.errors import NoBrokerError, ServiceError, SienaError
from siena.protocol.control_frames import Connect
from siena.protocol.frames import Op, pack
from siena.protocol.handshake import PREFACE
from wire import SECONDS_MAX, serving, until


@pytest.fixture(scope="module")
def certs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certs")
    authority = Authority(folder)
    for name in ("b1", "b2", "ann", "eve"):
        authority.issue(name)
    return folder


def secure(certs: Path, name: str = "b1", **more: object) -> Settings:
    settings = Settings(
        name=name,
        listen=("sienas://127.0.0.1:0",),
        tls=Tls(cert="{name}.pem", key="{name}.key", ca="ca.pem").at(certs),
    )
    return structs.replace(settings, **more)


def known(certs: Path, *names: str) -> Access:
    file = certs / "credentials.json"
    if not file.exists():
        make_tokens(file)
    identities: dict[str, tuple[str, ...]] = dict.fromkeys(names, ("role",))
    roles = {"all": ALL, "role": ALL}
    return Access(credentials=str(file), identities=identities, roles=roles)


def url(broker: Broker) -> str:
    return broker.addresses[0].url


async def test_a_client_believes_the_authority_that_it_is_told_of(certs: Path) -> None:
    async with serving(secure(certs)) as broker:
        assert url(broker).startswith("sienas://127.0.0.1:")
        async with siena.connect(url(broker), tls=certs / "ca.pem") as client:
            found = client.subscribe("x any")
            await found.settled()
            await client.publish(x=1)
            assert (await anext(aiter(found)))["x"] == 1
        in_clear = broker.addresses[0].place
        for problem, hint in (
            (siena.connect(url(broker), reconnect=None), "siena context add --ca"),
            (siena.connect(in_clear, reconnect=None, connect_s=1), "sienas:// if"),
        ):
            with pytest.raises(NoBrokerError, match=hint):
                async with problem:
                    pass


def test_a_blocking_client_talks_tls(certs: Path) -> None:
    with pytest.raises(SienaError, match=r"none\.pem"):
        siena.connect("sienas://127.0.0.1", tls=certs / "none.pem")
    with pytest.raises(SienaError, match="not encrypted"):
        siena.connect("siena://127.0.0.1", tls=certs / "ca.pem")
    with pytest.raises(SienaError, match="nothing is encrypted"):
        siena.connect("siena://hub.example", token="siena1.a.b")  # noqa: S106


async def test_older_versions_of_tls_are_refused(certs: Path) -> None:
    async with serving(secure(certs)) as broker:
        context = ssl.create_default_context(cafile=certs / "ca.pem")
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        with pytest.raises((ssl.SSLError, ConnectionError)):
            await asyncio.open_connection(*broker.addresses[0].pair, ssl=context)


@pytest.mark.parametrize("kind", ["asyncio", "uvloop"])
def test_many_publications_are_read_in_place(kind: str, certs: Path) -> None:
    """With TLS, too, a large buffer is matched where it came, and none is lost."""

    async def run() -> None:
        total = 20_000
        async with serving(secure(certs)) as broker:
            context = tls_context(certs / "ca.pem")
            in_place, process = [], broker.process_in_place

            def watch(connection: object) -> bool:
                in_place.append(connection)
                return process(connection)  # type: ignore[arg-type]

            broker.process_in_place = watch
            async with siena.connect(url(broker), tls=context) as client:
                found = client.subscribe("n any", count_max=2 * total)
                await found.settled()
                reader, writer = await asyncio.open_connection(
                    *broker.addresses[0].pair, ssl=context
                )
                await reader.readline()
                frames = [pack(Op.PUB, encode({"n": n})) for n in range(total)]
                writer.write(PREFACE + Connect(1).pack() + b"".join(frames))
                writer.close()
                came = [(await anext(aiter(found)))["n"] for _ in range(total)]
                assert came == list(range(total))
                assert in_place

    uvloop.run(run()) if kind == "uvloop" else asyncio.run(run())


async def test_a_certificate_is_who_somebody_is(certs: Path) -> None:
    settings = secure(certs, access=known(certs, "ann"))
    async with serving(settings) as broker:
        mine = tls_context(certs / "ca.pem", certs / "ann.pem", certs / "ann.key")
        async with siena.connect(url(broker), tls=mine, identity="ann"):
            (session,) = broker.state.sessions.values()
            assert session.principal.identity == "ann"
            assert session.principal.roles == ("role",)
            assert session.principal.claims == {"cn": "ann"}
        # Of the same authority, and not among those whom the settings know.
        other = tls_context(certs / "ca.pem", certs / "eve.pem", certs / "eve.key")
        for context in (other, tls_context(certs / "ca.pem")):
            with pytest.raises(ServiceError, match="error 211"):
                async with siena.connect(url(broker), tls=context, reconnect=None):
                    pass


async def test_a_certificate_of_another_authority_does_not_get_as_far(
    certs: Path, tmp_path: Path
) -> None:
    issued = Authority(tmp_path).issue("ann")
    async with serving(secure(certs, access=known(certs, "ann"))) as broker:
        context = tls_context(certs / "ca.pem", *issued)
        with pytest.raises(ServiceError):
            async with siena.connect(url(broker), tls=context, reconnect=None):
                pass
        assert not broker.state.sessions


@asynccontextmanager
async def linked(certs: Path, **link: str) -> AsyncIterator[tuple[Broker, Broker]]:
    """Two brokers, of which the second calls the first."""
    access = known(certs, "b1", "b2")
    first = secure(certs, accept_peers=True, access=access)
    async with serving(first) as called:
        wanted = LinkSettings(url=url(called), **link)  # type: ignore[arg-type]
        second = secure(certs, "b2", access=access, links=(wanted,))
        async with serving(second) as calling:
            yield called, calling


async def test_brokers_know_each_other_by_their_certificates(certs: Path) -> None:
    async with linked(certs, identity="b1") as (called, calling):
        await until(lambda: called.state.links and calling.state.links)
        for broker, other in ((called, "b2"), (calling, "b1")):
            (link,) = broker.state.links.values()
            assert link.connection.principal.identity == other  # type: ignore[attr-defined]
        token = json.loads((certs / "credentials.json").read_text())["tokens"]
        assert token  # those of clients are in the same file


async def test_another_broker_than_was_wanted_is_not_linked_to(certs: Path) -> None:
    async with linked(certs, identity="b3") as (called, calling):
        why = "is that of 'b1', and not of 'b3'"
        await until(lambda: why in str(calling.wanted_links()))
        assert not called.state.links


async def test_a_broker_that_shows_nothing_is_a_stranger(certs: Path) -> None:
    access = known(certs, "b1", "b2")
    first = secure(certs, accept_peers=True, access=access)
    async with serving(first) as called:
        # It believes the authority, and has a certificate of which nobody has heard.
        tls = Tls(cert="eve.pem", key="eve.key", ca="ca.pem").at(certs)
        wanted = LinkSettings(url=url(called))
        told = Settings(name="eve", listen=("127.0.0.1:0",), tls=tls, links=(wanted,))
        async with serving(told) as calling:
            await until(lambda: "not admitted" in str(calling.wanted_links()))
            assert not called.state.links


async def test_https_and_wss(certs: Path) -> None:
    async with serving(secure(certs, access=known(certs, "ann"))) as broker:
        server = HttpServer(broker, "https://127.0.0.1:0")
        await server.start()
        context = tls_context(certs / "ca.pem", certs / "ann.pem", certs / "ann.key")
        stranger = tls_context(certs / "ca.pem")
        try:
            for tls, status in ((context, 200), (stranger, 401)):
                async with httpx.AsyncClient(verify=tls, trust_env=False) as client:
                    answer = await client.get(f"{server.url}/api/counters")
                    assert answer.status_code == status
            place = server.address.place
            async with connect_ws(f"wss://{place}/ws", ssl=context, proxy=None) as ws:
                await ws.send('{"ping": "a"}')
                answered = await asyncio.wait_for(ws.recv(), SECONDS_MAX)
                assert json.loads(answered)["siena"] == "PONG"
            async with httpx.AsyncClient(verify=context, trust_env=False) as client:
                for origin, status in ((server.url, 200), (f"http://{place}", 403)):
                    answer = await client.get(
                        f"{server.url}/api/counters", headers={"origin": origin}
                    )
                    assert answer.status_code == status
        finally:
            await server.drain()


async def test_a_new_certificate_counts_without_a_restart(tmp_path: Path) -> None:
    Authority(tmp_path).issue("b1")
    context = tls_context(tmp_path / "ca.pem")

    async def serial(broker: Broker) -> object:
        _, writer = await asyncio.open_connection(
            *broker.addresses[0].pair, ssl=context
        )
        found = writer.get_extra_info("peercert")["serialNumber"]
        writer.close()
        return found

    async with serving(secure(tmp_path)) as broker:
        before = await serial(broker)
        async with siena.connect(url(broker), tls=context) as client:
            Authority(tmp_path).issue("b1", is_renewed=True)
            assert await serial(broker) == before
            assert broker.reload(broker.settings) == []
            assert await serial(broker) != before
            await client.flush()  # who was connected still is
        after = await serial(broker)
        (tmp_path / "b1.key").write_text("no key")
        with pytest.raises(SienaError, match=r"b1\.key"):
            broker.reload(broker.settings)
        assert await serial(broker) == after


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        (Settings(listen=("0.0.0.0:0",)), "nobody is asked who they are"),
        (Settings(listen=("sienas://127.0.0.1:0",)), "needs a certificate"),
    ],
)
async def test_what_is_not_safe_is_not_begun(settings: Settings, why: str) -> None:
    with pytest.raises(SienaError, match=why):
        await Broker(settings).start()


async def test_beyond_this_machine_there_is_tls_and_somebody_who_may_come(
    certs: Path,
) -> None:
    everywhere = ("sienas://0.0.0.0:0",)
    with pytest.raises(SienaError, match="nobody is asked"):
        await Broker(secure(certs, listen=everywhere)).start()
    nobody = Access(roles=known(certs, "ann").roles)
    with pytest.raises(SienaError, match="nobody is asked"):
        await Broker(secure(certs, listen=everywhere, access=nobody)).start()
    access = known(certs, "ann")
    with pytest.raises(SienaError, match="not encrypted"):
        await Broker(secure(certs, listen=("0.0.0.0:0",), access=access)).start()
    async with serving(secure(certs, listen=everywhere, access=access)) as broker:
        for where, why in (("0.0.0.0:0", "not encrypted"), ("https://0.0.0.0:0", "")):
            server = HttpServer(broker, where)
            if why:
                with pytest.raises(SienaError, match=why):
                    await server.start()
            else:
                await server.start()
            await server.drain()


def test_several_workers_say_that_they_do_not_talk_tls(certs: Path) -> None:
    with pytest.raises(SienaError, match="several workers do not talk TLS"):
        Workers(secure(certs), 2, asyncio.Runner)
