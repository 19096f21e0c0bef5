"""``siena bench network``: brokers that are linked, and other makers' beside them."""

import json
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import product
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from siena.bench.broker.kernels import require_compiled
from siena.bench.broker.workload import Workload
from siena.bench.network.floods import ALONE, Entry, FloodPlan, contend
from siena.bench.network.layout import Layout
from siena.bench.network.makes.make import Make, Place
from siena.bench.network.makes.nats import NatsLeaves, NatsRoutes
from siena.bench.network.makes.redis import RedisCluster
from siena.bench.network.makes.siena import SienaNetwork, SienaWorkers
from siena.bench.network.report import Report, as_object, show
from siena.bench.network.settling import coming, first_link
from siena.bench.network.shapes import Shape
from siena.broker.workers.supervisor import WORKERS_MAX
from siena.cli.common.progress import Progress
from siena.cli.terminal.termination import ending_in_order
from siena.errors import SienaError

INTERESTS_MAX = 1_000_000
LAYOUTS = ("chain:2", "chain:3", "star:4", "ring:3")
WORKLOADS = ("1/1/1", "100/10/1")
# With several processes, several publish: one connection is served by one process.
PUBLISHERS_OF_WORKERS = 8


class Part(StrEnum):
    """What can be measured."""

    LINKS = "links"
    WORKERS = "workers"
    INTERESTS = "interests"
    FIRST_LINK = "first-link"


class PeerNetwork(StrEnum):
    """Networks of other makers."""

    NATS = "nats"
    NATS_LEAF = "nats-leaf"
    REDIS = "redis"


PEERS: dict[PeerNetwork, type[Make]] = {
    PeerNetwork.NATS: NatsRoutes,
    PeerNetwork.NATS_LEAF: NatsLeaves,
    PeerNetwork.REDIS: RedisCluster,
}
# What a broker of each is alone: a leaf node is then a server as any other.
ALONE_AS = {
    PeerNetwork.NATS: NatsRoutes,
    PeerNetwork.NATS_LEAF: NatsRoutes,
    PeerNetwork.REDIS: RedisCluster,
}


