"""Origins: over which neighbour publications of each broker may come.

A stamp says which broker has published something, and copies are known by it.  So who
could use the stamps of others could make their publications look like copies.  Here it
is checked that a stamp comes from where it may.  In a tree there is one way between two
brokers: the neighbour that first brought publications of a life of a broker is on it,
and no other brings any while that link stands.  In a mesh everything names the root
at which it entered, and comes along the tree of that root; who is in the mesh enters it
nowhere else.

Who is on the way could as well keep everything for itself, and so is not kept from
numbering what it hands on.  While the mesh changes its shape its trees are not the same
everywhere, and for a while after that ways are not checked.
"""

from itertools import islice
from typing import NamedTuple

from siena.messages import Side
from siena.routing.tables import Tables

# Lives of brokers that are remembered of one neighbour, or root; of more, the half that
# was met first is not.
ORIGINS_MAX = 16_384
# So many ages after a change of the mesh its ways are checked again.
GRACE_AGES = 64

# A broker, and the epoch of its life.
Life = tuple[int, int]


class Entry(NamedTuple):
    """Where something comes in: over a link, or into a mesh at its root."""

    is_root: bool
    number: int


class Origins:
    """The entries of all lives of brokers of which something came."""

    def __init__(self, tables: Tables, epoch: int) -> None:
        self._tables = tables
        self._own = tables.me, epoch
        # By whom it was brought first, and last.
        self._entries: dict[Life, tuple[Entry, Entry]] = {}
        self._lives: dict[Entry, dict[Life, None]] = {}
        self._age = 0
        self._trees = tables.mesh.trees
        self._changed = 0

    def age(self) -> None:
        """Time has passed."""
        self._age += 1

    def meet(self, neighbour: int, epoch: int, side: Side) -> None:
        """A neighbour has said which life of it this is."""
        if side is not Side.MESH:
            self._enter((neighbour, epoch), Entry(is_root=False, number=neighbour))

    def knows(self, life: Life) -> bool:
        """Whether publications of a life of a broker have come before."""
        return life in self._entries

    def admits(self, life: Life, root: int, source: int) -> bool:
        """Whether publications of a broker may come from a neighbour."""
        neighbour = self._tables.neighbours.get(source)
        if neighbour is None or life == self._own:
            return False
        if neighbour.side is Side.MESH:
            if not self._is_on_the_way(life[0], root, source):
                return False
            entry = Entry(is_root=True, number=root)
        else:
            entry = Entry(is_root=False, number=source)
        known = self._entries.get(life)
        if known is None:
            if not entry.is_root and self._is_elsewhere(life[0], source):
                return False
            self._enter(life, entry)
            return True
        first, last = known
        if entry == last:
            return True
        if entry != first and self._stands(last):
            return False
        self._entries[life] = first, entry
        return True

    def contradicts(self, life: Life, source: int) -> bool:
        """Whether a broker's life is known to come from elsewhere than a neighbour.

        For what is relayed, which has windows of its own, and is bound to no link.
        """
        known = self._entries.get(life)
        if life == self._own or known is None:
            return life == self._own
        last = known[1]
        return not last.is_root and last.number != source and self._stands(last)

    def _is_on_the_way(self, broker: int, root: int, source: int) -> bool:
        """Whether what entered a mesh at a root comes to us from a neighbour."""
        trees = self._tables.mesh.trees
        if trees is not self._trees:
            self._trees, self._changed = trees, self._age
        if root != broker and self._is_in_mesh(broker):
            return False
        if self._age - self._changed < GRACE_AGES or not self._is_in_mesh(root):
            return True
        is_reverse = self._tables.options.paths == "reverse"
        return is_reverse or trees.is_child(root, self._tables.me, of=source)

    def _is_elsewhere(self, broker: int, source: int) -> bool:
        """Whether a broker is known to be somewhere else than behind a neighbour."""
        return broker != source and (
            broker in self._tables.neighbours or self._is_in_mesh(broker)
        )

    def _is_in_mesh(self, broker: int) -> bool:
        """Whether a broker is in the mesh that this one is in."""
        me = self._tables.me
        return self._tables.mesh.trees.parent(broker, me) is not None

    def _stands(self, entry: Entry) -> bool:
        if entry.is_root:
            return self._is_in_mesh(entry.number)
        return entry.number in self._tables.neighbours

    def _enter(self, life: Life, entry: Entry) -> None:
        if life in self._entries:
            return
        lives = self._lives.setdefault(entry, {})
        if len(lives) >= ORIGINS_MAX:
            for old in list(islice(lives, ORIGINS_MAX // 2)):
                del lives[old], self._entries[old]
        lives[life] = None
        self._entries[life] = entry, entry
