"""The console as it is served: its files, their checks, and what they weigh."""

import gzip
from typing import Any

import httpx
import pytest

from repository import ROOT
from siena.broker.http.server import HttpServer
from siena.broker.settings import Settings
from siena.errors import SienaError
from siena.model import Notification
from siena.web.files import NAMES, console_routes, read_files
from siena.web.questions import FILTERS_MAX
from wire import serving

STATIC = ROOT / "src" / "siena" / "web" / "static"
WEIGHT_MAX = 150_000


def test_every_file_is_served_and_all_together_are_light() -> None:
    found = {str(path.relative_to(STATIC)) for path in STATIC.rglob("*.*")}
    assert found - {"vendor/README.md"} == set(NAMES)
    weight = sum(len(gzip.compress(file.body)) for file in read_files().values())
    assert weight <= WEIGHT_MAX, f"the console weighs {weight:,} bytes, compressed"


class Around:
    """What is seen of a network: what the test says, or nothing."""

    def __init__(self, brokers: list[dict[str, Any]] | None) -> None:
        self._brokers = brokers

    def survey(self) -> list[dict[str, Any]]:
        if self._brokers is None:
            raise SienaError("no broker answers")
        return self._brokers

    def trace(self, notification: Notification) -> list[dict[str, Any]]:
        return [{"said": str(notification)}, *self.survey()]


async def ask(
    method: str,
    path: str,
    survey: list[dict[str, Any]] | None = None,
    **more: Any,  # noqa: ANN401 -- of httpx
) -> httpx.Response:
    async with serving(Settings(listen=("127.0.0.1:0",))) as broker:
        server = HttpServer(broker, "127.0.0.1:0", console_routes(Around(survey)))
        await server.start()
        try:
            async with httpx.AsyncClient(
                base_url=server.url, trust_env=False
            ) as asking:
                return await asking.request(method, path, **more)
        finally:
            await server.drain()


async def test_the_root_leads_to_the_console() -> None:
    answer = await ask("GET", "/", follow_redirects=True)
    assert (answer.status_code, answer.url.path) == (200, "/console/")
    assert "default-src 'self'" in answer.headers["content-security-policy"]
    assert 'src="app.js"' in answer.text


@pytest.mark.parametrize("name", NAMES)
async def test_a_file_that_has_not_changed_is_not_sent_again(name: str) -> None:
    tag = read_files()[name].tag
    answer = await ask("GET", f"/console/{name}", headers={"if-none-match": tag})
    assert (answer.status_code, answer.content) == (304, b"")


@pytest.mark.parametrize("name", ["none.js", "../questions.py", "vendor/README.md"])
async def test_nothing_else_is_served(name: str) -> None:
    assert (await ask("GET", f"/console/{name}")).status_code == 404


async def test_a_page_of_another_site_is_not_answered() -> None:
    headers = {"origin": "http://elsewhere.example"}
    body = {"text": "x any"}
    answer = await ask("POST", "/console/relations", headers=headers, json=body)
    assert answer.status_code == 403


@pytest.mark.parametrize(
    "body", [{}, {"text": 1}, {"text": "x any", "filters": ["x"] * (FILTERS_MAX + 1)}]
)
async def test_bad_questions_are_refused_in_one_line(body: dict[str, Any]) -> None:
    answer = await ask("POST", "/console/relations", json=body)
    assert (answer.status_code, list(answer.json())) == (400, ["error"])


async def test_a_network_that_cannot_be_seen_is_said() -> None:
    said = (await ask("GET", "/console/network")).json()
    assert said == {"brokers": [], "error": "no broker answers"}
    said = (await ask("GET", "/console/network", [{"broker": "b"}])).json()
    assert said == {"brokers": [{"broker": "b"}]}


async def test_a_notification_is_followed_or_refused() -> None:
    body = {"notification": "x=4"}
    said = (await ask("POST", "/console/trace", [{"broker": "b"}], json=body)).json()
    assert said == {"hops": [{"said": "x = 4"}, {"broker": "b"}]}
    said = (await ask("POST", "/console/trace", json=body)).json()
    assert said == {"error": "no broker answers"}
    body = {"notification": "x >"}
    assert "error" in (await ask("POST", "/console/trace", [], json=body)).json()
