"""Do production routers cost what the oracle of figures 26 to 33 says they do?

Each scenario is carried twice: message by message, by the routers that brokers run, and
by an oracle that only counts (F.5 of our specification).  Without latency both must
come to the same number of messages and the same cost, kind by kind.
"""

from collections.abc import Sequence

from matplotlib.figure import Figure

from siena.research.studies.figures.architecture_figures import (
    ARCHITECTURES,
    PARAMETERS,
    TITLES,
)
from siena.research.studies.framework.claim import Answer, Claim, decided
from siena.research.studies.framework.rows import Row, number, where
from siena.research.studies.framework.spoils import constant, each, one, times
from siena.research.studies.framework.study import Size, Study, among
from siena.research.studies.reporting.drawing import (
    COLOURS,
    MARKS,
    finish,
    formula,
    panels,
)
from siena.research.studies.runs.architectures import parameters
from siena.research.studies.runs.brokers import carry_twice

SIZES = {
    "full": (
        *((o, p) for p in (1, 10, 100, 1000) for o in (1, 10, 100)),
        (1000, 10_000),
    ),
    "quick": tuple((o, p) for p in (1, 10, 100) for o in (1, 10)),
    "test": ((1, 1), (2, 10)),
}


def plan(size: Size, seeds: int) -> list[Row]:
    """All architectures; the whole reference scenario once for each."""
    return [
        parameters(name, objects, parties, seed)
        for objects, parties in SIZES[size]
        for name in ARCHITECTURES
        for seed in among(1 if parties == 10_000 else seeds)
    ]


def _same(rows: Sequence[Row]) -> Answer:
    same = sum(
        row["agrees"] is True and row["messages"] == row["counted"] for row in rows
    )
    largest = max(number(row, "messages") for row in rows)
    words = f"{same} of {len(rows)} runs, up to {largest:,.0f} messages"
    return decided(same == len(rows) and largest > 0, words)


CLAIMS = (
    Claim(
        "T-F2",
        "without latency, routers send what the oracle counts, kind by kind",
        "numbers of messages and costs of every kind: equal in every single run",
        _same,
        {
            "one run differs": one(constant("agrees", False)),
            "one message more": one(times("messages", 1.000001)),
            "none sends any": each(lambda _: {"messages": 0, "counted": 0}),
        },
    ),
)


def draw(rows: Sequence[Row]) -> Figure:
    """Messages of brokers against messages counted."""
    figure, (axes,) = panels(1)
    for style, name in enumerate(ARCHITECTURES):
        own = where(rows, architecture=name)
        axes.scatter(
            [number(row, "counted") for row in own],
            [number(row, "messages") for row in own],
            label=TITLES[name],
            marker=MARKS[style],
            s=18,
            facecolors="none",
            edgecolors=COLOURS[style],
        )
    counted = sorted(number(row, "counted") for row in rows)
    ends = counted[0], counted[-1]
    formula(axes, dict(zip(ends, ends, strict=True)), "equal")
    finish(axes, "One run each", "messages counted", "messages sent", log="xy")
    return figure


STUDY = Study(
    name="brokers",
    title="Production routers against the oracle",
    paper="ours (T-F2), for CU-CS-888-99, section 6.2",
    says="The paper simulates messages between servers. We count, for the whole sweep "
    "of figures 26 to 33, and let the routers of our brokers do it for a part of it.",
    shape="All points on the diagonal.",
    caption="Messages that production routers sent against messages that the oracle of "
    "figures 26 to 33 counted; a mark for each run, 100 sites, both axes logarithmic.",
    parameters=PARAMETERS,
    run=carry_twice,
    plan=plan,
    claims=CLAIMS,
    draw=draw,
    bands="Every mark is one run.",
    seeds={"full": 2, "quick": 1, "test": 1},
    remark="A centralised service is at the first transit site here, in both.",
)
