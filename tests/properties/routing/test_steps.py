"""A router that works in steps tells what one tells that does all at once."""

from hypothesis import event, example, given, strategies as st

from siena.algebra.covering import covers_filter
from siena.algebra.sat import satisfiable
from siena.lang.parser import parse_filter
from siena.messages import (
    Interface,
    LinkState,
    Message,
    Outbox,
    Party,
    PeerConnect,
    PeerDisconnect,
    Settle,
    Settled,
    Side,
    Subscribe,
    Unsubscribe,
)
from siena.model import Filter, Kind
from siena.routing.demand.covering_order import order_of_filters
from siena.routing.interest_table import Holder, InterestTable
from siena.routing.router import Router
from strategies import filters

FILTERS = filters((Kind.INTEGER,), ("x", "y"), max_size=2)

KINDS = (*("client",) * 3, *("neighbour",) * 3, "link", "gone")

# What is asked of the router, and how many steps it works afterwards.
Step = tuple[Message, Interface, int]


class Neighbours:
    """What the neighbours of a router hold, by what it has sent to them."""

    def __init__(self) -> None:
        self.tables: dict[int, InterestTable[Filter]] = {}

    def hear(self, out: Outbox) -> list[Settled]:
        answers: list[Settled] = []
        for to, message in out:
            if isinstance(message, Settled):
                answers.append(message)
            elif isinstance(to, int) and isinstance(message, (Subscribe, Unsubscribe)):
                assert isinstance(message.interest, Filter)
                table = self.tables.setdefault(
                    to, InterestTable(order_of_filters("exact"))
                )
                holder = Holder(1, message.origin or 1)
                if isinstance(message, Subscribe):
                    table.announce(holder, message.interest, keeps_covered=True)
                else:
                    table.withdraw(holder, message.interest, exact=True)
        return answers

    def held(self) -> dict[int, set[tuple[Filter, int]]]:
        found = {n: table.announced_by(1) for n, table in self.tables.items()}
        return {number: pairs for number, pairs in found.items() if pairs}

    def has(self, number: int, wanted: Filter) -> bool:
        table = self.tables.get(number)
        held = () if table is None else table.held_by(1)
        return any(covers_filter(f, wanted) for f in held)


@st.composite
def scripts(draw: st.DrawFn) -> list[Step]:
    """Clients that come and go, and links that come up in between."""
    steps: list[Step] = []
    parties = [Party("c", number) for number in range(6)]
    asked: dict[Party, Filter] = {}
    for _ in range(draw(st.integers(4, 20))):
        work = draw(st.integers(0, 3))
        what = draw(st.sampled_from(KINDS))
        if what == "link":
            number = draw(st.sampled_from((2, 3)))
            steps.append((PeerConnect(Side.PEER), number, work))
        elif what == "gone":
            number = draw(st.sampled_from((2, 3)))
            steps.append((PeerDisconnect(), number, work))
        elif what == "neighbour":
            number = draw(st.sampled_from((2, 3)))
            kind = draw(st.sampled_from((Subscribe, Unsubscribe)))
            steps.append((kind(draw(FILTERS)), number, work))
        else:
            party = draw(st.sampled_from(parties))
            if party in asked:
                steps.append((Unsubscribe(asked.pop(party)), party, work))
            else:
                f = asked[party] = draw(FILTERS)
                steps.append((Subscribe(f), party, 0))
                if draw(st.booleans()):
                    steps.append((Settle(f, party.number), party, work))
    return steps


# A wide interest comes and goes before all that it covers has been taken back: the
# neighbour has given that up by itself, and must be told again.
WIDE_BRIEFLY: list[Step] = [
    (Subscribe(parse_filter("integer y < 2")), Party("c", 2), 0),
    (PeerConnect(Side.PEER, exact=True, closed=True), 3, 3),
    (PeerConnect(Side.PEER, exact=True, closed=True), 2, 3),
    (Subscribe(parse_filter("integer y > 3")), 2, 6),
    (Subscribe(parse_filter("integer x < 1")), Party("c", 0), 0),
    (Subscribe(parse_filter("[]")), 3, 3),
    (Unsubscribe(parse_filter("[]")), 3, 0),
]


# What covers others goes, they are told beside it, and it comes back before it was
# taken back: the neighbour has had it all along, and gives up nothing by itself.
WIDE_ALL_ALONG: list[Step] = [
    (Subscribe(parse_filter("integer x < 4 and integer x > 0")), Party("c", 2), 0),
    (PeerConnect(Side.PEER, exact=True, closed=True), 3, 1),
    (Subscribe(parse_filter("integer x any")), Party("c", 4), 0),
    (Subscribe(parse_filter("integer x < 1")), Party("c", 1), 0),
    (PeerConnect(Side.PEER, exact=True, closed=True), 2, 5),
    (Unsubscribe(parse_filter("integer x any")), Party("c", 4), 3),
    (Subscribe(parse_filter("integer x any")), 2, 2),
]


# A wide interest comes, and the neighbour gives up what it covers sooner than we do.
WIDE_AND_MANY: list[Step] = [
    (PeerConnect(Side.PEER, exact=True, closed=True), 2, 1),
    *((Subscribe(parse_filter(f"x = {n}")), Party("c", n), 1) for n in range(4)),
    (Subscribe(parse_filter("x any")), Party("c", 4), 1),
]

