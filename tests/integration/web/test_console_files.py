"""The console as it is served: its files, their checks, and what they weigh."""

import asyncio
import gzip
from threading import Event, Lock
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.types import Scope

from http_wire import asking
from repository import ROOT
from siena.broker.http.server import HttpServer
from siena.broker.settings import Settings
from siena.errors import SienaError
from siena.model import Notification
from siena.web.around import LOOKS_MAX, At, Beside, around_routes
from siena.web.files import NAMES, file_routes, read_files
from wire import serving, until

STATIC = ROOT / "src" / "siena" / "web" / "static"
WEIGHT_MAX = 150_000
# What stands beside the files, for those who read them here or in a wheel.
UNSERVED = {"vendor/README.md", "vendor/LICENSES"}


def test_every_file_is_served_and_all_together_are_light(
    capsys: pytest.CaptureFixture[str],
) -> None:
    files = [path for path in STATIC.rglob("*") if path.is_file()]
    found = {str(path.relative_to(STATIC)) for path in files}
    assert found - UNSERVED == set(NAMES)
    weight = sum(len(gzip.compress(file.body)) for file in read_files().values())
    with capsys.disabled():  # to be read, whatever is captured
        print(f"\nthe console weighs {weight:,} bytes, compressed")  # noqa: T201
    assert weight <= WEIGHT_MAX


def test_what_is_of_others_is_named_with_version_and_licence() -> None:
    said = (STATIC / "vendor" / "README.md").read_text(encoding="utf-8")
    licences = (STATIC / "vendor" / "LICENSES").read_text(encoding="utf-8")
    for path in (STATIC / "vendor").glob("*.*js"):
        assert path.name in said
        assert path.name in licences
    for work, licence in (
        ("htm 3.1.1", "Apache License\n                           Version 2.0"),
        ("Preact 10.5.14", "The MIT License (MIT)"),
    ):
        assert work in said
        assert licence in licences.partition(f"\n{work}\n=")[2]


def test_the_files_need_nothing_from_elsewhere() -> None:
    for name, file in read_files().items():
        text = file.body.decode()
        # A namespace is a name, and no address.
        text = text.replace("http://www.w3.org/", "")
        assert "http:" not in text, name
        assert "https:" not in text, name
        assert "innerHTML" not in text or name.startswith("vendor/"), name
        for store in ("localStorage", "sessionStorage", "document.cookie"):
            assert store not in text, name


class Around:
    """What is seen of a network: what the test says, or nothing."""

    def __init__(self, brokers: list[dict[str, Any]] | None) -> None:
        self._brokers = brokers

    def here(self, scope: Scope, about: Notification | None) -> object:  # noqa: ARG002
        return "here"

    def survey(self, scope: Scope, here: object) -> list[dict[str, Any]]:  # noqa: ARG002
        if self._brokers is None:
            raise SienaError("no broker answers")
        return self._brokers

    def link(self, scope: Scope, here: object, asked: Beside) -> dict[str, Any]:
        return {"of": asked.neighbour, "seen": self.survey(scope, here)}

    def clients(self, scope: Scope, here: object, asked: At) -> dict[str, Any]:
        return {"at": asked.broker, "sessions": self.survey(scope, here)}

    def way(self, scope: Scope, here: object, n: Notification) -> dict[str, Any]:
        return {"steps": self.survey(scope, here), "of": str(n)}

    def trace(self, scope: Scope, n: Notification) -> list[dict[str, Any]]:
        return [{"said": str(n)}, *self.survey(scope, None)]


async def ask(
    method: str,
    path: str,
    survey: list[dict[str, Any]] | None = None,
    **more: Any,  # noqa: ANN401 -- of httpx
) -> httpx.Response:
    async with serving(Settings(listen=("127.0.0.1:0",))) as broker:
        routes = [*around_routes(Around(survey)), *file_routes()]
        server = HttpServer(broker, "127.0.0.1:0", routes)
        await server.start()
        try:
            async with asking(server.url) as client:
                return await client.request(method, path, **more)
        finally:
            await server.drain()


async def test_the_root_leads_to_the_console() -> None:
    answer = await ask("GET", "/", follow_redirects=True)
    assert (answer.status_code, answer.url.path) == (200, "/console/")
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'; script-src 'self'; style-src 'self'" in policy
    assert "unsafe" not in policy
    assert 'src="app.js"' in answer.text


