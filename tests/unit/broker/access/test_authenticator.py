"""The authenticator: who is who, and what strangers hear."""

import asyncio
import json
from pathlib import Path
from typing import Any

import jwt
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from jwt.algorithms import OKPAlgorithm, RSAAlgorithm

from siena.broker.access import attempts
from siena.broker.access.authenticator import Authenticator, Shown
from siena.broker.access.credentials import (
    Credentials,
    UserRecord,
    load_credentials,
    save_credentials,
)
from siena.broker.access.passwords import Passwords, hash_password
from siena.broker.access.principal import LOCAL, Principal
from siena.broker.access.settings import Access, Jwt
from siena.broker.counters import Counters
from siena.client.tokens import Token, narrow_token, new_token
from siena.errors import SienaError
from siena.protocol.error_codes import ProtocolError


class Now:
    """A clock that is set."""

    def __init__(self) -> None:
        self.time = 1_000.0

    def now(self) -> float:
        return self.time

    def nanoseconds(self) -> int:
        return int(self.time * 10**9)

    def elapsed(self) -> float:
        return self.time


@pytest.fixture(autouse=True)
def hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "DELAY_SECONDS", 0.0)


def authenticator(
    credentials: Credentials,
    folder: Path,
    **more: Any,  # noqa: ANN401 -- any setting
) -> tuple[Authenticator, Now]:
    path = folder / "credentials.json"
    save_credentials(path, credentials)
    clock = Now()
    access = Access(credentials=str(path), **more)
    return Authenticator(access, clock, Counters()), clock


def one_token(**more: Any) -> tuple[Token, Credentials]:  # noqa: ANN401 -- any field
    token = new_token()
    return token, Credentials().with_token(token, "ann", ("r",), made_at=0.0, **more)


async def number_of(found: Authenticator, token: str | None) -> int:
    with pytest.raises(ProtocolError) as caught:
        await found.check(Shown(token, address="127.0.0.1:7"))
    return caught.value.fault.number


def test_without_access_everybody_is_local() -> None:
    found = Authenticator(None, Now(), Counters())
    assert found.at_once(Shown("anything")) is LOCAL
    assert not found.has_identities


async def test_a_token_shows_its_identity_and_roles(tmp_path: Path) -> None:
    token, credentials = one_token()
    found, _ = authenticator(credentials, tmp_path)
    principal = found.at_once(Shown(token.text))
    assert principal == Principal("ann", ("r",), credential=f"token:{token.number}")
    assert found.at_once(Shown(new_token().text)) is None
    assert await number_of(found, new_token().text) == 211
    assert await number_of(found, None) == 211


async def test_a_narrowed_token_brings_its_caveats(tmp_path: Path) -> None:
    token, credentials = one_token()
    found, clock = authenticator(credentials, tmp_path)
    narrowed = narrow_token(token.text, "x > 3", for_s=10, clock=clock)
    principal = found.at_once(Shown(narrowed))
    assert principal is not None
    assert principal.caveats == ("x > 3",)
    assert principal.expires_at == 1_010
    assert not principal.owns("ann")
    clock.time = 1_010
    assert await number_of(found, narrowed) == 212
    assert found.at_once(Shown(token.text)) is not None


async def test_only_who_held_it_hears_that_it_has_expired(tmp_path: Path) -> None:
    token, credentials = one_token(expires_at=999.0)
    found, _ = authenticator(credentials, tmp_path)
    assert await number_of(found, token.text) == 212
    guessed = Token(token.number, new_token().proof)
    assert await number_of(found, guessed.text) == 211


@pytest.mark.parametrize("then", [None, "another horse"])
async def test_a_user_that_is_gone_while_its_password_is_checked_is_not_let_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, then: str | None
) -> None:
    record = UserRecord(password=hash_password("correct horse"))
    found, _ = authenticator(Credentials().with_user("bob", record), tmp_path)
    path = tmp_path / "credentials.json"
    is_right = Passwords.is_right

    async def meanwhile(self: Passwords, kept: str | None, password: str) -> bool:
        known = Credentials()
        if then is not None:
            known = known.with_user("bob", UserRecord(password=hash_password(then)))
        save_credentials(path, known)
        found.reload(found.prepare(Access(credentials=str(path))))
        return await is_right(self, kept, password)

    monkeypatch.setattr(Passwords, "is_right", meanwhile)
    assert await number_of(found, "bob:correct horse") == 211
    found.stop()


