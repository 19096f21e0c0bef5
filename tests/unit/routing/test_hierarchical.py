"""The hierarchical architecture: the papers' figures 13 to 16, and what they miss.

The scripts stand in ``conformance/hierarchical.json``, for other implementations too.
"""

import pytest

from conformance.scripts import replay

AREA = "hierarchical"


@pytest.mark.paper
def test_T_B13_a_root_is_told_to_the_master() -> None:
    replay(AREA, "T-B13")


@pytest.mark.paper
def test_T_B14_what_is_covered_is_not() -> None:
    replay(AREA, "T-B14")


@pytest.mark.paper
def test_T_B15_a_wider_filter_replaces_the_clients_own() -> None:
    replay(AREA, "T-B15")


@pytest.mark.paper
def test_T_B16_an_unsubscription_uncovers_what_it_hid() -> None:
    replay(AREA, "T-B16")


def test_T_B16b_an_unsubscription_names_what_went_and_not_what_was_asked() -> None:
    """Erratum E4: the client's filter would cancel other clients' interests."""
    replay(AREA, "T-B16b")
    replay(AREA, "T-B16b-paper")


def test_T_B16c_a_notification_climbs_and_goes_down_and_never_back() -> None:
    replay(AREA, "T-B16c")


def test_T_B16c_a_publisher_that_subscribed_receives_too() -> None:
    replay(AREA, "T-B16c-publisher")


def test_T_B28_in_a_hierarchy_what_nobody_wants_still_climbs_to_the_root() -> None:
    replay(AREA, "T-B28-hierarchical")


def test_advertisements_are_dropped_in_silence() -> None:
    """Erratum E5: and so are unadvertisements."""
    replay(AREA, "hierarchical-advertisements")
