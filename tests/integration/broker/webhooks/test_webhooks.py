"""Identities with handlers: web hooks and mail, to real servers on this machine."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes
from email.message import Message

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session

from broker.hooks import hooked
from http_wire import web
from siena.broker.settings import HandlerSettings
from siena.broker.webhooks import delivery
from siena.broker.webhooks.limits import ATTEMPTS_MAX
from siena.protocol.control_frames import Suspend
from wire import connect, until


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(delivery, "RETRY_SECONDS", 0.001)


async def test_what_an_identity_wants_is_posted_to_its_hook() -> None:
    async with (
        hooked() as hook,
        web(handlers=HandlerSettings(allow=(hook.url,)), name="b1") as (
            broker,
            _,
            client,
        ),
    ):
        wanted = {"handler": f"{hook.url}/ops", "subscriptions": ["x > 3", "y any"]}
        answer = await client.put("/api/identities/ops", json=wanted)
        assert answer.status_code == 200, answer.text
        assert answer.json()["subscriptions"] == ["x > 3", "y any"]
        publisher = await connect(broker)
        publisher.publish({"x": 3}, {"x": 4}, {"x": 5, "y": 1})
        await until(lambda: hook.letters)
        assert hook.letters == [
            {
                "identity": "ops",
                "broker": "b1",
                "notifications": [{"x": 4}, {"x": 5, "y": 1}],
                "sequences": [],
                "lost": 0,
            }
        ]
        assert hook.heads[0].startswith("POST /hooks/ops HTTP/1.1")
        await until(lambda: broker.state.counters.deliveries == 2)
        found = (await client.get("/api/identities")).json()
        assert found["ops"]["delivered"] == 2
        assert (
            "siena_handler_delivered_total 2.0" in (await client.get("/metrics")).text
        )
        path = "/api/identities/ops/subscriptions"
        ended = await client.delete(path, params={"filter": "x any"})
        assert ended.json() == {"ended": ["x > 3"]}
        left = (await client.get("/api/identities")).json()["ops"]["subscriptions"]
        assert left == ["y any"]
        assert (await client.delete(path)).status_code == 400
        assert (await client.delete(path, params={"filter": "x >"})).status_code == 400
        assert (await client.delete("/api/identities/ops")).status_code == 200
        assert (await client.delete("/api/identities/ops")).status_code == 404
        assert broker.state.counters.subscriptions_now == 0
        assert not broker.state.identities


async def test_attempts_are_repeated_and_counted_and_losses_are_told() -> None:
    async with (
        hooked() as hook,
        web(handlers=HandlerSettings(allow=(hook.url,))) as (broker, server, client),
    ):
        wanted = {"handler": hook.url, "subscriptions": ["x any"]}
        await client.put("/api/identities/ops", json=wanted)
        tries = server.handlers.totals
        hook.answers = [503, 500]
        await client.post("/publish", json={"x": 1})
        await until(lambda: tries()["delivered"] == 1)
        assert tries() == {"delivered": 1, "failed": 0, "retried": 2}
        hook.answers = [302]  # follows nobody, and does not ask again
        await client.post("/publish", json={"x": 2})
        await until(lambda: tries()["failed"] == 1)
        hook.answers = [503] * ATTEMPTS_MAX
        await client.post("/publish", json={"x": 3})
        await until(lambda: tries()["failed"] == 2)
        assert tries()["retried"] == 2 + ATTEMPTS_MAX - 1
        await client.post("/publish", json={"x": 4})
        await until(lambda: len(hook.letters) == 2)
        assert hook.letters[1]["notifications"] == [{"x": 4}]
        assert hook.letters[1]["lost"] == 2
        assert broker.state.counters.lost == 2


async def test_a_handler_that_is_not_there_holds_up_nobody() -> None:
    async with web(handlers=HandlerSettings(allow=("http://127.0.0.1:1/",))) as found:
        broker, server, client = found
        wanted = {"handler": "http://127.0.0.1:1/a", "subscriptions": ["x any"]}
        await client.put("/api/identities/ops", json=wanted)
        wire = await connect(broker)
        await wire.subscribe(1, "x any")
        wire.publish({"x": 1})
        assert len(await wire.sync()) == 1
        await until(lambda: server.handlers.totals()["failed"] == 1)


async def test_an_identity_that_was_away_gets_what_was_kept() -> None:
    async with (
        hooked() as hook,
        web(handlers=HandlerSettings(allow=(hook.url,))) as (broker, _, client),
    ):
        wire = await connect(broker, identity="alice")
        await wire.subscribe(1, "x any")
        answer = await client.put("/api/identities/alice", json={"handler": hook.url})
        assert (answer.status_code, answer.json()["name"]) == (409, "IDENTITY_TAKEN")
        wire.send(Suspend(10))
        await wire.sync()
        wire.close()
        await until(lambda: broker.state.identities["alice"].sink is None)
        await client.post("/publish", json=[{"x": 1}, {"x": 2}])
        answer = await client.put("/api/identities/alice", json={"handler": hook.url})
        assert answer.json()["subscriptions"] == ["x any"]
        await until(lambda: hook.letters)
        assert hook.letters[0]["notifications"] == [{"x": 1}, {"x": 2}]


async def test_only_what_the_settings_list_is_a_target() -> None:
    allow = ("https://example.org/hooks", "mailto:ops@example.org")
    async with web(handlers=HandlerSettings(allow=allow)) as (broker, _, client):
        for handler, status in (
            ("https://example.org/other", 403),
            ("https://example.org/hooks/../other", 400),
            ("https://example.org/hooks/%2e%2e/other", 400),
            ("http://example.org/hooks", 403),
            ("https://example.org:444/hooks", 403),
            ("https://example.org@evil.test/hooks", 400),
            ("https://example.org.evil.test/hooks", 403),
            ("mailto:dev@example.org", 403),
            ("mailto:ops@example.org?cc=dev@example.org", 400),
            ("mailto:ops@example.org\r\nBcc: dev@example.org", 400),
            ("file:///etc/passwd", 400),
            ("here", 400),
        ):
            answer = await client.put("/api/identities/a", json={"handler": handler})
            assert answer.status_code == status, handler
        for body in ({"handler": 1}, {}, {"handler": "mailto:ops@example.org", "x": 1}):
            answer = await client.put("/api/identities/a", json=body)
            assert answer.status_code == 400
        bad = {"handler": "mailto:ops@example.org", "subscriptions": ["x any", "x >"]}
        answer = await client.put("/api/identities/a", json=bad)
        assert (answer.status_code, answer.json()["error"]) == (400, 101)
        answer = await client.put("/api/identities/a", content=json.dumps(bad))
        assert answer.status_code == 415
        assert not broker.state.sessions


class Mailbox:
    """What a mail server has got."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.answers: list[str] = []

    async def handle_DATA(
        self,
        server: SMTP,  # noqa: ARG002 -- aiosmtpd's signature
        session: Session,  # noqa: ARG002
        envelope: Envelope,
    ) -> str:
        if self.answers:
            return self.answers.pop(0)
        assert isinstance(envelope.content, bytes)
        self.messages.append(message_from_bytes(envelope.content))
        return "250 OK"


