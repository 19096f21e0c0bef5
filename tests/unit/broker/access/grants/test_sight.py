"""What one may see of others."""

import pytest

from siena.broker.access.grants.grant import UNLIMITED, Grant
from siena.broker.access.grants.roles import Roles
from siena.broker.access.grants.sight import ANOTHER, Sight
from siena.broker.access.principal import LOCAL, Principal
from siena.lang.parser import parse_advertisement, parse_interest

ANN = Principal("ann", ("desk",))
DESK = Roles.from_form({"desk": {"subscribe": "x = 1 or y any", "inspect": "[]"}})
SIGHT = Sight(ANN, Grant.of(ANN, DESK))


@pytest.mark.parametrize(
    ("text", "is_seen"),
    [("x = 1", True), ("x any", False), ("x = 1 then y = 2", True), ("[]", False)],
)
def test_what_could_be_subscribed_to_is_seen(text: str, is_seen: bool) -> None:  # noqa: FBT001
    assert SIGHT.of_interest(parse_interest(text)) is is_seen
    assert SIGHT.chooser()(parse_interest(text)) is is_seen


def test_offers_are_seen_if_all_of_them_could_be_heard() -> None:
    assert SIGHT.chooser()(parse_advertisement("y > 3"))
    assert not SIGHT.of_offer(parse_advertisement("z any"))


def test_of_others_it_is_known_that_they_are() -> None:
    called = [(ANN, "me"), (Principal("bob"), "bob"), (None, "broker b")]
    assert SIGHT.names(called) == ["me", ANOTHER, "broker b"]


def test_who_may_do_everything_sees_everything() -> None:
    everything = Sight(LOCAL, UNLIMITED)
    assert everything.is_whole
    assert everything.chooser()(parse_interest("z any"))
    assert everything.of_principal(Principal("bob"))
