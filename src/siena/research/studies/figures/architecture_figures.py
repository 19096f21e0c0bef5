"""What figures 26 to 33 of CU-CS-888-99 have in common.

Rows are runs of :mod:`siena.research.studies.runs.architectures`.  x: the number of
interested parties.  Architectures: ``ce`` centralised, ``hs`` hierarchical, ``as``
acyclic with subscriptions forwarded, ``aa`` acyclic with advertisements
forwarded.  Figures 26 to 30 are drawn from the same runs.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from matplotlib.axes import Axes

from siena.research.studies.framework.claim import Select, Spoil, having
from siena.research.studies.framework.intervals import (
    Interval,
    Samples,
    cells,
    curve_of,
    ratio,
)
from siena.research.studies.framework.rows import Row, curve, distinct, number, where
from siena.research.studies.framework.spoils import each
from siena.research.studies.framework.study import Parameter, Size, among
from siena.research.studies.reporting.drawing import line
from siena.research.studies.runs.architectures import COMBINATIONS, parameters

ARCHITECTURES = tuple(COMBINATIONS)
TITLES = {
    "ce": "ce: centralised",
    "hs": "hs: hierarchical",
    "as": "as: acyclic, subscription forwarding",
    "aa": "aa: acyclic, advertisement forwarding",
}
OBJECTS = (1, 10, 100, 1000)
# The papers' axis is logarithmic; 30 and 300 are ours, because claims are about them.
PARTIES = {
    "full": (1, 2, 5, 10, 20, 30, 50, 100, 200, 300, 500, 1000, 2000, 5000, 10_000),
    "quick": (1, 3, 10, 30, 100, 300, 1000, 10_000),
    "test": (1, 10, 100, 1000),
}
# What a small version has: objects and parties, enough for every claim to be tried.
TINY = (
    *((1, parties) for parties in (1, 10, 100, 300, 1000, 10_000)),
    *((10, parties) for parties in (1, 10, 100, 1000)),
    *((1000, parties) for parties in (1, 10)),
)
# From here on there is a party at almost every one of a hundred sites.
SATURATION = 300

PAPER = "CU-CS-888-99"
Costs = dict[str, dict[float, float]]
"""By architecture, then by number of parties."""

PARAMETERS = (
    Parameter("sites", "100, one broker each", "stated"),
    Parameter("topology", "transit-stub, GT-ITM's 100-node sample", "model stated"),
    Parameter("link costs", "stubs 1~10, to transit 10~30, transit 20~60", "ours"),
    Parameter("tree", "least spanning tree; hs rooted at a transit site", "ours"),
    Parameter("ce", "at a random site, reached the shortest way", "ours"),
    Parameter("an object", "10 cycles of advertise, 10 publish, unadvertise", "stated"),
    Parameter("time between publications", "exponential, mean 2000~2500", "stated"),
    Parameter("a party", "10 cycles of subscribe, 10 receive, unsubscribe", "stated"),
    Parameter("first advertisement, subscription", "in [0, 2500], in [0, 1]", "ours"),
    Parameter("latency", "0", "ours"),
    Parameter("runs", "a network, places and times for each seed", "10 stated"),
)

TWO_VIEWS = (
    " Above, y is linear, as in the paper; below are the same curves with a "
    "logarithmic y. x is logarithmic."
)
"""The end of a caption."""


def parameters_with(*own: Parameter) -> tuple[Parameter, ...]:
    """What a figure has of its own, and all else that the figures have in common.

    >>> [p.value for p in parameters_with(Parameter("latency", "1", "ours"))
    ...  if p.name == "latency"]
    ['1']
    """
    known = {parameter.name for parameter in own}
    return (*own, *(each_ for each_ in PARAMETERS if each_.name not in known))


def sweep(size: Size, seeds: int) -> list[Row]:
    """All architectures, objects and parties: the rows of figures 26 to 30."""
    pairs = [(objects, parties) for parties in PARTIES[size] for objects in OBJECTS]
    return [
        parameters(architecture, objects, parties, seed)
        for objects, parties in (TINY if size == "test" else pairs)
        for architecture in ARCHITECTURES
        for seed in among(seeds)
    ]


def costs(
    rows: Sequence[Row], objects: int | None = None, value: str = "cost"
) -> Costs:
    """Mean costs by architecture and number of parties."""
    own = rows if objects is None else where(rows, objects=objects)
    return {
        name: curve(where(own, architecture=name), "parties", value)
        for name in ARCHITECTURES
        if where(own, architecture=name)
    }


def all_objects(rows: Sequence[Row]) -> list[int]:
    """The numbers of objects that there are."""
    return [int(objects) for objects in distinct(rows, "objects")]


def with_cost_per(rows: Sequence[Row], cost: str, of: str) -> list[Row]:
    """The rows with a column ``each``: a cost, divided by a number of things."""
    return [{**row, "each": number(row, cost) / number(row, of)} for row in rows]


def intervals(
    rows: Sequence[Row], objects: int | None = None, value: str = "cost"
) -> dict[str, dict[float, Interval]]:
    """The same with intervals over the seeds, to be drawn."""
    own = rows if objects is None else where(rows, objects=objects)
    return {
        name: curve_of(same, "parties", value)
        for name in ARCHITECTURES
        if (same := where(own, architecture=name))
    }


def draw_architectures(
    axes: Axes, found: Mapping[str, Mapping[float, float | Interval]]
) -> None:
    """A curve for each architecture."""
    for name, points in found.items():
        line(axes, points, TITLES[name], ARCHITECTURES.index(name))


# --- Claims ---------------------------------------------------------------------

EVERY_CASE = (
    "ratio of means over the seeds in every case, with its 95 % bootstrap interval: "
    "all of it must lie below the limit"
)


class Case(NamedTuple):
    """A cell of the experiment."""

    architecture: str
    objects: int
    parties: int

    def __str__(self) -> str:
        return f"{self.architecture}, O = {self.objects:,}, P = {self.parties:,}"


def cases(rows: Sequence[Row], value: str = "cost") -> dict[Case, Samples]:
    """The values of all cells, by seed."""
    found = cells(rows, ("architecture", "objects", "parties"), value)
    return {
        Case(str(name), int(str(objects)), int(str(parties))): values
        for (name, objects, parties), values in found.items()
    }


def against(
    known: Mapping[Case, Samples], names: Sequence[str], other: str
) -> dict[Case, Interval]:
    """What some architectures cost as a share of what another one does."""
    return {
        case: ratio(samples, known[case._replace(architecture=other)])
        for case, samples in known.items()
        if case.architecture in names and case._replace(architecture=other) in known
    }


def named(margins: Mapping[Case, Interval]) -> dict[str, Interval]:
    """The same by names."""
    return {str(case): margin for case, margin in margins.items()}


def runs(
    names: Sequence[str], is_meant: Callable[[float, float], bool] = lambda *_: True
) -> Select:
    """The runs of some architectures, with some numbers of objects and parties."""
    return having(
        lambda row: (
            row["architecture"] in names
            and is_meant(number(row, "objects"), number(row, "parties"))
        )
    )


def swapped(one: str, other: str) -> Spoil:
    """Two architectures take each other's place."""
    names = {one: other, other: one}
    return each(
        lambda row: {
            "architecture": names.get(str(row["architecture"]), row["architecture"])
        }
    )
