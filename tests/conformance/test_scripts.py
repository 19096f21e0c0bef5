"""The kit's scripts, played by our routers and by their declarative twins."""

import pytest

from conformance.kit import load
from conformance.scripts import AREAS, replay

SCRIPTS = [
    pytest.param(area, case["id"], id=case["id"].replace("-", "_"))
    for area in AREAS
    for case in load(area)["cases"]
    if case["relation"] == "routes"
]


@pytest.mark.parametrize(("area", "name"), SCRIPTS)
def test_a_network_does_what_the_script_says(area: str, name: str) -> None:
    replay(area, name)


@pytest.mark.parametrize(("area", "name"), SCRIPTS)
def test_a_declarative_network_does_the_same(area: str, name: str) -> None:
    """Its brokers compute what neighbours should know, and send the difference."""
    replay(area, name, declarative=True)
