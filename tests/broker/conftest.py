"""Brokers run in the loop that they run in when they serve."""

import asyncio
from collections.abc import Callable

import pytest
import uvloop


def pytest_asyncio_loop_factories(
    config: pytest.Config,  # noqa: ARG001 -- the hook's signature
    item: pytest.Item,  # noqa: ARG001
) -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": uvloop.new_event_loop}
