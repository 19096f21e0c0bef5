"""Drawing a world: its brokers, its links and their tables, as SVG.

Brokers stand in rows, by how many links they are away from the first one.
"""

from html import escape

from siena.sim.shapes import Shape
from siena.sim.world import World

COLUMN = 190
ROW = 150
RADIUS = 16
# Longer tables, and longer lines, are cut: a drawing is for looking at.
LINES_MAX = 6
CHARACTERS_MAX = 30


def draw(world: World) -> str:
    """The picture of a world.

    >>> from siena.sim.shapes import chain
    >>> picture = draw(World(chain(3), "acyclic"))
    >>> picture.count("<circle"), picture.count("<line")
    (3, 2)
    """
    places = _places(world.shape)
    width = max(x for x, _ in places.values()) + COLUMN
    height = max(y for _, y in places.values()) + ROW
    size = f'width="{width}" height="{height}"'
    font = 'font-family="sans-serif" font-size="11"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} {font}>',
        f'<rect {size} fill="white"/>',
    ]
    for edge in world.shape.edges:
        parts += _link(places[edge.one], places[edge.other], edge.weight)
    for broker, place in places.items():
        parts += _broker(world, broker, place)
    return "\n".join([*parts, "</svg>\n"])


def _places(shape: Shape) -> dict[int, tuple[int, int]]:
    """Where each broker stands."""
    rows: dict[int, int] = {}
    for first in shape.brokers:
        if first not in rows:
            rows[first] = 0
            parents = shape.parents(first)
            for broker, parent in parents.items():  # in the order of their rows
                rows.setdefault(broker, rows[parent] + 1)
    taken: dict[int, int] = {}
    places = {}
    for broker, row in sorted(rows.items()):
        column = taken[row] = taken.get(row, 0) + 1
        places[broker] = (column * COLUMN - COLUMN // 2, row * ROW + 2 * RADIUS)
    return places


def _link(one: tuple[int, int], other: tuple[int, int], weight: float) -> list[str]:
    (x, y), (to_x, to_y) = one, other
    line = f'<line x1="{x}" y1="{y}" x2="{to_x}" y2="{to_y}" stroke="#888"/>'
    if weight == 1:
        return [line]
    middle_x, middle_y = (x + to_x) / 2, (y + to_y) / 2
    label = f'<text x="{middle_x}" y="{middle_y}" fill="#888">{weight:g}</text>'
    return [line, label]


def _broker(world: World, broker: int, place: tuple[int, int]) -> list[str]:
    x, y = place
    parts = [
        f'<circle cx="{x}" cy="{y}" r="{RADIUS}" fill="#eef" stroke="#446"/>',
        f'<text x="{x}" y="{y + 4}" text-anchor="middle">{broker}</text>',
    ]
    for number, line in enumerate(_table(world, broker)):
        at = f'x="{x + RADIUS + 4}" y="{y + 4 + 13 * number}"'
        parts.append(f"<text {at}>{escape(line)}</text>")
    return parts


def _table(world: World, broker: int) -> list[str]:
    """The filters of a broker, each with those who hold it."""
    router = world.routers.get(broker)
    if router is None:
        return []
    table = router.tables.filters
    lines = []
    for f in sorted(table, key=str):
        hops = sorted(str(holder.hop) for holder in table.holders(f))
        lines.append(f"{f} : {', '.join(dict.fromkeys(hops))}")
    if len(lines) > LINES_MAX:
        lines = [*lines[: LINES_MAX - 1], f"… {len(lines) - LINES_MAX + 1} more"]
    cut = CHARACTERS_MAX
    return [line if len(line) <= cut else f"{line[: cut - 1]}…" for line in lines]
