"""Operands as integers: the names, strings, numbers and times that filters mention.

Ranks are odd where a value equals an operand, and even between two; so a constraint
becomes an interval of ranks (:mod:`siena.matching.engine.layout`).  The arrays made
here are described in :mod:`siena.matching.kernels.match`.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from siena.matching.engine.columns import (
    ANY,
    NUMBER,
    PREFIX,
    SUBSTRING,
    SUFFIX,
    TIME,
    Snapshot,
)
from siena.matching.engine.operands import Texts, gathered, texts_of
from siena.matching.kernels.match import hash_of
from siena.matching.kernels.operands import (
    enter_edges,
    enter_operands,
    link_nodes,
    sort_strings,
)

Arrays = dict[str, Any]
Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]

# Integers with this much room between them have a table of ranks.
DENSE_FACTOR = 8
# Nodes of the tries that there is room for at first.
NODES_AT_FIRST = 4_096
# The three tries share one table of nodes; these are their roots.
ROOT_PREFIX, ROOT_SUFFIX, ROOT_SUBSTRING = range(3)


class Ranks(NamedTuple):
    """Of each constraint the rank of its operand, of prefixes of its end, its node."""

    rank: Ints
    upper: Ints
    node: Ints


def names_table(names: Texts, seed: int) -> Arrays:
    """The hash table that finds names: of each a part of its hash, place, size."""
    texts = texts_of(names)
    slots = np.zeros((power_of_two(2 * len(texts) + 2), 4), np.int32)
    mask = len(slots) - 1
    for number, text in enumerate(texts):
        h = hash_of(text, seed)
        place = h & mask
        while slots[place, 3]:
            place = (place + 1) & mask
        slots[place] = h >> 33, names.starts[number], len(text), number + 1
    return {"name_slots": slots.ravel(), "name_bytes": names.pool}


def rank(snapshot: Snapshot, count: int) -> tuple[Ranks, Arrays]:
    """The ranks of all operands, and the arrays that find the ranks of values.

    ``count`` is how many names there are.
    """
    s = snapshot
    ranks = Ranks(*(np.zeros(len(s.name), np.int32) for _ in range(3)))
    arrays: Arrays = {}
    with_operand = s.kind != ANY
    numeric = np.flatnonzero(
        (s.dimension >= NUMBER) & (s.dimension < TIME) & with_operand
    )
    starts, first, places = _sorted(
        count, s.name[numeric], s.whole[numeric], s.rest[numeric]
    )
    ranks.rank[numeric] = 2 * places + 1
    arrays["number_starts"] = starts
    arrays["number_wholes"] = _padded(s.whole[numeric][first])
    arrays["number_rests"] = _padded(s.rest[numeric][first])
    arrays.update(_dense(starts, s.whole[numeric][first], s.rest[numeric][first]))
    times = np.flatnonzero((s.dimension == TIME) & with_operand)
    starts, first, places = _sorted(count, s.name[times], s.whole[times])
    ranks.rank[times] = 2 * places + 1
    arrays["time_starts"] = starts
    arrays["time_keys"] = _padded(s.whole[times][first])
    present = s.dimension == 0
    ranks.rank[present] = s.whole[present]
    arrays.update(_rank_strings(snapshot, ranks))
    return ranks, arrays


def _dense(starts: Ints, wholes: Longs, rests: npt.NDArray[np.float64]) -> Arrays:
    """Where the numbers of a name are integers close together, the ranks between them.

    Of each name the first and last integer that stands there, and where it stands.
    """
    count = len(starts) - 1
    dense = np.zeros((max(1, count), 4), np.int64)
    dense[:, 1] = -1  # nothing is between 0 and -1
    parts, used = [np.zeros(1, np.int32)], 1
    for name in np.flatnonzero(np.diff(starts)).tolist():
        own = wholes[starts[name] : starts[name + 1]]
        low, high = int(own[0]), int(own[-1])
        if high - low >= DENSE_FACTOR * len(own) + 64:
            continue
        if rests[starts[name] : starts[name + 1]].any():
            continue
        values = np.arange(low, high + 1, dtype=np.int64)
        at = np.searchsorted(own, values)
        parts.append((2 * at + (own[at] == values)).astype(np.int32))
        dense[name] = low, high, used, 0
        used += len(values)
    return {"dense": dense.ravel(), "dense_ranks": np.concatenate(parts)}


def _rank_strings(snapshot: Snapshot, ranks: Ranks) -> Arrays:
    s = snapshot
    has_text = (s.dimension >= 1) & (s.dimension <= 3) & (s.kind != ANY)
    forward = np.flatnonzero(has_text & (s.dimension == 1))
    prefixes = np.flatnonzero(has_text & (s.kind == PREFIX))
    suffixes = np.flatnonzero(has_text & (s.kind == SUFFIX))
    substrings = np.flatnonzero(has_text & (s.kind == SUBSTRING))
    ordered = _in_order(s.strings, s.whole[forward], s.upper[prefixes])
    place = np.zeros(len(s.strings.starts), np.int32)
    place[ordered] = np.arange(len(ordered), dtype=np.int32)
    ranks.rank[forward] = 2 * place[s.whole[forward]] + 1
    ranks.upper[prefixes] = 2 * place[s.upper[prefixes]] + 1
    backward = _in_order(s.strings, s.whole[suffixes], s.upper[suffixes])
    place[backward] = np.arange(len(backward), dtype=np.int32)
    ranks.rank[suffixes] = 2 * place[s.whole[suffixes]] + 1
    ranks.upper[suffixes] = 2 * place[s.upper[suffixes]] + 1
    breaks, reverses = gathered(s.strings, ordered), gathered(s.strings, backward)
    parts = np.concatenate([prefixes, suffixes, substrings])
    roots = np.repeat(
        np.arange(3, dtype=np.int32), [len(prefixes), len(suffixes), len(substrings)]
    )
    nodes, found = tries(s.strings, s.whole[parts].astype(np.int32), roots)
    ranks.node[parts] = nodes
    return {
        "break_starts": breaks.starts.astype(np.int32),
        "break_bytes": breaks.pool,
        "reverse_starts": reverses.starts.astype(np.int32),
        "reverse_bytes": reverses.pool,
        **found,
    }


def _in_order(texts: Texts, *numbers: npt.NDArray[np.generic]) -> Ints:
    """The distinct numbers of strings, ordered by the strings."""
    which = np.unique(np.concatenate(numbers)).astype(np.int32)
    sort_strings(texts.pool, texts.starts, which, np.empty_like(which))
    return which


def tries(texts: Texts, which: Ints, roots: Ints) -> tuple[Ints, Arrays]:
    """Three tries in one table of nodes, with Aho and Corasick's links in the third."""
    parents, nodes = _entered(texts, which, roots)
    parents, number = _with_forks_first(parents)
    nodes, count = number[nodes], len(parents)
    far = (parents[3:] >> 8) != np.arange(2, count - 1)
    edges = np.zeros(power_of_two(2 * int(far.sum()) + 2), np.int32)
    enter_edges(parents, edges)
    ends = np.zeros(count, np.uint8)
    ends[nodes] = 1
    # One more than there are, for whoever looks for a child behind its parent.
    links = np.zeros((count + 1, 4), np.int32)
    links[:, :3] = ROOT_SUBSTRING, -1, -1
    links[3:count, 2], links[3:count, 3] = parents[3:] >> 8, parents[3:] & 255
    root, depth = _depths(parents)
    below = np.flatnonzero(root == ROOT_SUBSTRING)
    below = below[below != ROOT_SUBSTRING]
    order = below[np.argsort(depth[below], kind="stable")].astype(np.int32)
    link_nodes(order, edges, parents, ends, links.reshape(-1))
    links[count, 3] = depth[order].max(initial=0)  # of the longest substring
    return nodes, {"edges": edges, "node_ends": ends, "node_links": links.reshape(-1)}


