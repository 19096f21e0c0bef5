"""Quenching: publishers hear whether anybody wants what they advertise.

The scripts stand in ``conformance/advertising.json``.
"""

import pytest

from conformance.kit import Case
from conformance.scripts import play, replay, variants

AREA = "advertising"


@pytest.mark.parametrize("case", variants(AREA, "T-G1"))
def test_T_G1_a_publisher_is_quenched_and_unquenched(case: Case) -> None:
    play(case)


def test_T_G1_another_who_wants_it_keeps_the_publisher_going() -> None:
    replay(AREA, "T-G1-another")


def test_T_G1_in_a_hierarchy_only_the_root_may_quench() -> None:
    replay(AREA, "T-G1-hierarchical")
