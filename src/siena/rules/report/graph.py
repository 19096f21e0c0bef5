"""The graph of covering, as a picture: the general on the left, the specific behind.

Rules that select the same are one box.  An arrow goes from a rule to what it covers,
unless there is a way over others.  Each group of rules that have to do with each other
is drawn for itself, the largest first.
"""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

# Boxes that are drawn; what is beyond is in the table.
BOXES_MAX = 400
_WIDTH, _HEIGHT = 340, 30
_GAP_X, _GAP_Y, _GAP_GROUPS = 90, 10, 26
_TITLE_CHARACTERS = 40


class Drawing(NamedTuple):
    """A picture, and how many of the boxes are in it."""

    svg: str
    drawn: int
    boxes: int


def draw(titles: Sequence[str], pairs: Iterable[tuple[int, int]]) -> Drawing:
    """The picture of pairs of a general and a specific rule, by number.

    >>> drawing = draw(["a", "b", "c"], [(0, 1), (1, 2), (0, 2)])
    >>> drawing.boxes, drawing.svg.count("<path")
    (3, 3)

    (One of the paths is the head of the arrows.)
    """
    graph = _Graph.of(pairs)
    boxes = sum(map(len, graph.groups))
    parts: list[str] = []
    top = width = drawn = 0
    for group in graph.groups:
        if drawn and drawn + len(group) > BOXES_MAX:
            break
        columns = graph.columns(group)
        places = _placed(columns, top)
        parts += [
            _arrow(places[i], places[j])
            for i in group
            for j in graph.direct.get(i, ())
            if i in places and j in places
        ]
        parts += [_box(place, graph.members[i], titles) for i, place in places.items()]
        drawn += len(places)
        width = max(width, len(columns) * (_WIDTH + _GAP_X) - _GAP_X)
        top = max(y for _, y in places.values()) + _HEIGHT + _GAP_GROUPS
    head = (
        '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" class="head"/>'
        "</marker></defs>"
    )
    svg = (
        f'<svg viewBox="-2 -2 {width + 4} {max(top - _GAP_GROUPS, 0) + 4}" role="img" '
        f'style="max-width: {width + 4}px" '
        f'aria-label="who covers whom">{head}{"".join(parts)}</svg>'
    )
    return Drawing(svg, drawn, boxes)


class _Graph(NamedTuple):
    """Boxes by the first of their rules: which they cover, directly and at all."""

    members: Mapping[int, list[int]]
    below: Mapping[int, set[int]]
    direct: Mapping[int, list[int]]
    groups: list[list[int]]

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> "_Graph":
        known = set(pairs)
        first: dict[int, int] = {}
        for i, j in sorted(known):
            first.setdefault(i, i)
            first.setdefault(j, j)
            if (j, i) in known:
                first[i] = first[j] = min(first[i], first[j])
        members: dict[int, list[int]] = {}
        for rule in sorted(first):
            members.setdefault(first[rule], []).append(rule)
        below: dict[int, set[int]] = {box: set() for box in members}
        for i, j in known:
            if first[i] != first[j]:
                below[first[i]].add(first[j])
        direct = {
            box: sorted(
                j for j in under if not any(j in below[k] for k in under if k != j)
            )
            for box, under in below.items()
        }
        return cls(members, below, direct, _groups(below))

    def columns(self, group: Sequence[int]) -> list[list[int]]:
        """The boxes of a group by how long the way to them is."""
        depth = dict.fromkeys(group, 0)
        # What covers more comes first: it is never below what it covers.
        for box in sorted(group, key=lambda b: -len(self.below[b])):
            for under in self.below[box]:
                depth[under] = max(depth[under], depth[box] + 1)
        found: list[list[int]] = [[] for _ in range(max(depth.values()) + 1)]
        for box in group:
            found[depth[box]].append(box)
        return found


def _groups(below: Mapping[int, set[int]]) -> list[list[int]]:
    """The boxes that are connected, the largest group first."""
    near: dict[int, set[int]] = {box: set(under) for box, under in below.items()}
    for box, under in below.items():
        for other in under:
            near[other].add(box)
    left = set(near)
    found: list[list[int]] = []
    while left:
        waiting = [min(left)]
        group: set[int] = set()
        while waiting:
            box = waiting.pop()
            if box not in group:
                group.add(box)
                waiting += near[box]
        left -= group
        found.append(sorted(group))
    return sorted(found, key=lambda group: (-len(group), group))


def _placed(columns: Sequence[Sequence[int]], top: int) -> dict[int, tuple[int, int]]:
    """The corner of each box; shorter columns are centred beside the longest."""
    rows = max(map(len, columns))
    places: dict[int, tuple[int, int]] = {}
    for x, column in enumerate(columns):
        start = top + (rows - len(column)) * (_HEIGHT + _GAP_Y) // 2
        for y, box in enumerate(column):
            places[box] = x * (_WIDTH + _GAP_X), start + y * (_HEIGHT + _GAP_Y)
    return places


def _arrow(source: tuple[int, int], target: tuple[int, int]) -> str:
    x1, y1 = source[0] + _WIDTH, source[1] + _HEIGHT // 2
    x2, y2 = target[0] - 2, target[1] + _HEIGHT // 2
    bend = _GAP_X // 2
    return (
        f'<path class="link" d="M{x1} {y1}C{x1 + bend} {y1} {x2 - bend} {y2} {x2} {y2}"'
        ' marker-end="url(#head)"/>'
    )


def _box(place: tuple[int, int], rules: Sequence[int], titles: Sequence[str]) -> str:
    x, y = place
    title = titles[rules[0]]
    shown = title
    if len(rules) > 1:
        shown = f"{title} (+{len(rules) - 1} equal)"
    if len(shown) > _TITLE_CHARACTERS:
        tail = f" +{len(rules) - 1}" if len(rules) > 1 else ""
        shown = title[: _TITLE_CHARACTERS - 1 - len(tail)] + "…" + tail
    hint = escape("\n".join(titles[rule] for rule in rules))
    return (
        f'<g><title>{hint}</title><rect class="box" x="{x}" y="{y}" rx="6" '
        f'width="{_WIDTH}" height="{_HEIGHT}"/>'
        f'<text x="{x + 10}" y="{y + 19}">{escape(shown)}</text></g>'
    )
