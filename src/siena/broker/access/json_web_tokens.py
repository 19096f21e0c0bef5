"""JSON web tokens: who a principal is, as another service has signed it."""

import asyncio
import logging
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from siena.broker.access.principal import Principal
from siena.broker.access.settings import Jwt
from siena.clock import Clock
from siena.errors import SienaError
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.limits import NAME_CHARACTERS_MAX

if TYPE_CHECKING:
    from jwt import PyJWKSet

log = logging.getLogger("siena.broker")

# Clocks differ.
LEEWAY_SECONDS = 10.0
# How often keys are fetched from an address; and how often at most, if a token names
# one that is not known.
FETCH_SECONDS = 300.0
FETCH_SECONDS_MIN = 10.0
KEYS_BYTES_MAX = 1024 * 1024
# Claims of a token that are kept for templates, and the characters of each.
CLAIMS_MAX = 64
CLAIM_CHARACTERS_MAX = 1_024
ROLES_MAX = 256


class JsonWebTokens:
    """Checks tokens with the keys of one issuer.

    Ownership: the caller of :meth:`start` calls :meth:`stop`.

    Raises:
        SienaError: if a file of keys is missing or wrong.
    """

    def __init__(self, settings: Jwt, clock: Clock) -> None:
        self.settings = settings
        self._clock = clock
        self.keys: PyJWKSet | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_missed = asyncio.Event()
        self._is_remote = "://" in settings.keys
        if not self._is_remote:
            try:
                self.keys = _read_keys(Path(settings.keys).read_bytes())
            except OSError as error:
                raise SienaError(f"{settings.keys}: {error.strerror}") from None
        elif not settings.keys.startswith("https://"):
            hint = "https://…, or a file"
            raise SienaError(f"keys are not fetched from {settings.keys}", hint=hint)

    def vouches_for(self, mark: str) -> bool:
        """Whether what was shown, by settings of before perhaps, shows it still.

        Keys from elsewhere are not known yet when settings are new: who was shown by
        them stays until the end of the token.
        """
        settings, _, number = mark.partition(".")
        if settings != self._mark():
            return False
        keys = () if self.keys is None else self.keys.keys
        return self._is_remote or any(str(key.key_id) == number for key in keys)

    def _mark(self) -> str:
        """By which it is noticed that other settings count."""
        return sha256(repr(self.settings).encode()).hexdigest()[:16]

    def adopt(self, before: "JsonWebTokens") -> None:
        """Go on with the keys that were fetched already, if they are the same."""
        if self._is_remote and before.settings == self.settings:
            self.keys = before.keys

    def start(self) -> None:
        """Fetch the keys, if they are elsewhere, now and again and again."""
        if self._is_remote:
            self._task = asyncio.get_running_loop().create_task(self._fetch())

    def stop(self) -> None:
        """Fetch no more."""
        if self._task is not None:
            self._task.cancel()

    def check(self, text: str) -> Principal | None:
        """Whom a token shows; None, if it shows nothing.

        Raises:
            ProtocolError: if it was genuine, and is no more.
        """
        claims = self._claims(text)
        if claims is None:
            return None
        now, expires_at = self._clock.now(), claims.get("exp")
        begins_at = claims.get("nbf", 0)
        name = claims.get(self.settings.identity)
        if not isinstance(expires_at, (int, float)):
            return None
        if not isinstance(begins_at, (int, float)):
            return None
        if not isinstance(name, str) or not 1 <= len(name) <= NAME_CHARACTERS_MAX:
            return None
        if begins_at > now + LEEWAY_SECONDS:
            return None
        end = float(expires_at) + LEEWAY_SECONDS
        if now >= end:
            raise ProtocolError(Fault.CREDENTIAL_EXPIRED, "this credential has expired")
        return Principal(
            name,
            _roles(claims.get(self.settings.roles)),
            MappingProxyType(_texts(claims)),
            expires_at=end,
            credential=f"jwt:{self._mark()}.{_key_of(text)}",
        )

    def _claims(self, text: str) -> Mapping[str, Any] | None:
        import jwt  # noqa: PLC0415 -- for those who have them

        settings = self.settings
        try:
            number = jwt.get_unverified_header(text).get("kid")
            keys = [] if self.keys is None else self.keys.keys
            key = next((k for k in keys if k.key_id == number), None)
            if key is None:
                self._is_missed.set()
                return None
            # Its times are looked at above, by the clock of the broker.
            return jwt.decode(
                text,
                key.key,
                algorithms=list(settings.algorithms),
                audience=settings.audience,
                issuer=settings.issuer,
                options={
                    "require": ["exp", settings.identity],
                    "verify_exp": False,
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
            return None

    async def _fetch(self) -> None:
        """Fetch the keys when it is time, or when one is missed."""
        import httpx  # noqa: PLC0415 -- for those who fetch keys

        async with httpx.AsyncClient(timeout=FETCH_SECONDS_MIN) as client:
            while True:
                self._is_missed.clear()
                try:
                    answer = await client.get(self.settings.keys)
                    answer.raise_for_status()
                    self.keys = _read_keys(answer.content)
                except (httpx.HTTPError, SienaError) as error:
                    # Those that are known go on to count.
                    log.warning("no keys from %s: %s", self.settings.keys, error)
                await asyncio.sleep(FETCH_SECONDS_MIN)
                try:
                    async with asyncio.timeout(FETCH_SECONDS - FETCH_SECONDS_MIN):
                        await self._is_missed.wait()
                except TimeoutError:
                    pass


def _key_of(text: str) -> str:
    """The number of the key of a token, which is genuine."""
    import jwt  # noqa: PLC0415 -- for those who have them

    return str(jwt.get_unverified_header(text).get("kid"))


def _read_keys(text: bytes) -> "PyJWKSet":
    import jwt  # noqa: PLC0415 -- for those who have them

    if len(text) > KEYS_BYTES_MAX:
        raise SienaError(f"more than {KEYS_BYTES_MAX} bytes of keys")
    try:
        return jwt.PyJWKSet.from_json(text.decode())
    except (jwt.PyJWTError, ValueError, TypeError, AttributeError) as error:
        raise SienaError(f"this is no JWKS: {error}") from None


def _roles(said: object) -> tuple[str, ...]:
    """The roles of a claim: a list, or words.

    >>> _roles(["a", "b"]), _roles("a b"), _roles(7)
    (('a', 'b'), ('a', 'b'), ())
    """
    words = said.split() if isinstance(said, str) else said
    if not isinstance(words, list):
        return ()
    return tuple(w for w in words[:ROLES_MAX] if isinstance(w, str))


def _texts(claims: Mapping[str, Any]) -> dict[str, str]:
    """Claims that a template can name: texts, numbers, and yes or no."""
    found: dict[str, str] = {}
    for name, value in list(claims.items())[:CLAIMS_MAX]:
        if isinstance(value, (str, int, float)):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            if len(text) <= CLAIM_CHARACTERS_MAX:
                found[name] = text
    return found
