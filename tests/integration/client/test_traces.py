"""Traced publications: every broker on the way answers, however many there are."""

import siena
from siena import testing


def test_a_publication_is_followed_through_a_network() -> None:
    with (
        testing.network("star:4") as network,
        siena.connect(network[2].url, name="near") as near,
        siena.connect(network[3].url) as far,
    ):
        wanted = near.subscribe("x > 3").settled(10)
        hops = {hop.broker: hop for hop in far.trace(x=5)}
        assert hops.keys() == {"1", "2", "3"}
        assert hops["3"].went_to == ["1"]
        assert hops["1"].went_to == ["2"]
        assert hops["2"].matched == ["near: x > 3"]
        assert wanted.get(10)["x"] == 5
        nobody = far.trace(x=1)
        assert [(hop.broker, hop.went_to) for hop in nobody] == [("3", [])]
