"""docs/reference/openapi.json has every path that is served, and nothing else."""

import json
import runpy
from typing import Any

import pytest
from starlette.routing import BaseRoute, Route

from http_wire import web
from repository import ROOT
from siena.broker.http.app import make_app
from siena.broker.http.publish import PATH
from siena.broker.peers.destination import LINK_PATH
from siena.cli.console.looking_around import LookAround
from siena.web.around import around_routes

FILE = ROOT / "docs" / "reference" / "openapi.json"


def described() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def ways_of(routes: list[BaseRoute]) -> set[tuple[str, str]]:
    """Each path and method; of WebSockets nothing is said, nor of who misses them."""
    return {
        (route.path, method.lower())
        for route in routes
        if isinstance(route, Route) and route.path not in {"/ws", LINK_PATH}
        for method in (route.methods or set()) - {"HEAD"}
    }


async def test_every_path_that_is_served_is_described() -> None:
    async with web() as found:
        server = found.server
        more = around_routes(LookAround(found.broker))
        app = make_app(server.entry, server.handlers, (), more)
        served = ways_of(app.routes) | {(PATH, "post")}
    paths = described()["paths"].items()
    assert {(path, method) for path, each in paths for method in each} == served


def test_the_file_is_what_the_tool_writes() -> None:
    made = runpy.run_path(str(ROOT / "tools" / "describe_http.py"))
    assert FILE.read_text(encoding="utf-8") == made["text"](), (
        "python tools/describe_http.py"
    )


async def test_an_error_is_as_described() -> None:
    schema = described()["components"]["schemas"]["Error"]
    async with web() as found:
        answer = await found.client.get("/subscribe?filter=x%20%3E")
    said = answer.json()
    assert answer.status_code == 400
    assert set(schema["required"]) <= said.keys() <= schema["properties"].keys()


@pytest.mark.slow
def test_it_is_openapi() -> None:
    validator = pytest.importorskip(
        "openapi_spec_validator", reason="pip install .[deploy]"
    )
    validator.validate(described())
