"""``siena serve``: run a broker, or a network of them, until it is ended."""

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeVar

import typer

from siena.broker.broker import Broker
from siena.broker.logs import LogFormat, set_up_logs
from siena.broker.memory import keep_memory, spare_what_stays
from siena.broker.network import (
    Network,
    NetworkSettings,
    read_network,
    serving_http,
)
from siena.broker.settings import Settings, gather
from siena.broker.workers.supervisor import WORKERS_MAX, Workers
from siena.cli.terminal.termination import on_signal
from siena.errors import SienaError
from siena.protocol.address import PORT, Address

if TYPE_CHECKING:
    from siena.broker.http.server import HttpServer

logger = logging.getLogger("siena.serve")


S_contra = TypeVar("S_contra", contravariant=True)


def serve(
    *,
    listen: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST:PORT", help=f"Where to listen [default: 127.0.0.1:{PORT}]."
        ),
    ] = None,
    http: Annotated[
        str | None,
        typer.Option(
            metavar="HOST:PORT",
            help="Serve HTTP as well, there, with the console; of a network, at its "
            "first broker [default: no; default port: 2680].",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="What it is called in its network [default: its address]."),
    ] = None,
    peer: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Link to this broker, without any cycle."),
    ] = None,
    mesh: Annotated[
        list[str] | None,
        typer.Option(metavar="URL", help="Link to this broker; there may be cycles."),
    ] = None,
    accept_peers: Annotated[
        bool,
        typer.Option("--accept-peers", help="Let other brokers link to this one."),
    ] = False,
    master: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Be below this broker in a hierarchy."),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Settings, in TOML; SIGHUP reads it again."),
    ] = None,
    network: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Run all brokers of a network, in TOML."),
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep what is published there, for readers by offset [default: no].",
        ),
    ] = None,
    store: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Keep the log in a stream of NATS JetStream or a topic of Kafka as "
            "well, as in nats://HOST:4222/NAME or kafka://HOST:9092/NAME; --log is its "
            "working copy [default: no].",
        ),
    ] = None,
    workers: Annotated[
        int,
        typer.Option(min=1, max=WORKERS_MAX, help="Serve with several processes."),
    ] = 1,
    insecure_listen: Annotated[
        bool,
        typer.Option(
            "--insecure-listen", help="Allow to be reached from other machines."
        ),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Say that it is ready as a JSON object.")
    ] = False,
    log_format: Annotated[
        LogFormat | None,
        typer.Option(
            help="How lines on standard error are written [default: text].",
            show_default=False,
        ),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Say when links come and go.")
    ] = False,
) -> None:
    """Run a broker; Ctrl-C, or SIGTERM, ends it after what is left has been sent.

    Flags count for more than the environment (SIENA_LISTEN, SIENA_HTTP, SIENA_NAME,
    SIENA_LOG_FORMAT), and that for more than the file.

    \b
    Examples:
      siena serve                             at 127.0.0.1:2606
      siena serve --listen 127.0.0.1:0        at a port that is free
      siena serve --accept-peers              and others may link to it:
      siena serve --listen :2607 --peer siena://127.0.0.1:2606
      siena serve --http 127.0.0.1:2680       publish, subscribe, watch by HTTP
      siena serve --peer wss://hub.example    link through proxies, to its --http
      siena serve --log /var/lib/siena        keep it, for Spark and others by offset
      siena serve --log copy --store nats://127.0.0.1:4222/orders
      siena serve --network examples/five-brokers.toml --http :2680
    """  # noqa: D301 -- Typer needs the backspace itself
    level = logging.INFO if verbose else logging.WARNING
    logger.setLevel(logging.INFO)  # what the command itself says is always of interest
    if network is not None:
        said = (listen, name, peer, mesh, master, config, log, store, accept_peers)
        if any(said) or insecure_listen or workers > 1:
            raise typer.BadParameter("the file says everything", param_hint="--network")
        set_up_logs(log_format or "text", level)
        _runner().run(_serve_network(network, http, json=json))
        return
    log_flags = {"path": str(log) if log else None, "store": store}
    flags: dict[str, Any] = {
        "listen": listen or None,
        "http": http,
        "name": name,
        "log_format": log_format,
        "accept_peers": accept_peers or None,
        "insecure_listen": insecure_listen or None,
        "log": {key: said for key, said in log_flags.items() if said} or None,
    }
    links = _links(peer or [], mesh or [], master)

    def read() -> Settings:
        settings = gather(config, os.environ, flags)
        return settings.linked_to(links)

    set_up_logs(read().log_format, level)
    if workers > 1:
        _serve_workers(read, workers, json=json)
    else:
        _runner().run(_serve(read, json=json))


