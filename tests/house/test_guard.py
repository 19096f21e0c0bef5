"""Folders keep their promise: a unit test that needs more than this process fails."""

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Callable

import pytest

from guard import NotAUnitTestError


def connect() -> None:
    with socket.socket() as one:
        one.connect(("127.0.0.1", 9))


def listen() -> None:
    async def serve() -> None:
        await asyncio.get_running_loop().create_server(asyncio.Protocol, "127.0.0.1", 0)

    asyncio.run(serve())


@pytest.mark.parametrize(
    "needs_more",
    [
        pytest.param(connect, id="connect"),
        pytest.param(listen, id="listen"),
        pytest.param(lambda: subprocess.run(["true"], check=False), id="process"),  # noqa: S607
        pytest.param(os.fork, id="fork"),
    ],
)
def test_what_needs_more_than_this_process_is_refused(
    needs_more: Callable[[], object],
) -> None:
    with pytest.raises(NotAUnitTestError):
        needs_more()


def test_spark_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    with pytest.raises(NotAUnitTestError):
        import pyspark  # noqa: F401, PLC0415 -- which is what is refused


def test_no_module_of_these_folders_loads_spark(request: pytest.FixtureRequest) -> None:
    """Asked where theirs are the only tests, as in ``make quick``."""
    if not any("integration" in item.path.parts for item in request.session.items):
        assert "pyspark" not in sys.modules