def _entered(texts: Texts, which: Ints, roots: Ints) -> tuple[Longs, Ints]:
    """Of each node of the tries the edge that leads to it; and each string's node.

    Strings that share most of their bytes have few nodes: room grows with these.
    """
    sizes = texts.starts[which + 1] - texts.starts[which]
    nodes = np.zeros(len(which), np.int32)
    parents = np.full(min(3 + int(sizes.sum()), NODES_AT_FIRST), -1, np.int64)
    done, count = 0, 3
    while True:
        edges = np.zeros(power_of_two(2 * len(parents)), np.int32)
        enter_edges(parents[:count], edges)
        done, count = enter_operands(
            texts.pool, texts.starts, which, roots, edges, nodes, parents, done, count
        )
        if done == len(which):
            return parents[:count].copy(), nodes
        more = min(len(parents) + int(sizes[done]), int(sizes[done:].sum()))
        parents = np.append(parents, np.full(more, -1, np.int64))


def _with_forks_first(parents: Longs) -> tuple[Longs, Ints]:
    """The nodes in another order, and the new number of each.

    Nodes are numbered as they were entered: most have one child, which is the next, and
    needs no table.  Those with several come first, by depth: they are few and always
    used, and so stay in the cache together.
    """
    children = np.bincount(parents[3:] >> 8, minlength=len(parents))
    children[:3] = 2
    _, depth = _depths(parents)
    is_fork = children > 1
    order = np.lexsort((np.where(is_fork, depth, 0), ~is_fork))
    number = np.empty(len(order), np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    moved = parents[order]
    moved[3:] = (number[moved[3:] >> 8].astype(np.int64) << 8) | (moved[3:] & 255)
    return moved, number


def _depths(parents: Longs) -> tuple[Ints, Ints]:
    """Of each node its root and its depth, by doubling the steps upward."""
    up = (parents >> 8).astype(np.int64)
    up[:3] = range(3)
    depth = np.ones(len(up), np.int32)
    depth[:3] = 0
    while True:
        depth = depth + depth[up]
        above = up[up]
        if np.array_equal(above, up):
            return up.astype(np.int32), depth
        up = above


def _sorted(
    count: int, name: Ints, *keys: npt.NDArray[np.generic]
) -> tuple[Ints, Longs, Ints]:
    """Distinct keys of each name, in order.

    Where each name begins among them, one row for each of them, and of each row the
    place of its key among those of its name.
    """
    order = np.lexsort((*reversed(keys), name))
    is_new = np.zeros(len(order), np.bool_)
    is_new[:1] = True
    for column in (name, *keys):
        ordered = column[order]
        is_new[1:] |= ordered[1:] != ordered[:-1]
    first = order[is_new]
    starts = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(name[first], minlength=count), out=starts[1:])
    places = np.empty(len(order), np.int32)
    places[order] = np.cumsum(is_new) - 1 - starts[name[order]]
    return starts, first, places


def _padded(column: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The column, or one zero: a kernel wants something to point at."""
    return column if len(column) else np.zeros(1, column.dtype)


def power_of_two(least: int) -> int:
    """The least power of two that is at least this.

    >>> power_of_two(5)
    8
    """
    return 1 << max(0, least - 1).bit_length()
