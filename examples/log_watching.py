"""Watching logs: lines become notifications, and patterns find what hides in them.

python examples/log_watching.py
"""

import asyncio
import re

import siena
from siena import testing

LOG = """\
10:00:01 web1 GET /index 200 12ms
10:00:02 web1 LOGIN ada failed
10:00:02 web2 GET /slow 200 2310ms
10:00:03 web1 LOGIN ada failed
10:00:04 web2 GET /cart 500 35ms
10:00:05 web1 LOGIN ada ok
10:00:06 web2 LOGIN bea ok
"""
REQUEST = re.compile(r"(\S+) (\S+) GET (\S+) (\d+) (\d+)ms")
LOGIN = re.compile(r"(\S+) (\S+) LOGIN (\S+) (\S+)")


def read(line: str) -> siena.Notification:
    """A line as a notification."""
    if found := REQUEST.fullmatch(line):
        _, host, path, status, took = found.groups()
        return siena.Notification(
            host=host, path=path, status=int(status), took_ms=int(took)
        )
    found = LOGIN.fullmatch(line)
    assert found, line
    _, host, user, outcome = found.groups()
    return siena.Notification(host=host, login=outcome, user=user)


async def main() -> None:
    """One reads the log, others watch."""
    with testing.broker() as broker:
        async with (
            siena.connect(broker.url) as reader,
            siena.connect(broker.url) as you,
        ):
            trouble = await you.subscribe("status >= 500 or took_ms > 1000").settled()
            guessing = await you.subscribe(
                "login = failed and user = ada then login = failed and user = ada "
                "then login = ok and user = ada"
            ).settled()
            await reader.publish_many(map(read, LOG.splitlines()))
            await reader.flush()
            async for each in trouble.within(1):
                print(f"trouble: {each['host']} {each['path']} {each['status']}")
            (*_, entered) = await guessing.get(10)
            print(f"guessed: {entered['user']} is in, at the third try")


if __name__ == "__main__":
    asyncio.run(main())
