"""What is told in parts is cancelled by its name, unless the neighbour gives it up."""

from siena.lang.parser import parse_filter
from siena.messages import Subscribe, Unsubscribe
from siena.routing.demand.announcer import Announcer
from siena.routing.demand.covering_order import order_of_filters
from siena.routing.demand.demand import Demand

PART_MAX = 2
EVERYTHING, Y, NARROW = map(parse_filter, ("[]", "y any", "y = 0"))
OTHERS = [parse_filter(f"x = {n}") for n in range(PART_MAX)]


def test_a_cover_of_another_origin_takes_the_place_of_nothing_by_itself() -> None:
    order = order_of_filters("exact")
    demand = Demand(order)
    announcer = Announcer(
        demand,
        order.covers,
        announce=Subscribe,
        cancel=Unsubscribe,
        names_origins=True,
        is_exact=True,
    )
    announcer.tell_in_parts(PART_MAX)
    announcer.sync()
    while announcer.is_behind:
        announcer.work()
    for f in (EVERYTHING, NARROW, *OTHERS):
        demand.enter(order.add(f), 4)
        announcer.sync()
    # What covers everything goes in parts: it is still there when the next comes.
    demand.leave(EVERYTHING, 4)
    demand.work()
    assert Subscribe(NARROW, 4) in announcer.sync()
    assert demand.is_leaving((EVERYTHING, 4))
    demand.enter(order.add(Y), 3)
    assert announcer.sync() == [Subscribe(Y, 3), Unsubscribe(NARROW, 4)]