def _links(
    peers: list[str], meshes: list[str], master: str | None
) -> list[dict[str, str]]:
    said = [("peer", peers), ("mesh", meshes), ("master", [master] if master else [])]
    return [{"url": url, "side": side} for side, urls in said for url in urls]


def _runner() -> asyncio.Runner:
    """A runner with the fastest loop that there is, in a process that is its own."""
    keep_memory()
    spare_what_stays()
    os.umask(0o077)  # what it keeps is not for everybody on this machine
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        return asyncio.Runner()
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


def _serve_workers(read: Callable[[], Settings], count: int, *, json: bool) -> None:
    settings = read()
    if settings.log.path is not None:
        hint = "start a broker of its own, with --peer"
        raise SienaError("several workers keep no log", hint=hint)

    def end(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    try:
        with Workers(settings, count, _runner) as workers:
            signal.signal(signal.SIGHUP, lambda *_: workers.hang_up())
            _say_ready(workers.name, workers.addresses, workers.http, json=json)
            workers.supervise(lambda: _reload(workers, read))
    except KeyboardInterrupt:
        logger.info("drained")


async def _serve_network(path: Path, http: str | None, *, json: bool) -> None:
    def read() -> NetworkSettings:
        settings = read_network(path)
        return settings if http is None else serving_http(settings, http)

    network = Network(read())
    await network.start()
    ended = _ended()
    servers: list[HttpServer] = []
    try:
        on_signal("SIGHUP", partial(_reload, network, read))
        for broker in network.brokers.values():
            server = await _serve_http(broker)
            servers += [server] if server else []
            where = server.url if server else None
            _say_ready(broker.name, broker.addresses, where, json=json)
        await ended.wait()
        logger.info("draining")
    finally:
        for server in servers:
            await server.drain()
        await network.drain()


def _ended() -> asyncio.Event:
    """Set when a signal wants this to end."""
    ended = asyncio.Event()
    for name in ("SIGTERM", "SIGINT", "SIGBREAK"):
        on_signal(name, ended.set)
    return ended


async def _serve(read: Callable[[], Settings], *, json: bool) -> None:
    broker = Broker(read())
    await broker.start()
    try:
        http = await _serve_http(broker)
    except BaseException:
        await broker.drain()
        raise
    ended = _ended()
    on_signal("SIGHUP", partial(_reload, broker, read))
    where = http.url if http else None
    _say_ready(broker.name, broker.addresses, where, json=json)
    await ended.wait()
    logger.info("draining")
    if http is not None:
        await http.drain()
    await broker.drain()


async def _serve_http(broker: Broker) -> "HttpServer | None":
    """The HTTP side, if it is wanted: what it needs is loaded then."""
    where = broker.settings.http
    if where is None:
        return None
    from siena.broker.http.server import HttpServer, read_where
    from siena.cli.console.looking_around import LookAround
    from siena.web.around import around_routes
    from siena.web.files import file_routes

    # The console is for this machine, and for who has said who they are.
    is_shown = read_where(where).is_loopback or broker.access.has_identities
    shown = [*around_routes(LookAround(broker)), *file_routes()]
    routes = shown if is_shown else []
    server = HttpServer(broker, where, routes)
    await server.start()
    if not is_shown:
        logger.info(
            "the console and /siena.js are not served at %s: other machines can reach "
            "it, and [access] does not ask who they are",
            server.url,
        )
    return server


class Reloadable(Protocol[S_contra]):
    """What takes over settings while it serves."""

    def reload(self, settings: S_contra) -> list[str]:
        """Take over what can change; the names of what cannot."""
        ...


def _reload(broker: Reloadable[S_contra], read: Callable[[], S_contra]) -> None:
    """Read the settings again; if they are wrong, go on with those that were."""
    try:
        left = broker.reload(read())
    except (SienaError, OSError) as error:
        logger.warning("not reloaded: %s", error)
        return
    rest = f"; at the next start: {', '.join(left)}" if left else ""
    logger.info("reloaded%s", rest)


def _say_ready(
    name: str,
    addresses: Iterable[Address],
    http: str | None = None,
    *,
    json: bool,
) -> None:
    urls = [address.url for address in addresses]
    if json:
        from json import dumps

        said = {"ready": True, "broker": name, "urls": urls, "http": http}
        print(dumps(said), flush=True)
    else:
        where = ", ".join([*urls, http] if http else urls)
        print(f"broker {name} is ready at {where}", flush=True)
