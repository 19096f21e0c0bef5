"""``siena bench broker``: our broker under load, and other servers beside it."""

import json
import sys
from enum import StrEnum
from math import inf
from pathlib import Path
from typing import Annotated

import typer

from siena.bench.broker.contenders.contender import Contender
from siena.bench.broker.contenders.mosquitto import Mosquitto
from siena.bench.broker.contenders.nats import Nats
from siena.bench.broker.contenders.rabbitmq import RabbitMQ
from siena.bench.broker.contenders.redis import Redis
from siena.bench.broker.contenders.siena import GrantedSiena, Siena
from siena.bench.broker.kernels import require_compiled
from siena.bench.broker.processes import Cores
from siena.bench.broker.report import as_object, show
from siena.bench.broker.rounds import Plan, measure, ratio
from siena.bench.broker.workload import Workload
from siena.cli.common.progress import Progress
from siena.cli.terminal.termination import ending_in_order
from siena.errors import SienaError


class PeerServer(StrEnum):
    """Servers of other makers, and our own with grants."""

    GRANTS = "grants"
    NATS = "nats"
    REDIS = "redis"
    MOSQUITTO = "mosquitto"
    RABBITMQ = "rabbitmq"


PEERS: dict[PeerServer, type[Contender]] = {
    PeerServer.GRANTS: GrantedSiena,
    PeerServer.NATS: Nats,
    PeerServer.REDIS: Redis,
    PeerServer.MOSQUITTO: Mosquitto,
    PeerServer.RABBITMQ: RabbitMQ,
}


def bench_broker(
    *,
    interests: Annotated[int, typer.Option(help="How many interests.")] = 100,
    connections: Annotated[
        int, typer.Option(help="How many connections have them.")
    ] = 10,
    matches: Annotated[
        float, typer.Option(help="How many of them a notification meets, on average.")
    ] = 1.0,
    publishers: Annotated[
        int, typer.Option(help="How many other connections publish.")
    ] = 1,
    unbatched: Annotated[
        bool, typer.Option("--unbatched", help="Publish with one send for each.")
    ] = False,
    rounds: Annotated[int, typer.Option(help="Rounds; the median counts.")] = 5,
    seconds: Annotated[
        float, typer.Option(help="How long each part of a round takes.")
    ] = 2.0,
    rate: Annotated[
        float,
        typer.Option(help="Latency is taken at so many publications/s, and half load."),
    ] = 1000.0,
    load: Annotated[
        float,
        typer.Option(
            help="Publish no more than so many/s: the same load for all servers.",
            show_default=False,
        ),
    ] = inf,
    peer: Annotated[
        list[PeerServer] | None,
        typer.Option(help="Another server, the same work in turn; may be repeated."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Decides what is drawn.")] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Load a broker on one core from another, and check every delivery.

    Notifications have ten attributes and 150 bytes.  Interests are band-shaped:
    symbol = X and price > Y and price < Y2 and change < Z.  A peer gets a topic for
    each symbol, and its clients filter the rest.  Each round floods a server, then
    publishes at a steady rate and at half of what it took in the flood; latency is
    counted from when a publication was to be sent.  The peer "grants" is our broker
    again, with grants for 10 000 identities.  "in force" is how long a new
    subscription takes at half load.  Servers come from the PATH, listen to a free port
    of the loopback and keep their files in a folder that is removed.

    \b
    Examples:
      siena bench broker
      siena bench broker --interests 1 --connections 1 --peer nats
      siena bench broker --interests 100000 --connections 100 --matches 10 --peer nats
      siena bench broker --peer grants
      siena bench broker --publishers 20 --unbatched --peer nats --peer redis --json
    """  # noqa: D301 -- Typer needs the backspace itself
    require_compiled()
    if not Path("/proc/self/stat").exists():
        raise SienaError("bench broker counts CPU time in /proc, which is not here")
    workload = Workload(interests, connections, matches, seed)
    plan = Plan(workload, publishers, unbatched, rounds, seconds, rate, load)
    contenders = [Siena(), *(PEERS[each]() for each in dict.fromkeys(peer or []))]
    for contender in contenders:
        contender.find()  # before anything is started
    cores = Cores.choose()
    if cores.are_shared:
        print("one core: server and generator take turns on it", file=sys.stderr)
    progress = Progress(sys.stderr)
    try:
        with ending_in_order():
            results = measure(contenders, plan, cores, progress.show)
    finally:
        progress.clear()
    ratios = [ratio(results[0], each) for each in results[1:]]
    if as_json:
        print(json.dumps(as_object(results, ratios, plan)))
    else:
        show(results, ratios, plan)
