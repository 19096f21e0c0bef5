"""Principals: whose identities are whose, and until when."""

import pytest

from siena.broker.access.principal import ANONYMOUS, LOCAL, Principal


@pytest.mark.parametrize(
    ("identity", "is_theirs"),
    [("ann", True), ("ann/a/b", True), ("anna", False), ("", False), ("bob", False)],
)
def test_identities_are_of_the_principal_of_their_first_part(
    identity: str, *, is_theirs: bool
) -> None:
    assert Principal("ann").owns(identity) is is_theirs


def test_only_the_local_principal_owns_what_has_no_owner() -> None:
    assert LOCAL.owns("ann")
    assert not ANONYMOUS.owns("ann")


def test_a_credential_shows_nothing_from_the_moment_it_expires() -> None:
    assert not Principal("ann").has_expired(1e12)
    assert not Principal("ann", expires_at=10.0).has_expired(9.9)
    assert Principal("ann", expires_at=10.0).has_expired(10.0)
