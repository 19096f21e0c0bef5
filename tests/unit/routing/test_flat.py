"""Without neighbours a router compares nothing, and says what it would have said."""

from hypothesis import given, strategies as st

from siena.lang.parser import parse_advertisement, parse_interest
from siena.messages import (
    Advertise,
    Outbox,
    Party,
    PeerConnect,
    Quenched,
    Side,
    Subscribe,
    Unadvertise,
    Unquenched,
    Unsubscribe,
)
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


def router(*, flat: bool) -> Router:
    return Router(1, Options(quench=True), flat=flat)


def do(router: Router, step: tuple[str, int, str], known: dict[int, str]) -> Outbox:
    verb, number, text = step
    party = Party("1", number)
    if verb == "forget":
        if number not in known:
            return []
        if number >= 5:
            wanted = Unadvertise(parse_advertisement(known[number]))
            return router.handle(wanted, party)
        return router.handle(Unsubscribe(parse_interest(known[number])), party)
    if number in known:
        return []
    if verb == "sub":
        return router.handle(Subscribe(parse_interest(text)), party)
    return router.handle(Advertise(parse_advertisement(text)), party)


def note(out: Outbox, quenched: dict[str, bool]) -> None:
    for party, message in out:
        assert isinstance(party, str)
        if isinstance(message, (Quenched, Unquenched)):
            quenched[party] = isinstance(message, Quenched)


@given(steps)
def test_who_is_quenched_does_not_depend_on_the_router(
    run: list[tuple[str, int, str]],
) -> None:
    routers = router(flat=False), router(flat=True)
    said: tuple[dict[str, bool], dict[str, bool]] = {}, {}
    known: dict[int, str] = {}
    for step in run:
        for each, heard in zip(routers, said, strict=True):
            note(do(each, step, known), heard)
        if step[0] == "forget":
            known.pop(step[1], None)
            for each_said in said:
                each_said.pop(f"1/{step[1]}", None)
        else:
            if step[0] == "adv" and step[1] not in known:
                for each_said in said:
                    each_said.setdefault(f"1/{step[1]}", False)
            known.setdefault(step[1], step[2])
        assert said[0] == said[1]


@given(steps)
def test_a_late_neighbour_is_told_what_an_early_one_was(
    run: list[tuple[str, int, str]],
) -> None:
    told = []
    for flat in (True, False):
        each = router(flat=flat)
        known: dict[int, str] = {}
        for step in run:
            do(each, step, known)
            if step[0] == "forget":
                known.pop(step[1], None)
            else:
                known.setdefault(step[1], step[2])
        out = each.handle(PeerConnect(Side.PEER), 2)
        told.append({str(m.interest) for _, m in out if isinstance(m, Subscribe)})
    assert told[0] == told[1]