async def test_users_show_passwords_and_are_known_again(tmp_path: Path) -> None:
    record = UserRecord(password=hash_password("correct horse"), roles=("r",))
    found, _ = authenticator(Credentials().with_user("bob", record), tmp_path)
    shown = Shown("bob:correct horse")
    assert found.at_once(shown) is None  # it takes a thread
    principal = await found.check(shown)
    assert (principal.identity, principal.roles) == ("bob", ("r",))
    assert found.at_once(shown) == principal
    assert await number_of(found, "bob:wrong horse") == 211
    assert await number_of(found, "eve:correct horse") == 211
    found.stop()


async def test_too_many_passwords_at_a_time_are_all_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("siena.broker.access.passwords.WAITING_MAX", 1)
    passwords, kept = Passwords(), hash_password("right")
    both = await asyncio.gather(
        passwords.is_right(kept, "right"), passwords.is_right(kept, "right")
    )
    assert list(both) == [True, False]
    passwords.stop()


def test_a_certificate_counts_if_settings_know_its_name(tmp_path: Path) -> None:
    identities = {"b1": ("broker",)}
    found, _ = authenticator(Credentials(), tmp_path, identities=identities)
    ending = {"notAfter": "Jan  1 00:00:00 2030 GMT"}
    shown = {"subjectAltName": (("URI", "siena:b1"),), **ending}
    principal = found.at_once(Shown(certificate=shown))
    assert principal is not None
    assert (principal.identity, principal.roles) == ("b1", ("broker",))
    assert principal.expires_at == 1_893_456_000
    other = {"subjectAltName": (("URI", "siena:b2"),), **ending}
    assert found.at_once(Shown(certificate=other)) is None
    # Whoever shows a token is judged by that alone.
    assert found.at_once(Shown("siena1.a.b", shown)) is None


# --- JSON web tokens ------------------------------------------------------------------

ED = ed25519.Ed25519PrivateKey.generate()
RSA = rsa.generate_private_key(65_537, 2_048)


def jwks(folder: Path) -> Jwt:
    keys = [
        {**json.loads(OKPAlgorithm.to_jwk(ED.public_key())), "kid": "ed"},
        {**json.loads(RSAAlgorithm.to_jwk(RSA.public_key())), "kid": "rsa"},
    ]
    path = folder / "jwks.json"
    path.write_text(json.dumps({"keys": keys}))
    return Jwt(keys=str(path), algorithms=("EdDSA",), issuer="me", audience="siena")


CLAIMS: dict[str, Any] = {
    "sub": "ann",
    "iss": "me",
    "aud": "siena",
    "exp": 2_000,
    "roles": ["trader"],
    "team": "a",
}


def signed(
    claims: dict[str, Any],
    key: Any = ED,  # noqa: ANN401 -- of any kind
    number: str = "ed",
    algorithm: str = "EdDSA",
) -> str:
    return jwt.encode(claims, key, algorithm, headers={"kid": number})


async def test_a_jwt_shows_who_its_issuer_says(tmp_path: Path) -> None:
    found, clock = authenticator(Credentials(), tmp_path, jwt=jwks(tmp_path))
    principal = found.at_once(Shown(signed(CLAIMS)))
    assert principal is not None
    assert (principal.identity, principal.roles) == ("ann", ("trader",))
    assert principal.claims["team"] == "a"
    clock.time = 3_000.0
    assert await number_of(found, signed(CLAIMS)) == 212


@pytest.mark.parametrize(
    "text",
    [
        signed({**CLAIMS, "iss": "you"}),
        signed({**CLAIMS, "aud": "others"}),
        signed({k: v for k, v in CLAIMS.items() if k != "exp"}),
        signed({k: v for k, v in CLAIMS.items() if k != "sub"}),
        signed({**CLAIMS, "nbf": 1_500}),
        "eyJ.eyJ.x",
        signed(CLAIMS, ed25519.Ed25519PrivateKey.generate()),
        signed(CLAIMS, number="unknown"),
        signed(CLAIMS, RSA, "rsa", algorithm="RS256"),  # known, and not pinned
        signed(CLAIMS, None, algorithm="none"),
    ],
)
async def test_any_other_jwt_is_one_of_a_stranger(text: str, tmp_path: Path) -> None:
    found, _ = authenticator(Credentials(), tmp_path, jwt=jwks(tmp_path))
    assert await number_of(found, text) == 211


