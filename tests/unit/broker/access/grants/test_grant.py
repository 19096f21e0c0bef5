"""Unions of roles, caveats, and what nobody said is not allowed."""

import pytest

from siena.broker.access.grants.book import GrantBook
from siena.broker.access.grants.grant import EVERYTHING, NOTHING, UNLIMITED, Grant
from siena.broker.access.grants.roles import Roles
from siena.broker.access.principal import ANONYMOUS, LOCAL, Principal
from siena.errors import SienaError

ROLES = Roles.from_form(
    {
        "trader": {
            "publish": "what = order and user = ${identity}",
            "subscribe": ["what = quote", "to = ${identity}"],
        },
        "clerk": {"subscribe": "what = fill", "beyond": "refuse", "hold": True},
        "admin": {"publish": "[]", "subscribe": "x = 1 or []", "inspect": "[]"},
        "partner": {"peer": {"import": "from = them", "export": "for = them"}},
    }
)


def test_everybody_may_everything_where_nobody_is_asked() -> None:
    assert GrantBook(ROLES).of(LOCAL) is UNLIMITED


def test_whoever_has_no_role_may_nothing() -> None:
    for principal in (ANONYMOUS, Principal("ann"), Principal("ann", ("unheard-of",))):
        grant = Grant.of(principal, ROLES)
        assert set(grant.predicates()) == {NOTHING}
        assert not grant.may_hold


def test_several_roles_are_a_union() -> None:
    grant = Grant.of(Principal("ann", ("trader", "clerk")), ROLES)
    heard = {"what": "quote"}, {"to": "ann"}, {"what": "fill"}
    assert all(map(grant.subscribe.matches, heard))
    assert not grant.subscribe.matches({"to": "bob"})
    assert grant.may_hold


def test_a_subscription_is_refused_only_if_no_role_would_narrow_it() -> None:
    assert not Grant.of(Principal("ann", ("clerk", "partner")), ROLES).narrows
    assert Grant.of(Principal("ann", ("clerk", "trader")), ROLES).narrows


def test_a_caveat_narrows_all_that_is_about_notifications() -> None:
    grant = Grant.of(Principal("ann", ("admin",), caveats=("x > 3", "x < 9")), ROLES)
    assert grant.publish.matches({"x": 5})
    assert not grant.publish.matches({"x": 9})
    assert not grant.subscribe.matches({"x": 3})
    assert grant.inspect == EVERYTHING


@pytest.mark.parametrize(
    "caveat", ["x >", " or ".join(f"x = {n}" for n in range(1_024))]
)
def test_caveats_that_cannot_be_decided_leave_nothing(caveat: str) -> None:
    wide = Roles.from_form({"a": {"publish": "y = 1 or z = 1"}})
    assert Grant.of(Principal("ann", ("a",), caveats=(caveat,)), wide) == Grant()


def test_equal_grants_are_the_same_and_others_follow_the_roles() -> None:
    book = GrantBook(ROLES)
    first = book.of(Principal("ann", ("admin",)))
    assert book.of(Principal("bob", ("admin",))) is first
    book.open(Roles.from_form({"admin": {"publish": "x = 1"}}))
    assert str(book.of(Principal("ann", ("admin",))).publish) == "x = 1"


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"a": {"publish": ["x = 1", "x >"]}}, "role a, publish, text 2, column 4:"),
        ({"a": {"peer": {"import": "("}}}, "role a, peer.import, column 2:"),
        ({"a": {"peer": {"imports": "[]"}}}, "Object contains unknown field `imports`"),
        ({"a": {"beyond": "ask"}}, "Invalid enum value 'ask'"),
        ({"a": {"publish": 5}}, "Expected `str | array`, got `int`"),
    ],
)
def test_roles_are_refused_whole_with_the_place(form: object, said: str) -> None:
    with pytest.raises(SienaError) as caught:
        Roles.from_form({"fine": {"publish": "[]"}} | form)  # type: ignore[operator]
    assert str(caught.value).startswith(said)
