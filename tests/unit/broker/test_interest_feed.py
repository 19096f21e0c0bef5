"""Before there are neighbours, publishers hear what the router would have told them."""

from hypothesis import given, strategies as st

from siena.broker.interest_feed import InterestFeed
from siena.broker.settings import Settings
from siena.broker.state import BrokerState
from siena.clock import SystemClock
from siena.lang.parser import parse_advertisement, parse_interest
from siena.messages import Outbox, PeerConnect, Quenched, Side, Subscribe, Unquenched
from siena.routing.options import Options
from siena.routing.router import Router

INTERESTS = ["x > 1", "x = 2", "y any", "x > 1 or y = 1", "x = 1 then y = 1", "y = 1"]
ADVERTISEMENTS = ["x any", "x < 2", "y = 1", "x > 0 and y any"]

steps = st.lists(
    st.one_of(
        st.tuples(st.just("sub"), st.integers(0, 4), st.sampled_from(INTERESTS)),
        st.tuples(st.just("adv"), st.integers(5, 7), st.sampled_from(ADVERTISEMENTS)),
        st.tuples(st.just("forget"), st.integers(0, 7), st.just("")),
    ),
    max_size=25,
)


def briefed(*, from_the_start: bool) -> tuple[BrokerState, InterestFeed]:
    state = BrokerState(Settings(), SystemClock(), Router(1, Options(quench=True)))
    interest_feed = InterestFeed(state)
    if from_the_start:
        interest_feed.begin()
    return state, interest_feed


def do(
    interest_feed: InterestFeed, step: tuple[str, int, str], known: set[int]
) -> Outbox:
    verb, number, text = step
    party = f"1/{number}"
    if verb == "forget":
        return interest_feed.forget(party) if number in known else []
    if number in known:
        return []
    if verb == "sub":
        return interest_feed.subscribe(party, parse_interest(text))
    return interest_feed.advertise(party, parse_advertisement(text))


def note(out: Outbox, quenched: dict[str, bool]) -> None:
    for party, message in out:
        assert isinstance(party, str)
        if isinstance(message, (Quenched, Unquenched)):
            quenched[party] = isinstance(message, Quenched)


@given(steps)
def test_who_is_quenched_does_not_depend_on_the_router(
    run: list[tuple[str, int, str]],
) -> None:
    _, early = briefed(from_the_start=True)
    _, late = briefed(from_the_start=False)
    said: tuple[dict[str, bool], dict[str, bool]] = {}, {}
    known: set[int] = set()
    for step in run:
        note(do(early, step, known), said[0])
        note(do(late, step, known), said[1])
        if step[0] == "forget":
            known.discard(step[1])
            for each in said:
                each.pop(f"1/{step[1]}", None)
        else:
            if step[0] == "adv" and step[1] not in known:
                for each in said:
                    each.setdefault(f"1/{step[1]}", False)
            known.add(step[1])
        assert said[0] == said[1]


@given(steps)
def test_a_late_neighbour_is_told_what_an_early_one_was(
    run: list[tuple[str, int, str]],
) -> None:
    told = []
    for from_the_start in (True, False):
        state, interest_feed = briefed(from_the_start=from_the_start)
        known: set[int] = set()
        for step in run:
            do(interest_feed, step, known)
            (known.discard if step[0] == "forget" else known.add)(step[1])
        interest_feed.begin()
        out = state.router.handle(PeerConnect(Side.PEER), 2)
        told.append({str(m.interest) for _, m in out if isinstance(m, Subscribe)})
    assert told[0] == told[1]
