"""Tokens: genuine ones, narrowed ones, and those that somebody has made up."""

import base64

import pytest
from hypothesis import given, strategies as st

from siena.client.tokens import (
    CAVEATS_MAX,
    Token,
    is_genuine,
    key_of,
    narrow_token,
    new_token,
    read_token,
)
from siena.errors import SienaError

FILTERS = st.sampled_from(["x = 1", "x > 3 or y any", 's = "a\nb"', "x absent"])


class At:
    """A clock that stands."""

    def now(self) -> float:
        return 1_000.0

    def nanoseconds(self) -> int:
        return 1_000 * 10**9

    def elapsed(self) -> float:
        return 0.0


def test_a_token_is_read_back() -> None:
    token = new_token()
    assert read_token(token.text) == token
    assert is_genuine(token, key_of(token.proof))
    assert not is_genuine(token, key_of(new_token().proof))


def test_a_token_does_not_show_itself() -> None:
    token = new_token()
    assert token.proof not in repr(token)


@given(st.lists(FILTERS, min_size=1, max_size=5))
def test_narrowed_again_and_again_it_is_genuine_and_says_all(wanted: list[str]) -> None:
    token = new_token()
    text = token.text
    for each in wanted:
        text = narrow_token(text, each)
    found = read_token(text)
    assert is_genuine(found, key_of(token.proof))
    assert len(found.filters) == len(wanted)
    assert token.proof not in text


@given(st.lists(FILTERS, min_size=2, max_size=4), st.data())
def test_no_caveat_can_be_taken_away_or_changed(
    wanted: list[str], data: st.DataObject
) -> None:
    token = new_token()
    text = token.text
    for each in wanted:
        text = narrow_token(text, each)
    found, key = read_token(text), key_of(token.proof)
    at = data.draw(st.integers(0, len(wanted) - 1))
    left = found.caveats[:at] + found.caveats[at + 1 :]
    assert not is_genuine(Token(found.number, found.proof, left), key)
    changed = (*found.caveats[:at], "where z any", *found.caveats[at + 1 :])
    assert not is_genuine(Token(found.number, found.proof, changed), key)
    # Without all of them the last signature would have to be the secret.
    assert not is_genuine(Token(found.number, found.proof), key)


def test_the_hash_that_a_broker_keeps_is_no_token() -> None:
    token = new_token()
    kept = key_of(token.proof)
    as_secret = base64.urlsafe_b64encode(kept).rstrip(b"=").decode()
    for secret in (as_secret, kept.hex()):
        assert not is_genuine(Token(token.number, secret), kept)


def test_the_first_end_counts() -> None:
    text = narrow_token(new_token().text, for_s=100, clock=At())
    assert read_token(text).until == 1_100
    text = narrow_token(text, for_s=50, clock=At())
    assert read_token(text).until == 1_050
    assert read_token(narrow_token(text, for_s=900, clock=At())).until == 1_050


def test_caveats_are_printed_in_one_way() -> None:
    narrowed = read_token(narrow_token(new_token().text, "  x>3 ,y = a "))
    assert narrowed.filters == ("x > 3 and y = a",)
    other = Token(narrowed.number, narrowed.proof, ("where x>3 and y = a",))
    with pytest.raises(SienaError):
        read_token(other.text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "siena1..secret",
        "siena1.a.b.c.d",
        "siena2.a.b",
        "siena1.a.!!!.b",
        "siena1.a.bm90IGpzb24.b",
        "siena1.a.W10.b",  # no caveats
        "siena1.a.WyJ1bnRpbCAtNyJd.b",  # until -7
        "siena1.a.WyJldmVyIl0.b",  # neither where nor until
        "siena1.é.b",
        "siena1.a." + "b" * 5_000,
    ],
)
def test_what_is_no_token_is_refused(text: str) -> None:
    with pytest.raises(SienaError):
        read_token(text)


def test_a_token_is_narrowed_by_something_and_not_for_ever() -> None:
    text = new_token().text
    with pytest.raises(SienaError, match="by something"):
        narrow_token(text)
    with pytest.raises(SienaError, match="still to come"):
        narrow_token(text, for_s=0)
    for _ in range(CAVEATS_MAX):
        text = narrow_token(text, "x any")
    with pytest.raises(SienaError, match="caveats"):
        narrow_token(text, "x any")
    with pytest.raises(SienaError, match="characters"):
        narrow_token(new_token().text, f'x = "{"a" * 4_000}"')
