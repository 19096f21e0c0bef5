"""Where a notification goes from here, among the neighbouring brokers."""

from collections.abc import Set as AbstractSet

from siena.messages import Interface, Outbox, Side, Unsubscribe
from siena.routing.steps.leaving import absent
from siena.routing.tables import Tables


def root_of(tables: Tables, root: int, source: Interface) -> int:
    """Where a notification entered the mesh: at the root that it names, or here."""
    if isinstance(source, int) and tables.neighbours[source].side is Side.MESH:
        return root
    return tables.me


def brokers_among(
    tables: Tables, hops: AbstractSet[Interface], source: Interface, root: int
) -> list[int]:
    """The neighbours that get a notification for which ``hops`` asked.

    A master gets every notification; a broker of the mesh only what comes to it by way
    of this one in the tree of the root, unless reverse paths are followed.
    """
    is_child = tables.mesh.trees.is_child
    is_reverse = tables.options.paths == "reverse"
    found = [n for n in tables.masters if n != source]
    for hop in hops:
        neighbour = tables.neighbours.get(hop) if isinstance(hop, int) else None
        if neighbour is None or hop == source or neighbour.side is Side.MASTER:
            continue
        number = neighbour.number
        if (
            neighbour.side is not Side.MESH
            or is_reverse
            or is_child(root, number, of=tables.me)
        ):
            found.append(number)
    return sorted(found)


def hops_of_relay(neighbour: int, side: Side) -> tuple[int, int] | None:
    """The hops because of which a neighbour gets what is acknowledged; None: all of it.

    Itself, and the hop that stands for it while it is missed.  Trees of a mesh are not
    asked: they may be others by the time that it is sent, and a broker that gets a
    publication twice knows it by its stamp.  A master gets everything, as ever.
    """
    return None if side is Side.MASTER else (neighbour, absent(neighbour))


def as_the_paper_has_it(tables: Tables, message: Unsubscribe, synced: Outbox) -> Outbox:
    """Hand the client's own unsubscription to the master, instead of what follows.

    It may cancel what others still want: erratum E4.  For demonstration only.
    """
    masters = [n.number for n in tables.neighbours.values() if n.side is Side.MASTER]
    kept = [
        (interface, sent)
        for interface, sent in synced
        if interface not in masters or not isinstance(sent, Unsubscribe)
    ]
    return [*((master, Unsubscribe(message.interest)) for master in masters), *kept]
