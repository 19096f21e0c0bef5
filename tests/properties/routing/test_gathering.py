"""What is gathered ends where all of it ends that is handled one by one."""

from hypothesis import given, strategies as st

from siena.messages import (
    Interface,
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
NEIGHBOURS = (2, 3)

# A message from a client or a neighbour, and whether a tick ends behind it.
Step = tuple[Message, Interface, bool]


class Network:
    """A router and its neighbours, which hold what they are told and answer at once."""

    def __init__(self) -> None:
        self.router = Router(1)
        self.held: dict[int, InterestTable[Filter]] = {}
        self.settled: list[tuple[Interface, int]] = []
        self.told = 0

    def handle(self, message: Message, source: Interface) -> None:
        self.send(self.router.handle(message, source))
        if isinstance(message, PeerDisconnect):
            self.held.pop(int(source), None)

    def gather(self, message: Message, source: Interface) -> None:
        if isinstance(message, (Subscribe, Settle)):
            self.send(self.router.gather(message, source))
        else:
            self.handle(message, source)

    def send(self, out: Outbox) -> None:
        for to, message in out:
            if isinstance(message, Settled):
                self.settled.append((to, message.token))
            elif isinstance(to, int) and isinstance(message, Settle):
                self.send(self.router.handle(Settled(message.token), to))
            elif isinstance(to, int) and isinstance(message, (Subscribe, Unsubscribe)):
                self.told += 1
                self.hear(to, message)

    def hear(self, neighbour: int, message: Subscribe | Unsubscribe) -> None:
        held = self.held.setdefault(neighbour, InterestTable(order_of_filters("exact")))
        assert isinstance(message.interest, Filter)
        if isinstance(message, Subscribe):
            held.announce(Holder(1, 1), message.interest, keeps_covered=True)
        else:
            held.withdraw(Holder(1, 1), message.interest, exact=True)

    def holdings(self) -> dict[int, set[Filter]]:
        return {n: held.held_by(1) for n, held in self.held.items() if held.held_by(1)}


@st.composite
def scripts(draw: st.DrawFn) -> list[Step]:
    """Clients that come, ask and go, and neighbours that do."""
    steps: list[Step] = []
    asked: dict[Party, Filter] = {}
    for number in range(draw(st.integers(2, 12))):
        is_end = draw(st.booleans())
        what = draw(st.sampled_from("ssssnu"))
        neighbour = draw(st.sampled_from(NEIGHBOURS))
        if what == "s":
            party = Party("c", number)
            f = asked[party] = draw(FILTERS)
            steps.append((Subscribe(f), party, False))
            steps.append((Settle(f, number), party, is_end))
        elif what == "n":
            f = draw(FILTERS)
            steps.append((Subscribe(f), neighbour, False))
            steps.append((Settle(f, 100 + number), neighbour, is_end))
        elif asked:
            party = draw(st.sampled_from(sorted(asked)))
            steps.append((Unsubscribe(asked.pop(party)), party, is_end))
    if draw(st.booleans()):
        gone = draw(st.sampled_from(NEIGHBOURS)), draw(st.integers(0, len(steps)))
        steps.insert(gone[1], (PeerDisconnect(), gone[0], False))
    return steps


@given(scripts())
def test_what_is_gathered_ends_where_one_by_one_ends(script: list[Step]) -> None:
    one_by_one, gathered = Network(), Network()
    for number in NEIGHBOURS:
        link = PeerConnect(Side.PEER, exact=True, closed=True)
        one_by_one.handle(link, number)
        gathered.handle(link, number)
    for message, source, is_end in script:
        one_by_one.handle(message, source)
        gathered.gather(message, source)
        if is_end:
            gathered.send(gathered.router.handle_gathered())
    gathered.send(gathered.router.handle_gathered())
    assert gathered.holdings() == one_by_one.holdings()
    assert sorted(gathered.settled, key=str) == sorted(one_by_one.settled, key=str)
    assert gathered.told <= one_by_one.told
    gathered.router.check()


@given(scripts())
def test_a_subscription_with_a_token_is_one_and_a_question(script: list[Step]) -> None:
    apart, together = Network(), Network()
    for number in NEIGHBOURS:
        link = PeerConnect(Side.PEER, exact=True, closed=True)
        apart.handle(link, number)
        together.handle(link, number)
    asked: set[tuple[Interface, int]] = set()
    for at, (message, source, is_end) in enumerate(script):
        apart.gather(message, source)
        following = script[at + 1 : at + 2]
        if isinstance(message, Subscribe) and isinstance(source, Party):
            token = source.number
            asked.add((source, token))
            together.send(together.router.gather(message, source, token))
        elif not isinstance(message, Settle) or (source, message.token) not in asked:
            together.gather(message, source)
        if is_end or not following:
            for network in (apart, together):
                network.send(network.router.handle_gathered())
    assert together.holdings() == apart.holdings()
    assert sorted(together.settled, key=str) == sorted(apart.settled, key=str)
    together.router.check()