# It is asked about one interest, and about its cover, before a neighbour hears of all.
ASKED_EARLY: list[Step] = [
    (Subscribe(parse_filter("x > 3")), Party("c", 0), 0),
    (Subscribe(parse_filter("x any")), Party("c", 1), 0),
    (PeerConnect(Side.PEER, exact=True, closed=True), 2, 0),
    (Settle(parse_filter("x > 3"), 0), Party("c", 0), 0),
    (Settle(parse_filter("x any"), 1), Party("c", 1), 0),
]


@given(scripts(), st.integers(1, 3))
@example(WIDE_AND_MANY, 1)
@example(ASKED_EARLY, 1)
def test_a_neighbour_that_is_level_holds_what_it_was_told(
    script: list[Step], size: int
) -> None:
    router = Router(1, sliced=True)
    router.tables.step_max = router.tables.filters.part_max = size
    seen = Neighbours()

    def compare() -> None:
        held = seen.held()
        for number, neighbour in router.tables.neighbours.items():
            if neighbour.is_level:
                told = set(neighbour.filters.told)
                assert held.get(number, set()) == told
            else:
                event("not level")

    for message, source, work in script:
        if isinstance(message, PeerDisconnect):
            seen.tables.pop(int(source), None)
        while isinstance(message, PeerConnect) and source in router.leaving:
            seen.hear(router.work())  # there is no link before
        if isinstance(message, (Subscribe, Settle)):
            seen.hear(router.gather(message, source) + router.handle_gathered())
        else:
            seen.hear(router.handle(message, source))
        compare()
        for _ in range(work):
            seen.hear(router.work())
            compare()
    while router.backlog:
        seen.hear(router.work())
        compare()
    assert all(each.is_level for each in router.tables.neighbours.values())


@given(scripts(), st.integers(1, 3))
@example(WIDE_BRIEFLY, 1)
@example(WIDE_ALL_ALONG, 1)
def test_steps_end_where_all_at_once_ends(script: list[Step], size: int) -> None:
    sliced, at_once = Router(1, flat=True, sliced=True), Router(1, flat=True)
    # Smaller than is sensible.
    sliced.tables.step_max = sliced.tables.filters.part_max = size
    seen, wanted = Neighbours(), Neighbours()
    was_behind = False
    for message, source, work in script:
        if isinstance(message, PeerDisconnect):
            for neighbours in (seen, wanted):
                neighbours.tables.pop(int(source), None)
        while isinstance(message, PeerConnect) and source in sliced.leaving:
            seen.hear(sliced.work())  # there is no link before
        out = sliced.handle(message, source)
        for answer in seen.hear(out):
            # Only what every neighbour holds already is answered.
            f = message.interest if isinstance(message, Settle) else None
            if isinstance(f, Filter) and satisfiable(f) and answer.token >= 0:
                for number in sliced.tables.neighbours:
                    assert seen.has(number, f)
        wanted.hear(at_once.handle(message, source))
        for _ in range(work):
            was_behind |= bool(sliced.backlog)
            seen.hear(sliced.work())
    while sliced.backlog:
        was_behind = True
        seen.hear(sliced.work())
    assert seen.held() == wanted.held()
    sliced.check()
    event("in steps" if was_behind else "at once")


RING: list[list[Step]] = [
    [(PeerConnect(Side.MESH), 2, 0), (LinkState(2, (0, 1), ((1, 1.0),)), 2, 0)],
    [(PeerConnect(Side.MESH), 3, 0), (LinkState(3, (0, 1), ((1, 1.0),)), 3, 0)],
    [
        (LinkState(2, (0, 2), ((1, 1.0), (3, 1.0))), 2, 0),
        (LinkState(3, (0, 2), ((1, 1.0), (2, 1.0))), 3, 0),
    ],
    [(PeerDisconnect(), 3, 0), (LinkState(3, (0, 3), ((2, 1.0),)), 2, 0)],
]


@given(
    st.lists(FILTERS.filter(satisfiable), min_size=1, max_size=12), st.integers(1, 3)
)
def test_a_mesh_that_changes_is_told_in_steps_and_nothing_breaks(
    some: list[Filter], size: int
) -> None:
    sliced, at_once = Router(1, sliced=True), Router(1)
    sliced.tables.step_max = size
    seen, wanted = Neighbours(), Neighbours()
    for number, f in enumerate(some):
        source = Party("c", number)
        seen.hear(sliced.handle(Subscribe(f), source))
        wanted.hear(at_once.handle(Subscribe(f), source))
    has_broken = 0
    for stage in RING:
        before = [f for f in some if wanted.has(2, f)]
        for message, peer, _ in stage:
            if isinstance(message, PeerDisconnect):
                for neighbours in (seen, wanted):
                    neighbours.tables.pop(int(peer), None)
            wanted.hear(at_once.handle(message, peer))
        # What was wanted before and is afterwards is held all the time.
        kept = [f for f in before if wanted.has(2, f)]
        for message, peer, _ in stage:
            seen.hear(sliced.handle(message, peer))
            has_broken += not all(seen.has(2, f) for f in kept)
        while sliced.backlog:
            seen.hear(sliced.work())
            has_broken += not all(seen.has(2, f) for f in kept)
        assert seen.held() == wanted.held()
    assert not has_broken
    assert wanted.held(), "or the test would show nothing"
    sliced.check()
