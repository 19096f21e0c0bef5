"""How many links does a notification cross, in a star and in a chain of brokers?

A study of one's own that asks real routers; docs/guides/studies.md tells how it came to
be.  Run it:  siena study run examples/studies/reach.py --quick
"""

from collections.abc import Sequence
from random import Random

from matplotlib.figure import Figure

from siena.lang import parse_filter
from siena.messages import Subscribe
from siena.model import Notification
from siena.research.studies.framework.claim import Answer, Claim, having
from siena.research.studies.framework.intervals import (
    all_below,
    cells,
    curve_of,
    ratio,
)
from siena.research.studies.framework.rows import Row, integer, text, where
from siena.research.studies.framework.spoils import constant, only, times
from siena.research.studies.framework.study import Parameter, Size, Study, among
from siena.research.studies.reporting.drawing import finish, line, panels
from siena.sim.topologies.regular import chain, star
from siena.sim.world import World

SHAPES = {"star": star, "chain": chain}
SUBSCRIBERS = {"full": (1, 2, 5, 10, 20), "quick": (1, 5, 20), "test": (1, 5)}
BROKERS, PUBLICATIONS = 20, 10


def run(row: Row) -> Row:
    """Links that a notification crosses, on average, carried by routers."""
    random = Random(integer(row, "seed"))
    network = SHAPES[text(row, "shape")](BROKERS)
    world = World(network, "acyclic")
    for place in range(integer(row, "subscribers")):
        subscriber = world.client(f"s{place}", random.choice(network.brokers))
        world.ask(subscriber, Subscribe(parse_filter("x > 0")))
    world.run()
    for place in range(PUBLICATIONS):
        publisher = world.client(f"p{place}", random.choice(network.brokers))
        world.publish(publisher, Notification(x=1))
    world.run()
    return {"links": world.network.account.counts["notify"] / PUBLICATIONS}


def plan(size: Size, seeds: int) -> list[Row]:
    """Both shapes, with few subscribers and with many."""
    return [
        {"shape": shape, "subscribers": subscribers, "seed": seed}
        for subscribers in SUBSCRIBERS[size]
        for shape in SHAPES
        for seed in among(seeds)
    ]


def _nearer(rows: Sequence[Row]) -> Answer:
    known = cells(rows, ("shape",), "links")
    return all_below({"star over chain": ratio(known["star",], known["chain",])})


CLAIMS = (
    Claim(
        "nearer",
        "one subscriber: a notification crosses fewer links in a star than in a chain",
        "ratio of means, with its 95 % bootstrap interval over the seeds: below 1",
        _nearer,
        {
            "as many": constant("links", 7),
            "more": only(lambda row: row["shape"] == "star", times("links", 100)),
        },
        of=having(lambda row: row["subscribers"] == 1),
        about="one subscriber",
        seeds_min=5,
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """A curve for each shape, with the band of its seeds."""
    figure, (axes,) = panels(1)
    for style, shape in enumerate(SHAPES):
        own = where(rows, shape=shape)
        line(axes, curve_of(own, "subscribers", "links"), shape, style)
    finish(axes, f"{BROKERS} brokers", "subscribers", "links crossed", log="x")
    axes.set_ylim(bottom=0)
    return figure


STUDY = Study(
    name="reach",
    title="Links that a notification crosses, in a star and in a chain",
    paper="ours",
    says="Nobody has asked.",
    shape="The star below the chain, and both level off.",
    caption="Links that a notification crosses between 20 brokers, against the number "
    "of subscribers that want it, for brokers in a star and in a chain.",
    parameters=(
        Parameter("brokers", str(BROKERS), "ours"),
        Parameter("subscribers, publishers", "at random brokers", "ours"),
    ),
    run=run,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    seeds={"full": 20, "quick": 10, "test": 5},
)
