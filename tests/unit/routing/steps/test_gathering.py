"""What is gathered is entered before anything else happens, whatever that is."""

from siena.lang.parser import parse_filter
from siena.messages import Party, PeerConnect, Release, Side, Subscribe
from siena.routing.router import Router
from siena.routing.settling import AGES_MAX


def test_nothing_stays_of_a_client_that_moves_away_in_mid_batch() -> None:
    router = Router(1)
    router.handle(PeerConnect(Side.PEER), 2)
    router.handle(Subscribe(parse_filter("x = 1")), Party("3", 1))
    router.handle(Release(), "3")
    for _ in range(AGES_MAX - 1):
        router.age()
    router.gather(Subscribe(parse_filter("y = 1")), Party("3", 2), 2)
    assert router.age(), "its neighbour has not answered, and it goes all the same"
    router.handle_gathered()
    assert not router.registrations.has("3")
    assert not list(router.tables.filters)
    router.check()
