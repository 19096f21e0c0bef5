"""Tokens: what a program shows a broker, and how its holder narrows it, offline.

::

    siena1.ID.SECRET                    as the broker's operator has made it
    siena1.ID.CAVEATS.SIGNATURE         narrowed by its holder

The broker keeps the SHA-256 of the secret, and that is the key of a chain: each caveat
is signed with the signature before it.  So the holder of a token can add caveats, to
one that was narrowed too, and none can be taken away.  A caveat is ``where FILTER``,
in the one way in which that is printed, or ``until SECONDS`` since 1970.
"""

import base64
import binascii
import hmac
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256

import msgspec

from siena.clock import Clock, SystemClock
from siena.errors import SienaError
from siena.lang.parser import parse_predicate
from siena.protocol.error_codes import Fault

PREFIX = "siena1"
# As many as CONNECT takes; and the caveats among them, each read by the broker.
TOKEN_CHARACTERS_MAX = 4_096
CAVEATS_MAX = 16
_ID_BYTES = 8
_SECRET_BYTES = 32
_WHERE, _UNTIL = "where ", "until "
_NONE_SHOWN = "no token was shown: token=, SIENA_TOKEN_FILE, siena context add --token"


@dataclass(frozen=True, slots=True)
class Token:
    """A token in its parts; printed, all of it is for its holder only.

    ``proof`` is the secret, or if there are caveats the last signature of the chain.
    """

    number: str
    proof: str
    caveats: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Token {self.number}>"  # never with what shows who somebody is

    @property
    def text(self) -> str:
        """As it is shown to a broker."""
        if not self.caveats:
            return f"{PREFIX}.{self.number}.{self.proof}"
        caveats = _encode(msgspec.json.encode(self.caveats))
        return f"{PREFIX}.{self.number}.{caveats}.{self.proof}"

    @property
    def filters(self) -> tuple[str, ...]:
        """The filters that narrow it, as texts."""
        found = (c for c in self.caveats if c.startswith(_WHERE))
        return tuple(c.removeprefix(_WHERE) for c in found)

    @property
    def until(self) -> float | None:
        """The second when the first of its caveats ends it, if one does."""
        ends = [c.removeprefix(_UNTIL) for c in self.caveats if c.startswith(_UNTIL)]
        return min(map(float, ends), default=None)

    def with_caveats(self, caveats: Iterable[str]) -> "Token":
        """The same, narrowed."""
        proof = self.proof if self.caveats else root_of(self.number, key_of(self.proof))
        added = tuple(caveats)
        return Token(self.number, _chain(proof, added), (*self.caveats, *added))


def new_token() -> Token:
    """A token that cannot be guessed.

    >>> read_token(new_token().text).text == new_token().text
    False
    """
    number = secrets.token_hex(_ID_BYTES)
    return Token(number, _encode(secrets.token_bytes(_SECRET_BYTES)))


def read_token(text: str) -> Token:
    """The parts of a token; what it says is not shown to be true.

    >>> read_token("siena1.0011223344556677.secret")
    <Token 0011223344556677>
    >>> read_token("hello")
    Traceback (most recent call last):
    siena.errors.SienaError: this is no token (siena token new makes one)

    Raises:
        SienaError: if it has none, or caveats that are no caveats.
    """
    parts = text.split(".")
    is_one = len(parts) in {3, 4} and parts[0] == PREFIX and all(parts)
    if not is_one or len(text) > TOKEN_CHARACTERS_MAX or not text.isascii():
        raise SienaError("this is no token", hint="siena token new makes one")
    if len(parts) == 3:
        return Token(parts[1], parts[2])
    try:
        caveats = msgspec.json.decode(_decode(parts[2]), type=tuple[str, ...])
    except (ValueError, msgspec.MsgspecError, RecursionError):
        raise SienaError("the caveats of this token cannot be read") from None
    if not 1 <= len(caveats) <= CAVEATS_MAX:
        raise SienaError(f"a token has up to {CAVEATS_MAX} caveats")
    for caveat in caveats:
        _check(caveat)
    return Token(parts[1], parts[3], caveats)


def narrow_token(
    token: str,
    where: str | None = None,
    *,
    for_s: float | None = None,
    clock: Clock | None = None,
) -> str:
    """A token that shows the same, but only for what a filter selects, or for so long.

    No broker is asked.  Its holder may narrow it further, and never widen it.

    >>> narrowed = narrow_token(new_token().text, "symbol = DIS", for_s=3600)
    >>> read_token(narrowed).filters
    ('symbol = DIS',)

    Args:
        token: the one to narrow; it stays as good as it was.
        where: a filter, or several joined by ``or``.
        for_s: how many seconds it is good for, from now on.
        clock: what says which time it is now.

    Raises:
        SienaError: if there is nothing to narrow it by, or it becomes too long.
    """
    found = read_token(token.strip())
    caveats = []
    if where is not None:
        caveats.append(f"{_WHERE}{parse_predicate(where)}")
    if for_s is not None:
        if for_s <= 0:
            raise SienaError("a token is narrowed to a time that is still to come")
        caveats.append(f"{_UNTIL}{int((clock or SystemClock()).now() + for_s)}")
    if not caveats:
        hint = "a filter, a time, or both"
        raise SienaError("a token is narrowed by something", hint=hint)
    narrowed = found.with_caveats(caveats)
    if len(narrowed.caveats) > CAVEATS_MAX:
        raise SienaError(f"a token has up to {CAVEATS_MAX} caveats")
    if len(narrowed.text) > TOKEN_CHARACTERS_MAX:
        raise SienaError(f"a token has up to {TOKEN_CHARACTERS_MAX} characters")
    return narrowed.text


def key_of(secret: str) -> bytes:
    """What a broker keeps of a secret, and what a chain begins with."""
    return sha256(secret.encode()).digest()


def root_of(number: str, key: bytes) -> str:
    """The signature before the first caveat."""
    return _encode(hmac.digest(key, f"{PREFIX}.{number}".encode(), "sha256"))


def is_genuine(token: Token, key: bytes) -> bool:
    """Whether a token was made by the maker of this key, and narrowed by holders.

    Compared in a time that does not tell how much of it is right.
    """
    if not token.caveats:
        return hmac.compare_digest(key_of(token.proof), key)
    proof = _chain(root_of(token.number, key), token.caveats)
    return hmac.compare_digest(proof.encode(), token.proof.encode())


def _chain(proof: str, caveats: Iterable[str]) -> str:
    for caveat in caveats:
        proof = _encode(hmac.digest(_decode(proof), caveat.encode(), "sha256"))
    return proof


def _check(caveat: str) -> None:
    """Refuse what does not say the same to all that read it."""
    if caveat.startswith(_UNTIL):
        end = caveat.removeprefix(_UNTIL)
        if end.isascii() and end.isdigit() and len(end) <= 12:
            return
    elif caveat.startswith(_WHERE):
        text = caveat.removeprefix(_WHERE)
        if str(parse_predicate(text)) == text:
            return
    raise SienaError("the caveats of this token cannot be read")


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), b"-_", validate=True)
    except binascii.Error:
        raise SienaError("this is no token") from None


def refusal_hint(fault: int, token: str | None) -> str:
    """What helps whom a broker did not let in: its number, and what was not shown.

    >>> refusal_hint(211, "siena1.…")
    'error 211'
    >>> refusal_hint(211, None)
    'error 211; no token was shown: token=, SIENA_TOKEN_FILE, siena context add --token'
    """
    if fault == Fault.NOT_ADMITTED.number and token is None:
        return f"error {fault}; {_NONE_SHOWN}"
    return f"error {fault}"
