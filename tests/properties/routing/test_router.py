"""The router against its slow twins, message for message."""

from hypothesis import event, given, strategies as st
from hypothesis.strategies import SearchStrategy

from routing.naive import NaiveServer
from siena.messages import (
    Advertise,
    Interface,
    LinkState,
    Message,
    PeerConnect,
    PeerDisconnect,
    Side,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from siena.model import Filter, Kind
from siena.routing.options import Covering, Forwarding, Merging, Options
from siena.routing.router import Router
from strategies import advertisements, filters

# Tiny on purpose: filters that never touch each other ask nothing of a router.
FILTERS = filters((Kind.INTEGER,), ("x", "y"), max_size=2)
ADVERTISEMENTS = advertisements((Kind.INTEGER,), ("x", "y"), max_size=2)
SOURCES: SearchStrategy[Interface] = st.sampled_from((2, 3, "a", "b"))

Request = tuple[Message, Interface]


@st.composite
def requests(
    draw: st.DrawFn, *, advertising: bool = True, origins: bool = False
) -> list[Request]:
    """Requests of clients and neighbours, in any order."""
    kinds = [Subscribe, Subscribe, Unsubscribe]
    if advertising:
        kinds += [Advertise, Unadvertise]
    found: list[Request] = []
    for _ in range(draw(st.integers(1, 12))):
        kind = draw(st.sampled_from(kinds))
        source = draw(SOURCES)
        is_inside = origins and isinstance(source, int)
        origin = draw(st.sampled_from((1, 2, 3, 4, 6))) if is_inside else None
        strategy = FILTERS if kind in {Subscribe, Unsubscribe} else ADVERTISEMENTS
        found.append((kind(draw(strategy), origin), source))
    return found


def router_with_peers(options: Options, *, declarative: bool = False) -> Router:
    router = Router(1, options, declarative=declarative)
    for neighbour in (2, 3, 4):
        router.handle(PeerConnect(Side.PEER), neighbour)
    return router


@given(requests(), st.booleans())
def test_a_router_sends_what_the_naive_server_sends(
    asked: list[Request],
    advertising: bool,  # noqa: FBT001 -- drawn
) -> None:
    forwarding: Forwarding = "advertisement" if advertising else "subscription"
    # The naive server does as the papers do.
    options = Options(forwarding=forwarding, withdrawal="covering")
    router = router_with_peers(options)
    naive = NaiveServer([2, 3, 4], advertising=advertising)
    sent = 0
    for message, source in asked:
        answer = router.handle(message, source)
        assert answer == naive.handle(message, source)
        sent += len(answer)
    router.check()
    event("something was sent" if sent > 3 else "little was sent")


# A ring with a tail, and links of equal weight.  What 5 reaches through 3 is more than
# what 2 reaches through 5 and 3: the same filter from both is told once, from 5.
#
#     2 ─── 5 ─── 3 ─── 6
#     └─ 4 ─── 1 ─┘
RING = {
    1: ((3, 1.0), (4, 1.0)),
    2: ((4, 1.0), (5, 1.0)),
    3: ((1, 1.0), (5, 1.0), (6, 1.0)),
    4: ((1, 1.0), (2, 1.0)),
    5: ((2, 1.0), (3, 1.0)),
    6: ((3, 1.0),),
}


def router_in_a_mesh(options: Options, *, declarative: bool = False) -> Router:
    router = Router(5, options, declarative=declarative)
    for neighbour, weight in RING[5]:
        router.handle(PeerConnect(Side.MESH, weight), neighbour)
    for broker, weights in RING.items():
        if broker != 5:
            router.handle(LinkState(broker, (0, 1), weights), 2)
    return router


def test_a_pair_that_reaches_more_is_told_instead_of_one_with_a_smaller_origin() -> (
    None
):
    router = router_in_a_mesh(Options())
    wanted = Filter()
    assert router.handle(Subscribe(wanted, 2), 2) == [(3, Subscribe(wanted, 2))]
    assert router.handle(Subscribe(wanted), "a") == [
        (2, Subscribe(wanted, 5)),
        (3, Subscribe(wanted, 5)),
        (3, Unsubscribe(wanted, 2, exact=True)),
    ]


@given(
    requests(origins=True),
    st.sampled_from(("exact", "pairwise", "none")),
    st.sampled_from(("none", "perfect", "imperfect")),
    st.booleans(),
    st.sampled_from((router_with_peers, router_in_a_mesh)),
)
def test_a_router_sends_what_the_declarative_rule_says(
    asked: list[Request],
    covering: Covering,
    merging: Merging,
    advertising: bool,  # noqa: FBT001 -- drawn
    make: object,
) -> None:
    options = Options(
        covering=covering,
        merging=merging,
        forwarding="advertisement" if advertising else "subscription",
    )
    assert callable(make)
    fast, slow = make(options), make(options, declarative=True)
    for message, source in asked:
        assert fast.handle(message, source) == slow.handle(message, source)
    fast.check()


@given(requests(origins=True), requests(origins=True))
def test_a_change_of_the_network_is_the_same_for_both(
    before: list[Request], after: list[Request]
) -> None:
    changes: list[Request] = [
        (LinkState(4, (0, 2), ((2, 1.0),)), 2),
        (PeerDisconnect(), 3),
        (PeerConnect(Side.MESH, 1.0), 3),
    ]
    fast = router_in_a_mesh(Options())
    slow = router_in_a_mesh(Options(), declarative=True)
    for message, source in [*before, *changes, *after]:
        assert fast.handle(message, source) == slow.handle(message, source)
        fast.check()


def test_what_comes_over_a_link_that_has_gone_is_ignored() -> None:
    router = router_with_peers(Options())
    router.handle(PeerDisconnect(), 2)
    assert router.handle(Subscribe(Filter()), 2) == []
    assert len(router.tables.filters) == 0