@asynccontextmanager
async def mailing() -> AsyncIterator[tuple[Mailbox, str]]:
    mailbox = Mailbox()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(mailbox), "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()[:2]
    async with server:
        yield mailbox, f"{host}:{port}"


async def test_what_an_identity_wants_is_mailed() -> None:
    async with mailing() as (mailbox, smtp):
        handlers = HandlerSettings(allow=("mailto:ops@example.org",), smtp=smtp)
        async with web(handlers=handlers) as (_, server, client):
            wanted = {"handler": "mailto:ops@example.org", "subscriptions": ["x any"]}
            await client.put("/api/identities/ops", json=wanted)
            mailbox.answers = ["451 later"]
            await client.post("/publish", json=[{"x": 1}, {"x": 2}])
            await until(lambda: mailbox.messages)
            (message,) = mailbox.messages
            assert message["To"] == "ops@example.org"
            assert message["Subject"] == "2 notifications for ops"
            lines = str(message.get_payload()).split()
            assert [json.loads(line) for line in lines] == [{"x": 1}, {"x": 2}]
            mailbox.answers = ["554 never"]
            await client.post("/publish", json={"x": 3})
            await until(lambda: server.handlers.totals()["failed"])
            expected = {"delivered": 2, "failed": 1, "retried": 1}
            assert server.handlers.totals() == expected
