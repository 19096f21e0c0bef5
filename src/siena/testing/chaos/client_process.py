"""A client in a process of its own, which can be killed: it keeps nothing.

``python -m siena.testing.chaos.client_process read URL NAME FILTER`` reads a durable
subscription, and says what has come before it acknowledges it, a line of JSON each.
``… publish URL NAME`` says how many of its publications the broker has, then publishes
what it is told, a line of JSON each, and says when each has its receipt.
"""

import asyncio
import json
import sys

from siena.client.connect import connect
from siena.client.core.backoff import Backoff

MODULE = "siena.testing.chaos.client_process"
_RECONNECT = Backoff(first_s=0.05, most_s=0.5, give_up_s=3600.0)


async def read(url: str, name: str, interest: str) -> None:
    """Read until killed."""
    async with (
        connect(url, reconnect=_RECONNECT, patient=True, keepalive_s=2.0) as client,
        client.subscribe(interest, durable=name, key="publisher") as messages,
    ):
        _say("ready")
        async for message in messages:
            _say(json.dumps([dict(message.notification), message.offset]))
            message.ack()


async def publish(url: str, name: str) -> None:
    """Publish what is said on stdin, one after the other."""
    loop = asyncio.get_running_loop()
    async with connect(
        *(url,), publisher=name, reconnect=_RECONNECT, patient=True, keepalive_s=2.0
    ) as client:
        _say(str(await client.next_sequence()))
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            await client.publish(json.loads(line), ack=True)
            _say("stored")


def _say(text: str) -> None:
    print(text, flush=True)  # noqa: T201 -- its one way to speak


def main(kind: str, *said: str) -> None:
    """Read, or publish."""
    asyncio.run(read(*said) if kind == "read" else publish(*said))


if __name__ == "__main__":
    main(*sys.argv[1:])
