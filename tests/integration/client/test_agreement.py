"""What arrives over real sockets is what the definition of matching says."""

from hypothesis import HealthCheck, event, given, settings, strategies as st

import siena
from siena import Filter, Notification, Predicate
from strategies import filters, notifications, predicates

INTERESTS = st.lists(st.one_of(filters(), predicates()), min_size=1, max_size=6)


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(INTERESTS, st.lists(notifications(), max_size=12), st.data())
def test_every_subscription_gets_what_matches_in_order(
    url: str,
    interests: list[Filter | Predicate],
    published: list[Notification],
    data: st.DataObject,
) -> None:
    """Also when some of them end, or begin, in between."""
    middle = data.draw(st.integers(0, len(published)), label="middle")
    ended = data.draw(st.integers(0, len(interests) - 1), label="ended")
    with siena.connect(url) as client:
        wanted = [client.subscribe(interest).settled() for interest in interests]
        client.publish_many(published[:middle])
        client.flush()
        early = list(wanted[ended].within(0))
        wanted[ended].close()
        late = client.subscribe(interests[ended]).settled()
        client.publish_many(published[middle:])
        client.flush()
        found = [list(each.within(0)) for each in wanted]
        found[ended] = early + list(late.within(0))
        assert all(each.lost == 0 for each in wanted)
    expected = [[n for n in published if i.matches(n)] for i in interests]
    event("something matched" if any(expected) else "nothing matched")
    assert found == expected
