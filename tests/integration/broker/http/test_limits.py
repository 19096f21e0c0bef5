"""Requests that do not end, and those that are none."""

import asyncio
import logging

import pytest

from http_wire import Web, web
from siena.broker.http import server
from wire import SECONDS_MAX

BAD = [
    b"GARBAGE\r\n\r\n",
    b"GET http://[ HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"CONNECT a:80 HTTP/1.1\r\nHost: localhost\r\n\r\n",
    b"GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
    b"GET /subscribe?filter=%ff HTTP/1.1\r\nHost: localhost\r\n\r\n",
]


async def answer(found: Web, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection(*found.server.address.pair)
    writer.write(request)
    async with asyncio.timeout(SECONDS_MAX):
        said = await reader.readline()
    writer.close()
    return said


@pytest.mark.parametrize("request_", [b"", b"GET / HTTP/1.1\r\nHost: lo"])
async def test_a_head_that_does_not_come_is_not_waited_for(
    request_: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS_MAX", 0.05)
    async with web() as found:
        assert b"400" in await answer(found, request_)


async def test_a_stream_is_longer_than_any_head(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(server, "HEAD_SECONDS_MAX", 0.05)
    async with web() as found:
        reader, writer = await asyncio.open_connection(*found.server.address.pair)
        # Several on one connection: each has its time.
        for _ in range(3):
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            head = await reader.readuntil(b"\r\n\r\n")
            assert b"200 OK" in head
            await reader.readexactly(int(head.partition(b"length: ")[2].split()[0]))
        writer.write(b"GET /subscribe?filter=x+any HTTP/1.1\r\nHost: localhost\r\n\r\n")
        await reader.readuntil(b"settled")
        await asyncio.sleep(0.1)  # twice as long as a head may take
        await found.client.post("/publish", json={"x": 1})
        async with asyncio.timeout(SECONDS_MAX):
            await reader.readuntil(b'{"x":1}')
        writer.close()


async def test_bad_requests_leave_nothing_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO)
    async with web() as found:
        for request in BAD:
            assert b" 400 " in await answer(found, request), request
    ours = [r for r in caplog.records if not r.name.startswith("httpx")]
    assert [r.getMessage() for r in ours] == []
