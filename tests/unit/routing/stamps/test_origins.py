"""Stamps come from where they may: over one link of a tree, along trees of a mesh."""

import pytest

from siena import Notification, parse_filter
from siena.messages import (
    LinkState,
    Notify,
    PeerConnect,
    PeerDisconnect,
    Side,
    Stamp,
    Subscribe,
)
from siena.routing.router import Router
from siena.routing.stamps import origins
from siena.routing.stamps.origins import GRACE_AGES

HERE, EPOCH = 1, 9


def router_with(side: Side, *neighbours: int) -> Router:
    router = Router(HERE, epoch=EPOCH)
    for neighbour in neighbours:
        router.handle(PeerConnect(side), neighbour)
    router.handle(Subscribe(parse_filter("x any")), "a")
    return router


def brought(
    router: Router, source: int, stamp: tuple[int, int, int], root: int = 0
) -> bool:
    """Whether what a neighbour brings reaches a client."""
    notify = Notify(Notification({"x": 1}), Stamp(*stamp), 0, root or source)
    return any(to == "a" for to, _ in router.handle(notify, source))


@pytest.mark.parametrize("side", [Side.PEER, Side.CHILD])
def test_in_a_tree_one_neighbour_brings_what_a_broker_has_published(side: Side) -> None:
    router = router_with(side, 2, 3)
    assert brought(router, 2, (7, 1, 0))
    assert not brought(router, 3, (7, 1, 1_000_000))
    assert brought(router, 2, (7, 1, 1))
    # Another life of it may be somewhere else.
    assert brought(router, 3, (7, 2, 0))


def test_a_neighbour_brings_nothing_of_another_and_nothing_of_us() -> None:
    router = router_with(Side.PEER, 2, 3)
    assert not brought(router, 3, (2, 5, 100))
    assert not brought(router, 3, (HERE, EPOCH, 100))
    assert brought(router, 2, (2, 5, 0))


def test_what_has_moved_comes_another_way_when_the_old_one_has_gone() -> None:
    router = router_with(Side.PEER, 2, 3, 4)
    assert brought(router, 2, (7, 1, 0))
    router.handle(PeerDisconnect(), 2)
    assert brought(router, 3, (7, 1, 1))
    assert not brought(router, 4, (7, 1, 2))
    # But whoever was first on the way is believed when it is back.
    router.handle(PeerConnect(Side.PEER), 2)
    assert brought(router, 2, (7, 1, 2))
    assert not brought(router, 3, (7, 1, 3))


def square() -> Router:
    """A mesh of four: what enters at 3 comes to 1 by way of 2."""
    router = router_with(Side.MESH, 2, 4)
    for broker, weights in (
        (2, ((1, 1.0), (3, 1.0))),
        (3, ((2, 1.0), (4, 5.0))),
        (4, ((1, 1.0), (3, 5.0))),
    ):
        router.handle(LinkState(broker, (0, 1), weights), 2)
    return router


def test_in_a_mesh_everything_comes_along_the_tree_of_its_root() -> None:
    router = square()
    assert brought(router, 2, (3, 1, 0), root=3)
    for _ in range(GRACE_AGES):
        router.age()
    assert not brought(router, 4, (3, 1, 1_000_000), root=3)
    assert brought(router, 2, (3, 1, 1), root=3)


def test_who_is_in_a_mesh_enters_it_nowhere_else() -> None:
    router = square()
    assert not brought(router, 4, (3, 1, 1_000_000), root=4)
    # Who is behind a gateway enters at one root.
    assert brought(router, 4, (7, 1, 0), root=4)
    assert not brought(router, 2, (7, 1, 1_000_000), root=2)


def test_while_a_mesh_changes_its_shape_other_ways_are_open() -> None:
    router = square()
    assert brought(router, 4, (3, 1, 0), root=3)
    assert not brought(router, 2, (3, 1, 0), root=3)  # a copy


def test_who_invents_brokers_displaces_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(origins, "ORIGINS_MAX", 4)
    router = router_with(Side.PEER, 2, 3)
    assert brought(router, 2, (7, 1, 0))
    for number in range(100, 120):
        assert brought(router, 3, (number, 1, 0))
    assert not brought(router, 3, (7, 1, 5))
    assert len(router.origins._entries) <= 5


def test_what_is_relayed_comes_from_nowhere_else_than_what_is_forwarded() -> None:
    router = router_with(Side.PEER, 2, 3)
    assert brought(router, 2, (7, 1, 0))
    assert router.origins.contradicts((7, 1), 3)
    assert not router.origins.contradicts((7, 1), 2)
    assert not router.origins.contradicts((7, 2), 3)  # of a log, say
    assert router.origins.contradicts((HERE, EPOCH), 3)
    router.handle(PeerDisconnect(), 2)
    assert not router.origins.contradicts((7, 1), 3)
