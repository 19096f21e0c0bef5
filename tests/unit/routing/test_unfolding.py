"""While a first link comes up in steps, publishers are told nothing wrong."""

from siena import parse_advertisement, parse_filter
from siena.messages import Advertise, PeerConnect, Quenched, Side, Subscribe
from siena.routing.options import Options
from siena.routing.router import Router


def test_no_publisher_is_quenched_though_not_all_is_entered_yet() -> None:
    router = Router(1, Options(quench=True), flat=True, sliced=True)
    router.handle(Subscribe(parse_filter("x any")), "a")
    offers = [parse_advertisement(text) for text in ("x = 1", "x = 2", "x = 3")]
    for offer in offers:
        router.handle(Advertise(offer), "p")
    out = router.handle(PeerConnect(Side.PEER), 2)
    assert router.backlog
    while router.backlog:
        out += router.work()
    assert not [message for _, message in out if isinstance(message, Quenched)]
    assert not any(router.is_quenched("p", offer) for offer in offers)
