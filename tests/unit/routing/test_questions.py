"""Who has advertised something is answered when it is known what is wanted of it."""

from collections import deque

import pytest

from siena.lang.parser import parse_advertisement, parse_filter
from siena.messages import (
    Advertise,
    Flush,
    Interface,
    Message,
    Outbox,
    Party,
    PeerConnect,
    Settle,
    Settled,
    Side,
    Subscribe,
)
from siena.routing.options import Options
from siena.routing.router import Router
from siena.routing.steps.backlog import STEP_MAX

PUBLISHER = Party("1", 0)
OFFER = parse_advertisement("x any")


class Chain:
    """Brokers in a row; what one sends comes as soon as nothing else is on its way."""

    def __init__(self, count: int, options: Options, *, sliced: bool) -> None:
        self.routers = {n: Router(n, options, sliced=sliced) for n in range(count)}
        self.answers: list[tuple[Interface, Message]] = []
        self._on_their_way: deque[tuple[int, int, Message]] = deque()
        for n in range(1, count):
            asked = PeerConnect(Side.PEER, exact=True, closed=True)
            self.routers[n].connect(n - 1, Side.PEER, exact=True, closed=True)
            self.post(n - 1, self.routers[n - 1].handle(asked, n))
            self.rest()

    def post(self, sender: int, out: Outbox) -> None:
        for to, message in out:
            if isinstance(to, int):
                self._on_their_way.append((sender, to, message))
            else:
                self.answers.append((to, message))

    def rest(self) -> None:
        """Let all come, and all be done, until an answer is there."""
        while not self.answers:
            if self._on_their_way:
                sender, to, message = self._on_their_way.popleft()
                self.post(to, self.routers[to].handle(message, sender))
            elif behind := [r for r in self.routers.values() if r.backlog]:
                self.post(behind[0].me, behind[0].work())
            else:
                return


@pytest.mark.parametrize("sliced", [False, True])
@pytest.mark.parametrize("batching", [False, True])
@pytest.mark.parametrize("count", [2, 3])
def test_an_offer_is_answered_after_all_that_is_wanted_of_it(
    count: int, *, batching: bool, sliced: bool
) -> None:
    options = Options(forwarding="advertisement", batching=batching)
    chain = Chain(count, options, sliced=sliced)
    first, last = chain.routers[0], chain.routers[count - 1]
    wanted = {parse_filter(f"x = {n}") for n in range(3 * STEP_MAX)}
    for number, f in enumerate(wanted):
        chain.post(last.me, last.handle(Subscribe(f), Party("2", number)))
    chain.rest()
    assert not first.tables.filters, "nothing was offered"
    chain.post(0, first.handle(Advertise(OFFER), PUBLISHER))
    chain.post(0, first.handle(Settle(OFFER, 0), PUBLISHER))
    if batching:  # the clock of its broker says when
        chain.post(0, first.handle(Flush(), "the clock"))
    chain.rest()
    assert chain.answers == [(PUBLISHER, Settled(0))]
    assert first.tables.filters.held_by(1) == wanted
