"""``POST /publish?ack=1``: answered when it is on the disk."""

from pathlib import Path

import pytest

from broker.logs import numbers
from http_wire import web
from siena.broker.settings import Log


async def test_the_answer_says_where_it_is_stored(tmp_path: Path) -> None:
    async with web(log=Log(path=str(tmp_path))) as (broker, _, client):
        await client.post("/publish", json={"n": 0})
        answer = await client.post("/publish?ack=1", json=[{"n": 1}, {"n": 2}])
        assert answer.status_code == 202
        assert answer.json() == {"published": 2, "offset": 1}
        assert await numbers(broker) == [0, 1, 2]


async def test_a_request_that_is_made_again_is_stored_once(tmp_path: Path) -> None:
    for life in range(2):
        async with web(log=Log(path=str(tmp_path))) as (broker, _, client):
            for first, forms in ((0, [{"n": 0}]), (1, [{"n": 1}, {"n": 2}])):
                path = f"/publish?ack=1&publisher=till-7&sequence={first}"
                answer = await client.post(path, json=forms)
                assert answer.status_code == 202, answer.text
                # Where it is, is remembered for as long as the broker lives.
                where = {} if life else {"offset": first}
                assert answer.json() == {"published": len(forms), **where}
            assert await numbers(broker) == [0, 1, 2]


async def test_without_a_store_it_is_refused() -> None:
    async with web() as (_, _, client):
        answer = await client.post("/publish?ack=1", json={"n": 1})
        assert (answer.status_code, answer.json()["error"]) == (501, 126)


@pytest.mark.parametrize(
    "query",
    ["ack=yes", "publisher=me&sequence=1", "ack=1&publisher=me", "ack=1&sequence=1",
     "ack=1&publisher=me&sequence=-1", "ack=1&publisher=&sequence=1",
     "ack=1&publisher=me&sequence=999999999999999"],
)  # fmt: skip
async def test_what_cannot_be_understood_is_refused(tmp_path: Path, query: str) -> None:
    async with web(log=Log(path=str(tmp_path))) as (broker, _, client):
        answer = await client.post(f"/publish?{query}", json={"n": 1})
        assert (answer.status_code, answer.json()["error"]) == (400, 108)
        assert await numbers(broker) == []


async def test_one_bad_notification_is_named(tmp_path: Path) -> None:
    async with web(log=Log(path=str(tmp_path))) as (broker, _, client):
        answer = await client.post("/publish?ack=1", json=[{"n": 1}, {"n": [2]}])
        assert (answer.status_code, answer.json()["error"]) == (400, 100)
        assert await numbers(broker) == []
