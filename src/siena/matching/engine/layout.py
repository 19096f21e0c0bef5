"""The layout: from constraints to the arrays that the engine's kernel reads.

Every constraint becomes an interval of ranks on one dimension; every filter is stored
where its least probable constraints lead (:mod:`siena.matching.engine.arena`).
"""

import numpy as np

from siena.errors import LimitError
from siena.matching.engine.arena import Arena
from siena.matching.engine.checking.atoms import lay_out_atoms
from siena.matching.engine.checking.checks import lay_out_checks, separate
from siena.matching.engine.checking.codes import (
    BEYOND,
    LAST_BIT,
    USES_ATOMS,
    USES_PARTS,
)
from siena.matching.engine.columns import (
    ANY,
    CONTAINED,
    GT,
    LT,
    NE,
    PREFIX,
    RANK_MAX,
    SUBSTRING,
    SUFFIX,
    Snapshot,
)
from siena.matching.engine.contradictions import without_contradictions
from siena.matching.engine.intervals import Rows, Table, with_bands
from siena.matching.engine.operands import gathered, texts_of
from siena.matching.engine.ranks import (
    Arrays,
    Ints,
    Longs,
    Ranks,
    names_table,
    rank,
)
from siena.matching.engine.selectivity import echo, guess, learn
from siena.matching.kernels.build import order_members
from siena.matching.sample import Sample

# A dimension and a class stand in one word: 64 times the name.
NAMES_MAX = 2**24
# Distinct constraints: ranks, twice as many, stay below RANK_MAX.
CONSTRAINTS_MAX = 2**28
# All names, and all operands: three tries have a node for each byte.
TEXT_BYTES_MAX = 2**29


def lay_out(
    snapshot: Snapshot,
    seed: int,
    *,
    sample: Sample | None = None,
    as_masks: bool = False,
) -> Arrays:
    """The arrays of an engine, for traffic like a sample if there is one.

    With ``as_masks``, owners are below 64, and the engine says for each notification
    which of them have a filter that matches, rather than which filters do.

    Raises:
        LimitError: if there is more of something than the kernel can count.
    """
    _check_limits(snapshot)
    names = len(snapshot.names.starts) - 1
    snapshot, checks = separate(_by_popularity(snapshot, names))
    ranks, arrays = rank(snapshot, names)
    atoms = _atoms(snapshot, ranks, arrays)
    table = _intervals(snapshot, ranks)
    rows = Rows(snapshot.offsets, snapshot.members.copy(), snapshot.owners)
    table, rows = with_bands(table, without_contradictions(table, rows))
    offsets, members, owners = rows
    arrays.update(names_table(snapshot.names, seed))
    arrays["header"] = np.array(
        [
            seed,
            len(owners) + len(checks.owners) - checks.found,
            max(1, names),
            len(arrays["break_starts"]) - 1,
            len(arrays["reverse_starts"]) - 1,
            len(arrays["node_ends"]) - 3,
            as_masks,
            0,
            checks.base,
            checks.found,
            len(checks.owners),
            atoms,
        ],
        np.int64,
    )
    arrays.update(lay_out_checks(snapshot, checks, ranks.node))
    if np.any(table.dimension & 7 == CONTAINED):
        probabilities = echo(table, members, arrays, snapshot)
    else:
        probabilities = guess(table, members)
    if sample:
        probabilities = learn(probabilities, table, arrays, sample)
    order_members(offsets, members, probabilities, table.name, table.kind)
    arena = Arena(table, offsets, members, owners, max(1, names), as_masks=as_masks)
    arrays.update(arena.arrays())
    arrays["header"][7] = arena.has_wide_pairs
    return arrays


def _atoms(snapshot: Snapshot, ranks: Ranks, arrays: Arrays) -> int:
    """Number the atoms behind the operands of substrings; how many there are."""
    s = snapshot
    is_atom = (s.kind >= BEYOND) & (s.dimension == CONTAINED)
    which = np.flatnonzero(is_atom)
    texts = texts_of(gathered(s.strings, s.whole[which].astype(np.int32)))
    operators = (s.kind[which] - BEYOND).tolist()
    numbers, found = lay_out_atoms(
        (operator, text.decode())
        for operator, text in zip(operators, texts, strict=True)
    )
    arrays.update(found)
    arrays.update(_looked_for(s, which, numbers, len(found["atom_bounds"]) - 1))
    ranks.node[which] = len(arrays["node_ends"]) + numbers
    # Other checks have the kinds that they are about, as bits.
    others = (s.kind >= BEYOND) & ~is_atom
    ranks.node[others] = s.whole[others]
    return len(found["atom_bounds"]) - 1