@pytest.mark.parametrize("name", NAMES)
async def test_a_file_that_has_not_changed_is_not_sent_again(name: str) -> None:
    tag = read_files()[name].tag
    answer = await ask("GET", f"/console/{name}", headers={"if-none-match": tag})
    assert (answer.status_code, answer.content) == (304, b"")


async def test_the_example_is_a_page_of_its_own() -> None:
    answer = await ask("GET", "/console/example/")
    assert "A page with Siena" in answer.text


@pytest.mark.parametrize(
    "name", ["none.js", "none/", "../around.py", "vendor/README.md"]
)
async def test_nothing_else_is_served(name: str) -> None:
    assert (await ask("GET", f"/console/{name}")).status_code == 404


async def test_a_page_of_another_site_is_not_answered() -> None:
    headers = {"origin": "http://elsewhere.example"}
    body = {"text": "x any"}
    answer = await ask("POST", "/api/relations", headers=headers, json=body)
    assert answer.status_code == 403


@pytest.mark.parametrize(
    "path", ["/api/way", "/api/trace", "/api/link", "/api/clients"]
)
async def test_bad_questions_are_refused(path: str) -> None:
    assert (await ask("POST", path, [], json={})).status_code == 400
    kind = {"content-type": "text/plain"}
    answer = await ask("POST", path, [], content=b"{}", headers=kind)
    assert answer.status_code == 415
    long = {"notification": "x" * 100_000}
    assert (await ask("POST", path, [], json=long)).status_code == 413


async def test_a_network_that_cannot_be_seen_is_said() -> None:
    said = (await ask("GET", "/api/network")).json()
    assert said == {"brokers": [], "error": "no broker answers"}
    said = (await ask("GET", "/api/network", [{"broker": "b"}])).json()
    assert said == {"brokers": [{"broker": "b"}]}


async def test_a_link_is_looked_at_or_that_is_refused() -> None:
    body = {"broker": "b", "neighbour": "c"}
    said = (await ask("POST", "/api/link", [], json=body)).json()
    assert said == {"of": "c", "seen": []}
    said = (await ask("POST", "/api/link", json=body)).json()
    assert said == {"error": "no broker answers"}


async def test_clients_are_looked_at_or_that_is_refused() -> None:
    said = (await ask("POST", "/api/clients", [], json={"broker": "b"})).json()
    assert said == {"at": "b", "sessions": []}
    said = (await ask("POST", "/api/clients", json={"broker": "b"})).json()
    assert said == {"error": "no broker answers"}


async def test_a_notification_is_followed_or_refused() -> None:
    body = {"notification": "x=4"}
    said = (await ask("POST", "/api/trace", [{"broker": "b"}], json=body)).json()
    assert said == {"hops": [{"said": "x = 4"}, {"broker": "b"}]}
    said = (await ask("POST", "/api/trace", json=body)).json()
    assert said == {"error": "no broker answers"}
    said = (await ask("POST", "/api/way", [], json=body)).json()
    assert said == {"steps": [], "of": "x = 4"}
    body = {"notification": "x >"}
    assert "error" in (await ask("POST", "/api/trace", [], json=body)).json()


class Slow(Around):
    """A network that is looked at for as long as the test says."""

    def __init__(self) -> None:
        super().__init__([])
        self.may_end, self._lock, self.now, self.most = Event(), Lock(), 0, 0

    def survey(self, scope: Scope, here: object) -> list[dict[str, Any]]:
        with self._lock:
            self.now += 1
            self.most = max(self.most, self.now)
        self.may_end.wait()
        with self._lock:
            self.now -= 1
        return super().survey(scope, here)


async def test_few_look_around_at_a_time() -> None:
    slow = Slow()
    transport = httpx.ASGITransport(Starlette(routes=around_routes(slow)))
    async with (
        httpx.AsyncClient(transport=transport, base_url="http://b") as asking,
        asyncio.TaskGroup() as tasks,
    ):
        asked = [
            tasks.create_task(asking.get("/api/network")) for _ in range(2 * LOOKS_MAX)
        ]
        await until(lambda: slow.now >= LOOKS_MAX)
        for _ in range(100):  # the others would have come by now
            await asyncio.sleep(0)
        slow.may_end.set()
    assert slow.most == LOOKS_MAX
    assert {each.result().status_code for each in asked} == {200}
