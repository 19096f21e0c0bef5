"""A neighbour of an older version is told covers, in words that it knows."""

from hypothesis import given

from siena.algebra.covering import covers_advertisement, covers_filter
from siena.lang import parse_filter
from siena.messages import Message, PeerConfirm, Side, Subscribe, Unsubscribe
from siena.model import Advertisement, Filter, Operator
from siena.routing.demand.older import older_advertisement, older_filter
from siena.routing.options import Options
from siena.routing.router import Router
from strategies import advertisements, filters


@given(filters())
def test_what_is_told_covers_what_is_wanted(f: Filter) -> None:
    older = older_filter(f)
    assert covers_filter(older, f)
    assert all(c.operator <= Operator.ANY for c in older)


@given(advertisements())
def test_what_is_offered_covers_what_is_promised(a: Advertisement) -> None:
    older = older_advertisement(a)
    assert covers_advertisement(older, a)
    assert all(c.operator <= Operator.ANY for c in older)


def test_one_cover_stands_for_several_and_goes_with_the_last() -> None:
    router = Router(1, Options())
    router.connect(2, Side.PEER, closed=False)
    router.handle(PeerConfirm(), 2)
    absent = [parse_filter(f"x = 1 and {name} absent") for name in "yz"]
    said: list[Message] = [*map(Subscribe, absent), *map(Unsubscribe, absent)]
    told = [
        [str(m) for to, m in router.handle(message, "client") if to == 2]
        for message in said
    ]
    plain = parse_filter("x = 1")
    assert told == [
        [str(Subscribe(plain))],
        [],
        [],
        [str(Unsubscribe(plain, exact=True))],
    ]
