"""Brokers run in the loop that they run in when they serve."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest
import uvloop

HERE = Path(__file__).parent
TIMEOUT = pytest.mark.timeout(60, method="thread")


def pytest_asyncio_loop_factories(
    config: pytest.Config,  # noqa: ARG001 -- the hook's signature
    item: pytest.Item,  # noqa: ARG001
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": uvloop.new_event_loop}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """End what hangs: a signal does not reach a test while uvloop waits."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(TIMEOUT)
