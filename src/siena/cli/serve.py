"""``siena serve``: run a broker until somebody ends it."""

import asyncio
import signal
import sys
from typing import Annotated

import typer

from siena.broker.settings import PORT, Settings

EPILOG = """Examples:

  siena serve                             at 127.0.0.1:2606
  siena serve --listen 127.0.0.1:0        at a port that is free
"""


def serve(
    *,
    listen: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST:PORT", help=f"Where to listen [default: 127.0.0.1:{PORT}]."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="What it is called in its network [default: its address]."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Say that it is ready as a JSON object.")
    ] = False,
) -> None:
    """Run a broker; Ctrl-C, or SIGTERM, ends it after what is left has been sent."""
    settings = Settings(name=name)
    if listen:
        settings = Settings(name=name, listen=tuple(listen))
    _new_loop().run(_serve(settings, json=json))


def _new_loop() -> asyncio.Runner:
    """A runner with the fastest loop that there is."""
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        return asyncio.Runner()
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


async def _serve(settings: Settings, *, json: bool) -> None:
    from siena.broker.broker import Broker

    broker = Broker(settings)
    await broker.start()
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, ended.set)
    _say_ready(broker.name, [address.url for address in broker.addresses], json=json)
    await ended.wait()
    print("siena: draining", file=sys.stderr, flush=True)
    await broker.drain()


def _say_ready(name: str, urls: list[str], *, json: bool) -> None:
    if json:
        from json import dumps

        print(dumps({"ready": True, "broker": name, "urls": urls}), flush=True)
    else:
        print(f"broker {name} is ready at {', '.join(urls)}", flush=True)