def bench_network(
    *,
    part: Annotated[
        list[Part] | None,
        typer.Option(help="What to measure; may be repeated [default: all]."),
    ] = None,
    layout: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SHAPE",
            help="A network: chain:N, star:N, ring:N, tree:BxD; may be repeated "
            "[default: chain:2, chain:3, star:4, ring:3].",
        ),
    ] = None,
    workload: Annotated[
        list[str] | None,
        typer.Option(
            metavar="I/C/M",
            help="Interests, connections that have them, and how many of them a "
            "notification meets; may be repeated [default: 1/1/1, 100/10/1].",
        ),
    ] = None,
    peer: Annotated[
        list[PeerNetwork] | None,
        typer.Option(help="Another make, the same work in turn; may be repeated."),
    ] = None,
    workers: Annotated[
        str, typer.Option(help="Serve one port with so many processes, in turn.")
    ] = "1,2",
    shape: Annotated[
        list[Shape] | None,
        typer.Option(help="How interests look; may be repeated [default: all]."),
    ] = None,
    interests: Annotated[
        int, typer.Option(min=1, max=INTERESTS_MAX, help="How many of each shape.")
    ] = 1000,
    patience: Annotated[
        float, typer.Option(min=0.1, help="How many seconds a shape may take.")
    ] = 60.0,
    rounds: Annotated[int, typer.Option(min=1, help="Rounds; the median counts.")] = 5,
    seconds: Annotated[
        float, typer.Option(min=0.05, help="How long each flood takes.")
    ] = 1.0,
    seed: Annotated[int, typer.Option(help="Decides what is drawn.")] = 1,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Measure what it costs to cross a link, for publications and for interests.

    All brokers are processes of this machine, each pinned to a core; the load
    generator has the last core.  There are four parts.

    \b
    links       A publisher floods the broker at one end, subscribers are at the
                other.  Counted are publications for a CPU second of all brokers,
                and of those in the middle.  Beside each network one broker does
                the same work alone, so that one can say what a link costs.
    workers     The same load for one broker of several processes.
    interests   A client of the first of two brokers subscribes; each interest is
                answered when it is in force at both.
    first-link  A broker has many interests when its first neighbour comes.

    In the last two another client pings the first broker all the time: the longest
    wait is how long it was silent.  A flood keeps no more than 40 000 deliveries under
    way, so that no server has a reason to drop any, and every delivery is checked: who
    loses one has no figures.  A peer gets a topic for each symbol.  NATS has a cluster
    (nats) where all brokers are linked with each other, and leaf nodes (nats-leaf) for
    trees; a cluster of Redis tells all nodes everything.  Servers come from the PATH.

    \b
    Examples:
      siena bench network --peer nats --peer nats-leaf
      siena bench network --part links --layout chain:3 --workload 1/1/1
      siena bench network --part interests --shape bands --interests 10000
      siena bench network --part first-link --interests 100000 --json
      siena bench network --part workers --workers 1,2,4
    """  # noqa: D301 -- Typer needs the backspace itself
    require_compiled()
    if not Path("/proc/self/stat").exists():
        raise SienaError("bench network counts CPU time in /proc, which is not here")
    asked = Asked(
        parts=part or list(Part),
        layouts=[Layout(each) for each in layout or LAYOUTS],
        workloads=[read_workload(each, seed) for each in workload or WORKLOADS],
        peers=list(dict.fromkeys(peer or [])),
        workers=read_counts(workers),
        shapes=shape or list(Shape),
        interests=interests,
        patience=patience,
        plan=FloodPlan(rounds, seconds),
        seed=seed,
    )
    for each in asked.peers:
        # Before anything is started.
        PEERS[each]().broker(Place(1, (), ALONE, {})).find()
    progress = Progress(sys.stderr)
    try:
        with ending_in_order():
            report = measure(asked, progress.show)
    finally:
        progress.clear()
    if as_json:
        print(json.dumps(as_object(report)))
    else:
        show(report)


class Asked(NamedTuple):
    """What is to be measured."""

    parts: list[Part]
    layouts: list[Layout]
    workloads: list[Workload]
    peers: list[PeerNetwork]
    workers: list[int]
    shapes: list[Shape]
    interests: int
    patience: float
    plan: FloodPlan
    seed: int


def measure(asked: Asked, say: Callable[[str], None]) -> Report:
    """One part after the other."""
    report = Report()
    if Part.LINKS in asked.parts:
        for workload, layout in product(asked.workloads, asked.layouts):
            makes = contestants(layout, asked.peers)
            report.contests.append(contend(makes, workload, asked.plan, say))
    if Part.WORKERS in asked.parts:
        report.workers += _measure_workers(asked, say)
    how = asked.interests, asked.seed, asked.patience, say
    if Part.INTERESTS in asked.parts:
        report.comings += [coming(shape, *how) for shape in asked.shapes]
    if Part.FIRST_LINK in asked.parts:
        report.first_links += [first_link(shape, *how) for shape in asked.shapes]
    return report


def _measure_workers(
    asked: Asked, say: Callable[[str], None]
) -> list[tuple[int, Entry]]:
    makes: list[tuple[Make, Layout]] = [
        (SienaWorkers(each), ALONE) for each in asked.workers
    ]
    plan = replace(asked.plan, publishers=PUBLISHERS_OF_WORKERS)
    contest = contend(makes, asked.workloads[-1], plan, say)
    return list(zip(asked.workers, contest.entries, strict=True))


def contestants(
    layout: Layout, peers: Sequence[PeerNetwork]
) -> list[tuple[Make, Layout]]:
    """Our network, those of peers that can be laid out so, and a broker of each alone.

    >>> peers = [PeerNetwork.NATS, PeerNetwork.NATS_LEAF]
    >>> for make, layout in contestants(Layout("chain:3"), peers):
    ...     print(make.name, layout.shape)
    siena chain:3
    siena chain:1
    nats-leaf chain:3
    nats chain:1
    """
    makes: list[tuple[Make, Layout]] = [(SienaNetwork(), layout)]
    makes.append((SienaNetwork(), ALONE))
    able = [each for each in peers if PEERS[each]().why_not(layout) is None]
    makes += [(PEERS[each](), layout) for each in able]
    makes += [
        (make(), ALONE) for make in dict.fromkeys(ALONE_AS[each] for each in able)
    ]
    return makes[1:] if layout == ALONE else makes


def read_workload(text: str, seed: int) -> Workload:
    """Interests, connections and matches.

    >>> asked = read_workload("100/10/1.5", seed=1)
    >>> asked.interests, asked.connections, asked.matches
    (100, 10, 1.5)
    >>> read_workload("100", seed=1)
    Traceback (most recent call last):
    siena.errors.SienaError: --workload 100 is not of three numbers (write 100/10/1)
    """
    try:
        interests, connections, matches = text.split("/")
        return Workload(int(interests), int(connections), float(matches), seed)
    except ValueError:
        raise SienaError(
            f"--workload {text} is not of three numbers", hint="write 100/10/1"
        ) from None


def read_counts(text: str) -> list[int]:
    """How many processes, in turn.

    >>> read_counts("1,2")
    [1, 2]
    >>> read_counts("0")
    Traceback (most recent call last):
    siena.errors.SienaError: --workers 0 is not of numbers from 1 to 256 (write 1,2)
    """
    parts = text.split(",")
    if not all(part.isdecimal() and 1 <= int(part) <= WORKERS_MAX for part in parts):
        raise SienaError(
            f"--workers {text} is not of numbers from 1 to {WORKERS_MAX}",
            hint="write 1,2",
        )
    return list(dict.fromkeys(map(int, parts)))
