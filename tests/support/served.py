"""``siena serve`` as a process of its own."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

SERVE = [sys.executable, "-m", "siena", "serve"]


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [*SERVE, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as found:
        try:
            yield found
        finally:
            found.kill()


def ready(found: subprocess.Popen[str]) -> dict[str, Any]:
    assert found.stdout is not None
    said: dict[str, Any] = json.loads(found.stdout.readline())
    return said
