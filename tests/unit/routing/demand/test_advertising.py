"""Advertisement forwarding: subscriptions go only where they can be served.

The scripts stand in ``conformance/advertising.json``.
"""

from conformance.scripts import replay

AREA = "advertising"


def test_T_B26_subscriptions_follow_advertisements() -> None:
    replay(AREA, "T-B26")


def test_what_a_publisher_did_not_advertise_is_not_delivered_even_next_door() -> None:
    replay(AREA, "advertised-next-door")


def test_an_unadvertisement_cancels_what_it_covers() -> None:
    replay(AREA, "unadvertised-by-a-cover")