def _looked_for(snapshot: Snapshot, which: Longs, numbers: Ints, atoms: int) -> Arrays:
    """What a value of each name is searched for, and of each atom for which names.

    ``which`` are the constraints that are atoms, with the numbers of these.
    """
    s = snapshot
    uses = np.zeros(max(1, len(s.names.starts) - 1), np.int32)
    uses[s.name[(s.kind < BEYOND) & (s.dimension == CONTAINED)]] |= USES_PARTS
    uses[s.name[which]] |= USES_ATOMS
    names = np.zeros(max(1, atoms), np.uint32)
    bits = np.minimum(s.name[which], LAST_BIT).astype(np.uint32)
    np.bitwise_or.at(names, numbers, np.uint32(1) << bits)
    return {"atom_names": names.view(np.int32), "name_uses": uses}


def _check_limits(snapshot: Snapshot) -> None:
    """The kernel counts with 32 bits; what exceeds them is refused, and not wrapped."""
    for name, limit, size, what in (
        ("NAMES_MAX", NAMES_MAX, len(snapshot.names.starts) - 1, "names"),
        ("CONSTRAINTS_MAX", CONSTRAINTS_MAX, len(snapshot.name), "constraints"),
        ("TEXT_BYTES_MAX", TEXT_BYTES_MAX, len(snapshot.names.pool), "bytes of names"),
        (
            "TEXT_BYTES_MAX",
            TEXT_BYTES_MAX,
            len(snapshot.strings.pool),
            "bytes of strings",
        ),
    ):
        if size > limit:
            raise LimitError(name, limit, f"{what} in a table")


def _by_popularity(snapshot: Snapshot, names: int) -> Snapshot:
    """The same with the names numbered anew: those that most constraints have first.

    Pairs of names belong to the rarer one, so the directories stay small; and the
    coordinates that are used most are neighbours.
    """
    uses = np.bincount(
        snapshot.name[snapshot.members] if len(snapshot.members) else [],
        minlength=names,
    )
    order = np.argsort(-uses, kind="stable").astype(np.int32)
    number = np.empty(names, np.int32)
    number[order] = np.arange(names, dtype=np.int32)
    return snapshot._replace(
        name=number[snapshot.name], names=gathered(snapshot.names, order)
    )


def _intervals(snapshot: Snapshot, ranks: Ranks) -> Table:
    # What an atom finds is stored as a substring is; what is only tested, nowhere.
    is_beyond = snapshot.kind >= BEYOND
    atoms = is_beyond & (snapshot.dimension == CONTAINED)
    s = snapshot._replace(
        kind=np.where(atoms, SUBSTRING, np.where(is_beyond, ANY, snapshot.kind)).astype(
            np.int32
        )
    )
    first, last = ranks.rank.copy(), ranks.rank.copy()
    last[s.kind == LT] += s.closed[s.kind == LT] - 1
    first[s.kind == LT] = 0
    first[s.kind == GT] += 1 - s.closed[s.kind == GT]
    last[s.kind == GT] = RANK_MAX
    first[s.kind == ANY] = 0
    last[s.kind == ANY] = RANK_MAX
    bounded = (s.kind == PREFIX) | (s.kind == SUFFIX)
    last[bounded] = ranks.upper[bounded] - 1
    parts = bounded | (s.kind == SUBSTRING)
    contained = s.kind == SUBSTRING
    first[contained] = last[contained] = ranks.node[contained]
    return Table(
        name=s.name,
        dimension=8 * s.name + s.dimension,
        kind=s.kind,
        rank=np.where(parts, ranks.node, ranks.rank),
        first=first,
        last=last,
        negated=(s.kind == NE).astype(np.int32),
        closed=s.closed,
    )
