"""Where the brokers of a drawing stand, so that no box covers another.

A tree that is not too wide hangs from its first broker, row by row.  Any other network
is laid out so that brokers are about as far apart on paper as there are links between
them; then boxes that overlap are pushed apart, and step aside from links of others
where they can.

Reference:
    Gansner, Koren and North, Graph Drawing 2004, for the second (stress majorisation).
"""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from siena.routing.topology.topology import Broker, Topology
from siena.routing.topology.trees import Tree, tree_below

# All in inches.
Size = tuple[float, float]
Places = dict[Broker, tuple[float, float]]

# What is left free between two boxes: a weight has its place there.
GAP = 0.45
# A tree that is wider than this is drawn as any other network.
ROW_MAX = 18.0
STRESS_ROUNDS = 200
# So often boxes step aside from links of others: mostly enough, and never for long.
ASIDE_ROUNDS = 80
ASIDE_PAIRS = 800_000
CLEARANCE = 0.05
# So often boxes are pushed before all are moved away from each other a little.
PUSHES = 60

_Floats = npt.NDArray[np.float64]


def place(topology: Topology, sizes: Mapping[Broker, Size]) -> Places:
    """The middle of each broker's box, all of them right of 0 and below 0.

    >>> from siena.sim.topologies.regular import star
    >>> places = place(star(3), dict.fromkeys((1, 2, 3), (1.0, 1.0)))
    >>> places[1][0] == (places[2][0] + places[3][0]) / 2, places[2][1] < places[1][1]
    (True, True)
    """
    if topology.is_tree:
        places = _hanging(tree_below(topology, topology.brokers[0]), sizes)
        if max(x for x, _ in places.values()) < ROW_MAX:
            return places
    points = _by_stress(topology, sizes)
    boxes = np.array([sizes[broker] for broker in topology.brokers])
    index = {broker: i for i, broker in enumerate(topology.brokers)}
    ends = np.array([(index[one], index[other]) for one, other, _ in topology.links])
    for _ in range(min(ASIDE_ROUNDS, ASIDE_PAIRS // len(boxes) ** 2)):
        points = _apart(points, boxes + GAP)
        if not len(ends) or not _step_aside(points, boxes, ends):
            break
    points = _apart(points, boxes + GAP)
    points[:, 0] -= (points[:, 0] - boxes[:, 0] / 2).min()
    points[:, 1] -= (points[:, 1] + boxes[:, 1] / 2).max()
    return {
        broker: (float(x), float(y))
        for broker, (x, y) in zip(topology.brokers, points, strict=True)
    }


# --- Trees --------------------------------------------------------------------------


def _hanging(tree: Tree, sizes: Mapping[Broker, Size]) -> Places:
    """Every broker above the middle of what is below it."""
    order = [tree.root]
    depth = {tree.root: 0}
    for broker in order:  # grows as it goes
        for child in tree.children(broker):
            depth[child] = depth[broker] + 1
            order.append(child)
    rows = [0.0] * (max(depth.values()) + 1)
    for broker in order:
        rows[depth[broker]] = max(rows[depth[broker]], sizes[broker][1])
    width: dict[Broker, float] = {}
    for broker in reversed(order):
        width[broker] = max(sizes[broker][0], _together(tree, broker, width))
    left = {tree.root: 0.0}
    places: Places = {}
    for broker in order:
        row = depth[broker]
        y = -sum(rows[:row]) - 1.5 * GAP * row - sizes[broker][1] / 2
        places[broker] = left[broker] + width[broker] / 2, y
        at = left[broker] + (width[broker] - _together(tree, broker, width)) / 2
        for child in tree.children(broker):
            left[child] = at
            at += width[child] + GAP
    return places


def _together(tree: Tree, broker: Broker, width: Mapping[Broker, float]) -> float:
    """How much room those below a broker need, side by side."""
    below = [width[child] for child in tree.children(broker)]
    return sum(below) + GAP * max(0, len(below) - 1)


# --- Any other network --------------------------------------------------------------


def _by_stress(topology: Topology, sizes: Mapping[Broker, Size]) -> _Floats:
    """Points whose distances are about those in links."""
    wanted = _hops(topology)
    count = len(wanted)
    points = _projected(wanted)
    with np.errstate(divide="ignore"):
        weights = np.where(wanted > 0, wanted**-2.0, 0.0)
    # Each round is the best that can be done while the directions stay as they are.
    inverse = np.linalg.pinv(np.diag(weights.sum(axis=1)) - weights)
    for _ in range(STRESS_ROUNDS):
        apart = points[:, None, :] - points[None, :, :]
        lengths = np.maximum(np.sqrt((apart**2).sum(axis=2)), 1e-9)
        pulls = (weights * wanted / lengths)[:, :, None] * apart
        points = inverse @ pulls.sum(axis=1)
    middle = np.array([sizes[broker] for broker in topology.brokers]).mean(axis=0)
    unit = middle + 1.5 * GAP
    assert points.shape == (count, 2)
    return np.asarray(points * unit)


def _hops(topology: Topology) -> _Floats:
    """How many links are between any two; between two parts, more than in one."""
    index = {broker: i for i, broker in enumerate(topology.brokers)}
    found = np.full((len(index), len(index)), -1.0)
    for root in topology.brokers:
        hops = found[index[root]]
        hops[index[root]] = 0
        for child, parent in tree_below(topology, root).parents.items():
            hops[index[child]] = hops[index[parent]] + 1
    found[found < 0] = found.max() + 2
    return found


def _projected(wanted: _Floats) -> _Floats:
    """Points to begin with: the two directions in which the distances spread most."""
    count = len(wanted)
    centring = np.eye(count) - 1 / count
    values, vectors = np.linalg.eigh(-0.5 * centring @ wanted**2 @ centring)
    largest = np.argsort(values)[::-1][:2]
    points = vectors[:, largest] * np.sqrt(np.maximum(values[largest], 0))
    # Which way round is left open by the mathematics, and must not be by us; and no
    # two brokers begin at one place, for nothing would ever part them.
    points = points * np.where(points[0] < 0, -1, 1)
    turns = np.arange(count) * 2.4
    nudges = np.stack([np.cos(turns), np.sin(turns)], axis=1)
    return np.asarray(points + 0.01 * nudges)


def _apart(points: _Floats, boxes: _Floats) -> _Floats:
    """Push overlapping boxes apart, each pair the shorter way."""
    reach = (boxes[:, None, :] + boxes[None, :, :]) / 2
    while True:
        for _ in range(PUSHES):
            apart = points[:, None, :] - points[None, :, :]
            overlap = reach - np.abs(apart)
            covered = np.asarray((overlap > 1e-6).all(axis=2))
            np.fill_diagonal(covered, val=False)
            if not covered.any():
                return points
            shorter = overlap[:, :, 0] < overlap[:, :, 1]
            ways = np.sign(apart)
            ways[ways == 0] = 1
            for axis, chosen in ((0, covered & shorter), (1, covered & ~shorter)):
                moves = np.where(chosen, overlap[:, :, axis] * ways[:, :, axis], 0)
                points[:, axis] += (
                    moves.sum(axis=1) / 2 / np.maximum(chosen.sum(axis=1), 1)
                )
        points = points * 1.1


def _step_aside(points: _Floats, boxes: _Floats, ends: npt.NDArray[np.intp]) -> bool:
    """Move boxes off links that they do not belong to; whether there were any."""
    start, along = points[ends[:, 0]], points[ends[:, 1]] - points[ends[:, 0]]
    lengths = np.maximum(np.sqrt((along**2).sum(axis=1)), 1e-9)
    normals = np.stack([-along[:, 1], along[:, 0]], axis=1) / lengths[:, None]
    offsets = points[None, :, :] - start[:, None, :]
    parts = (offsets * along[:, None, :]).sum(axis=2) / lengths[:, None] ** 2
    away = (offsets * normals[:, None, :]).sum(axis=2)
    needed = np.abs(normals) @ boxes.T / 2 + CLEARANCE
    hit = (parts > 0) & (parts < 1) & (np.abs(away) < needed)
    rows = np.arange(len(ends))
    hit[rows, ends[:, 0]] = hit[rows, ends[:, 1]] = False
    for link, box in zip(*np.nonzero(hit), strict=True):
        way = 1 if away[link, box] >= 0 else -1
        move = way * (needed[link, box] - abs(away[link, box])) * normals[link]
        points[box] += move / 2
        points[ends[link]] -= move / 4
    return bool(hit.any())
