"""A picture of a world: boxes for its brokers with their tables, and its links.

What stands where is decided here, in inches; paper and ink belong to the command.
Letters are as wide as high by a fixed ratio, as in every typewriter font, so that the
size of a box follows from what it says.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product

from siena.errors import LimitError
from siena.routing.topology.topology import Broker
from siena.sim.picture.placing import Places, Size, place
from siena.sim.world import World

# Letters of a table, in inches: 7 points high.
LINE_HEIGHT = 0.13
LETTER_WIDTH = 0.0592
MARGIN = 0.07
# Longer tables, filters and lists of holders are cut: a drawing is for looking at.
LINES_MAX = 8
CHARACTERS_MAX = 32
HOLDERS_MAX = 12
# More would be neither legible nor quick.
BROKERS_MAX = 250

# Where on a link its weight may stand, the best place first.
_ALONG = (0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8)


@dataclass(frozen=True, slots=True)
class Box:
    """A broker: its middle, its size, and the lines of its table."""

    broker: Broker
    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """A link between two boxes; where its weight stands, unless it is 1."""

    one: Broker
    other: Broker
    weight: str = ""
    x: float = 0
    y: float = 0


@dataclass(frozen=True, slots=True)
class Picture:
    """All that is to be drawn; boxes are on top of lines."""

    boxes: tuple[Box, ...]
    lines: tuple[Line, ...]

    @property
    def size(self) -> Size:
        """From 0, 0 to the right and downwards."""
        return (
            max(box.x + box.width / 2 for box in self.boxes),
            -min(box.y - box.height / 2 for box in self.boxes),
        )


def draw(world: World) -> Picture:
    """The picture of a world.

    >>> from siena.sim.topologies.regular import chain
    >>> picture = draw(World(chain(3), "acyclic"))
    >>> [box.broker for box in picture.boxes], len(picture.lines)
    ([1, 2, 3], 2)
    """
    topology = world.topology
    if len(topology) > BROKERS_MAX:
        raise LimitError("BROKERS_MAX", BROKERS_MAX, "brokers in a drawing")
    tables = {broker: _table(world, broker) for broker in topology.brokers}
    sizes = {broker: _size(broker, lines) for broker, lines in tables.items()}
    places = place(topology, sizes)
    boxes = tuple(
        Box(broker, *places[broker], *sizes[broker], tables[broker])
        for broker in topology.brokers
    )
    links = {
        (one, other): "" if weight == 1 else f"{float(weight):g}"
        for one, other, weight in topology.links
    }
    return Picture(boxes, tuple(_lines(links, boxes, places)))


def _size(broker: Broker, lines: tuple[str, ...]) -> Size:
    letters = max([len(str(broker)) + 2, *map(len, lines)])
    return (
        letters * LETTER_WIDTH + 2 * MARGIN,
        (len(lines) + 1) * LINE_HEIGHT + 2 * MARGIN,
    )


def _table(world: World, broker: Broker) -> tuple[str, ...]:
    """The filters of a broker, each with those who hold it."""
    router = world.routers.get(broker)
    if router is None:
        return ()
    table = router.tables.filters
    lines = []
    for f in sorted(table, key=str):
        hops = sorted(str(holder.hop) for holder in table.holders(f))
        who = _cut(", ".join(dict.fromkeys(hops)), HOLDERS_MAX)
        lines.append(f"{_cut(str(f), CHARACTERS_MAX)} : {who}")
    if len(lines) > LINES_MAX:
        lines = [*lines[: LINES_MAX - 1], f"… {len(lines) - LINES_MAX + 1} more"]
    return tuple(lines)


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[: characters - 1]}…"


# --- Weights ------------------------------------------------------------------------

# Left, right, bottom, top.
_Area = tuple[float, float, float, float]


def _lines(
    links: Mapping[tuple[Broker, Broker], str], boxes: Iterable[Box], places: Places
) -> list[Line]:
    """The links, with their weights where they cover no box, and not each other."""
    taken = [_around(box.x, box.y, box.width, box.height) for box in boxes]
    lines: list[Line] = []
    for (one, other), weight in links.items():
        if not weight:
            lines.append(Line(one, other))
            continue
        (x, y), (to_x, to_y) = places[one], places[other]
        height = LINE_HEIGHT
        width = len(weight) * LETTER_WIDTH + 0.04
        areas = [
            _around(x + (to_x - x) * part, y + (to_y - y) * part, width, height)
            for part in _ALONG
        ]
        best = min(areas, key=lambda area: sum(_common(area, t) for t in taken))
        taken.append(best)
        left, right, bottom, top = best
        lines.append(Line(one, other, weight, (left + right) / 2, (bottom + top) / 2))
    return lines


def _around(x: float, y: float, width: float, height: float) -> _Area:
    return x - width / 2, x + width / 2, y - height / 2, y + height / 2


def _common(one: _Area, other: _Area) -> float:
    """How much of two areas is the same."""
    width = min(one[1], other[1]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[2], other[2])
    return max(width, 0) * max(height, 0)


def overlaps(picture: Picture) -> int:
    """How many boxes and weights cover another, in part or all."""
    areas = [_around(box.x, box.y, box.width, box.height) for box in picture.boxes]
    for line in picture.lines:
        if line.weight:
            width = len(line.weight) * LETTER_WIDTH
            areas.append(_around(line.x, line.y, width, LINE_HEIGHT * 0.8))
    pairs = product(range(len(areas)), repeat=2)
    return sum(i < j and _common(areas[i], areas[j]) > 1e-9 for i, j in pairs)