@pytest.mark.parametrize("algorithm", ["HS256", "none"])
def test_no_algorithm_is_pinned_with_which_checking_is_signing(algorithm: str) -> None:
    form = {"keys": "k", "algorithms": [algorithm], "issuer": "i", "audience": "a"}
    with pytest.raises(msgspec.ValidationError, match="algorithms"):
        msgspec.convert(form, Jwt)


# --- Changes --------------------------------------------------------------------------


def test_what_is_reloaded_counts_at_once(tmp_path: Path) -> None:
    token, credentials = one_token()
    found, _ = authenticator(credentials, tmp_path)
    principal = found.at_once(Shown(token.text))
    assert principal is not None
    path = tmp_path / "credentials.json"
    access = Access(credentials=str(path))
    save_credentials(path, credentials.with_token(new_token(), "bob", (), made_at=0.0))
    found.reload(found.prepare(access))
    assert found.renewed(principal) == principal
    save_credentials(path, Credentials())
    found.reload(found.prepare(access))
    assert found.renewed(principal) is None
    assert found.at_once(Shown(token.text)) is None


def test_roles_that_settings_take_back_are_gone_with_a_reload(tmp_path: Path) -> None:
    given: dict[str, tuple[str, ...]] = {"ann": ("more",), "b2": ("peer",)}
    found, _ = authenticator(
        Credentials(), tmp_path, jwt=jwks(tmp_path), identities=given
    )
    by_jwt = found.at_once(Shown(signed(CLAIMS)))
    called = found.called(None, "b2")
    assert by_jwt is not None
    assert by_jwt.roles == ("trader", "more")
    assert called.roles == ("peer",)
    found.reload(found.prepare(Access(jwt=jwks(tmp_path))))
    for before, roles in ((by_jwt, ("trader",)), (called, ())):
        renewed = found.renewed(before)
        assert renewed is not None
        assert renewed.roles == roles
    found.reload(found.prepare(Access(jwt=jwks(tmp_path), identities=given)))
    again = found.renewed(by_jwt)
    assert again is not None
    assert again.roles == ("trader", "more")


def test_a_jwt_ends_with_its_key(tmp_path: Path) -> None:
    settings = jwks(tmp_path)
    found, _ = authenticator(Credentials(), tmp_path, jwt=settings)
    principal = found.at_once(Shown(signed(CLAIMS)))
    assert principal is not None
    found.reload(found.prepare(Access(jwt=settings)))
    assert found.renewed(principal) == principal
    keys = json.loads(Path(settings.keys).read_text())["keys"]
    Path(settings.keys).write_text(json.dumps({"keys": keys[1:]}))
    found.reload(found.prepare(Access(jwt=settings)))
    assert found.renewed(principal) is None


@pytest.mark.parametrize("anonymous", [(), ("public",)])
def test_who_shows_nothing_has_the_roles_for_that(
    anonymous: tuple[str, ...], tmp_path: Path
) -> None:
    found, _ = authenticator(Credentials(), tmp_path, anonymous=anonymous)
    principal = found.at_once(Shown())
    if not anonymous:
        assert principal is None
        return
    assert principal is not None
    assert (principal.identity, principal.roles) == (None, anonymous)
    assert not principal.is_lasting
    assert found.at_once(Shown("siena1.a.b")) is None
    assert found.at_once(Shown(certificate={"subject": ()})) is None


@pytest.mark.parametrize("text", ["", "{", '{"tokens": 7}', '{"token": {}}'])
def test_a_wrong_file_changes_nothing(text: str, tmp_path: Path) -> None:
    token, credentials = one_token()
    found, _ = authenticator(credentials, tmp_path)
    path = tmp_path / "credentials.json"
    path.write_text(text)
    with pytest.raises(SienaError, match=r"credentials\.json"):
        found.prepare(Access(credentials=str(path)))
    assert found.at_once(Shown(token.text)) is not None


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "credentials.json"
    save_credentials(path, Credentials())
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    with pytest.raises(SienaError, match="chmod 600"):
        load_credentials(path)


def test_failures_are_answered_later_and_later_and_forgiven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(attempts, "DELAY_SECONDS", 0.05)
    monkeypatch.setattr(attempts, "ADDRESSES_MAX", 3)
    table = attempts.Attempts()
    said = [table.failed("10.0.0.1:5", 0.0) for _ in range(12)]
    assert said == sorted(said)
    assert said[-1] == attempts.DELAY_SECONDS_MAX
    assert table.delay("10.0.0.1:9", attempts.FORGIVEN_SECONDS * 20) == 0.0
    for n in range(10):
        table.failed(f"10.0.1.{n}:5", 0.0)
    assert len(table) == 3
