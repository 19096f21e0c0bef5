"""Counting what schemes store, against schemes that store it."""

import pytest

from siena.research.studies.framework.rows import Row
from siena.research.studies.runs.networks import NOTIFICATIONS, SCHEMES, assess_scheme
from siena.research.studies.runs.schemes.counts import count_schemes

NETWORKS = [
    ("N12", 12, 1),
    ("N12t", 12, 1),
    ("N4", 4, 1),
    ("tree", 15, 2),
    *(("random", n, n) for n in (5, 12, 20)),
    *(("power law", n, n) for n in (8, 16)),
    ("transit-stub", 24, 3),
]


@pytest.mark.parametrize(("network", "brokers", "seed"), NETWORKS)
def test_schemes_store_what_is_counted(network: str, brokers: int, seed: int) -> None:
    row: Row = {"network": network, "brokers": brokers, "seed": seed}
    counted = count_schemes(row)
    for scheme in SCHEMES:
        stored = assess_scheme({**row, "scheme": scheme})
        assert stored["copies"] == counted[f"{scheme}_copies"]
        assert stored["bits"] == counted[f"{scheme}_bits"]
        assert stored["hops"] == counted["hops"]


def test_delivery_trees_are_those_of_the_schemes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(
        "siena.research.studies.runs.schemes.counts.NOTIFICATIONS", NOTIFICATIONS
    )
    for network, brokers in (("random", 20), ("power law", 16)):
        row: Row = {"network": network, "brokers": brokers, "seed": 7}
        counted = count_schemes(row)
        for scheme in ("PSF", "PIF"):
            delivered = assess_scheme({**row, "scheme": scheme})["vertices"]
            assert delivered == counted[f"{scheme}_vertices"]
