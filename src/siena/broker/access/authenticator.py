"""The authenticator: from what a client shows to the principal that it is.

What is shown is a token of ours, ``NAME:PASSWORD``, a JSON web token, or a certificate;
a connection that shows a token is judged by that alone.  Strangers hear one number,
211, whatever was wrong, and the more often the later.  Every login, and
every one that is refused, is written down: who and from where, never what was shown.
"""

import asyncio
import hmac
import ssl
from collections.abc import Mapping
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from siena.broker.access.attempts import Attempts
from siena.broker.access.audit import Audit
from siena.broker.access.certificates import name_of
from siena.broker.access.credentials import Credentials, load_credentials
from siena.broker.access.json_web_tokens import JsonWebTokens
from siena.broker.access.passwords import Passwords
from siena.broker.access.principal import LOCAL, Principal
from siena.broker.access.settings import Access
from siena.broker.counters import Counters
from siena.client.tokens import PREFIX, is_genuine, read_token
from siena.clock import Clock
from siena.errors import SienaError
from siena.protocol.error_codes import Fault, ProtocolError

# What a number that nobody has is compared with, for as long as one that somebody has.
_NOBODY = bytes(32)
_EXPIRED = "this credential has expired"


class Shown(NamedTuple):
    """What a client shows: never logged, never told."""

    token: str | None = None
    certificate: Mapping[str, Any] | None = None
    address: str = ""

    def __repr__(self) -> str:
        return f"<Shown by {self.address}>"


def not_admitted() -> ProtocolError:
    """What strangers hear, whatever was wrong."""
    return ProtocolError(Fault.NOT_ADMITTED, "not admitted")


class Authenticator:
    """Who is who at one broker.

    Ownership: the caller of :meth:`start` calls :meth:`stop`.

    Raises:
        SienaError: if a file that the settings name is missing or wrong.
    """

    def __init__(self, access: Access | None, clock: Clock, counters: Counters) -> None:
        self._clock = clock
        self._counters = counters
        self._attempts = Attempts()
        self._passwords = Passwords()
        self._is_started = False
        self.audit = Audit()
        """Where logins are written down."""
        self._take(_Known(access, clock))

    def _take(self, known: "_Known") -> None:
        self._known = known
        self.is_asking = known.access is not None
        """Whether clients are asked who they are."""

    @property
    def has_identities(self) -> bool:
        """Whether a client can show who it is."""
        return self._known.has_identities

    def start(self) -> None:
        """Fetch what is elsewhere, from now on."""
        self._is_started = True
        if self._known.jwt is not None:
            self._known.jwt.start()

    def stop(self) -> None:
        """Check no more."""
        self._passwords.stop()
        if self._known.jwt is not None:
            self._known.jwt.stop()

    def prepare(self, access: Access | None) -> "_Known":
        """Read all that settings name, for :meth:`reload`; nothing changes yet.

        Raises:
            SienaError: if any of it is wrong.
        """
        if (access is None) is self.is_asking:
            hint = "[access] comes and goes with a start"
            raise SienaError("who may come cannot be asked from now on", hint=hint)
        return _Known(access, self._clock)

    def reload(self, known: "_Known") -> None:
        """Let what was prepared count."""
        before = self._known.jwt
        if before is not None:
            before.stop()
            if known.jwt is not None:
                known.jwt.adopt(before)
        self._take(known)
        if self._is_started and known.jwt is not None:
            known.jwt.start()

    # --- Those who come -------------------------------------------------------------

    def at_once(self, shown: Shown) -> Principal | None:
        """Who it is, if that takes no time; otherwise :meth:`check` says it."""
        if not self.is_asking:
            return LOCAL
        try:
            found = self._judge(shown)
        except ProtocolError:
            return None
        if found is not None:
            self._admitted(found, shown)
        return found

    async def check(self, shown: Shown) -> Principal:
        """Who it is; a failure takes its time.

        Raises:
            ProtocolError: if that was not shown.
        """
        refusal = not_admitted()
        try:
            found = self._judge(shown)
            if found is None and shown.token is not None:
                found = await self._by_password(shown.token, shown.address)
        except ProtocolError as error:
            found, refusal = None, error
        if found is not None:
            self._admitted(found, shown)
            return found
        self.refused(shown, refusal)
        await asyncio.sleep(self._attempts.failed(shown.address, self._clock.elapsed()))
        raise refusal

    def _admitted(self, principal: Principal, shown: Shown) -> None:
        self._counters.logins += 1
        kind = principal.credential.partition(":")[0]
        self.audit.write(
            "login",
            principal.identity,
            by=kind,
            roles=principal.roles,
            address=shown.address,
            narrowed=bool(principal.caveats),
        )

    def refused(self, shown: Shown, refusal: ProtocolError) -> None:
        """A client was sent away that has shown nothing, or nothing that counts."""
        self._counters.logins_refused += 1
        number = refusal.fault.number
        self.audit.write("login refused", None, error=number, address=shown.address)

    def called(
        self, certificate: Mapping[str, Any] | None, wanted: str | None
    ) -> Principal:
        """Who a neighbour is that was called: by its certificate, or by settings.

        Raises:
            ProtocolError: if it is another one than was wanted.
        """
        if not self.is_asking:
            return LOCAL
        name, claims = name_of(certificate)
        if name is not None and wanted not in {None, name}:
            text = f"its certificate is that of {name!r}, and not of {wanted!r}"
            raise ProtocolError(Fault.PEER_REFUSED, text)
        name = name or wanted
        roles = self._known.roles_of(name) or ()
        return Principal(
            name, roles, MappingProxyType(claims), credential=f"called:{name or ''}"
        )

    # --- Those who are there --------------------------------------------------------

    def renewed(self, principal: Principal) -> Principal | None:
        """The principal after credentials changed; ``None`` if its own is gone."""
        kind, _, name = principal.credential.partition(":")
        known = self._known
        match kind:
            case "token":
                record = known.credentials.tokens.get(name)
                if record is None or record.identity != principal.identity:
                    return None
                return _with_roles(principal, record.roles)
            case "user":
                found = known.credentials.users.get(principal.identity or "")
                if found is None or _mark(found.password) != name:
                    return None
                return _with_roles(principal, found.roles)
            case "certificate":
                roles = known.roles_of(principal.identity)
                return None if roles is None else _with_roles(principal, roles)
            case "jwt":
                if known.jwt is None or not known.jwt.vouches_for(name):
                    return None
                return known.with_more(principal.shown or principal)
            case "anonymous":
                return known.anonymous()
            case "called":
                return _with_roles(principal, known.roles_of(name) or ())
            case _:  # a neighbour whose role stands with its link, or nobody was asked
                return principal

    def current(self, principal: Principal) -> Principal:
        """The principal of a request that took a while to come, as it is now.

        Raises:
            ProtocolError: if its credential counts no more.
        """
        if principal.is_local:
            return principal
        found = self.renewed(principal)
        if found is None:
            raise ProtocolError(Fault.CREDENTIAL_REVOKED, "the credential is revoked")
        if found.has_expired(self._clock.now()):
            raise ProtocolError(Fault.CREDENTIAL_EXPIRED, _EXPIRED)
        return found

    # --- Kinds of credentials -------------------------------------------------------

    def _judge(self, shown: Shown) -> Principal | None:
        """Who it is, as far as that takes no time.

        Raises:
            ProtocolError: if what was shown was genuine, and counts no more.
        """
        token, known = shown.token, self._known
        if not token:
            if shown.certificate is None:
                return known.anonymous()
            return self._by_certificate(shown.certificate)
        if token.startswith(f"{PREFIX}."):
            return self._by_token(token)
        name, is_user, password = token.partition(":")
        if is_user:
            user = known.credentials.users.get(name)
            if user is None or not self._passwords.is_known(user.password, password):
                return None
            return _user(name, user.password, user.roles)
        if known.jwt is None:
            return None
        found = known.jwt.check(token)
        return None if found is None else known.with_more(found)

    def _by_certificate(
        self, certificate: Mapping[str, Any] | None
    ) -> Principal | None:
        name, claims = name_of(certificate)
        roles = self._known.roles_of(name)
        if certificate is None or roles is None:
            return None
        return Principal(
            name,
            roles,
            MappingProxyType(claims),
            expires_at=float(ssl.cert_time_to_seconds(certificate["notAfter"])),
            credential=f"certificate:{name}",
        )

    def _by_token(self, text: str) -> Principal | None:
        try:
            token = read_token(text)
        except SienaError:
            return None
        record = self._known.credentials.tokens.get(token.number)
        if record is None:
            is_genuine(token, _NOBODY)
            return None
        if not is_genuine(token, record.key):
            return None
        ends = [end for end in (record.expires_at, token.until) if end is not None]
        found = Principal(
            record.identity,
            record.roles,
            caveats=token.filters,
            expires_at=min(ends, default=None),
            credential=f"token:{token.number}",
        )
        if found.has_expired(self._clock.now()):
            raise ProtocolError(Fault.CREDENTIAL_EXPIRED, _EXPIRED)
        return found

    async def _by_password(self, text: str, address: str) -> Principal | None:
        name, is_user, password = text.partition(":")
        if not is_user or text.startswith(f"{PREFIX}."):
            return None
        # Before it is looked at: otherwise many could be tried at a time.
        await asyncio.sleep(self._attempts.delay(address, self._clock.elapsed()))
        user = self._known.credentials.users.get(name)
        kept = None if user is None else user.password
        is_right = await self._passwords.is_right(kept, password)
        # That took a while: what is known now counts.
        user = self._known.credentials.users.get(name)
        if not is_right or user is None or user.password != kept:
            return None
        return _user(name, user.password, user.roles)


class _Known:
    """What settings and the files that they name say; read whole, or not at all."""

    def __init__(self, access: Access | None, clock: Clock) -> None:
        self.access = access
        path = None if access is None else access.credentials
        self.credentials = load_credentials(Path(path)) if path else Credentials()
        jwt = None if access is None else access.jwt
        self.jwt = None if jwt is None else JsonWebTokens(jwt, clock)

    @property
    def has_identities(self) -> bool:
        known = self.credentials
        listed = self.access is not None and self.access.identities
        return bool(known.tokens or known.users or listed or self.jwt)

    def roles_of(self, name: str | None) -> tuple[str, ...] | None:
        """The roles of a name that settings know; of others there is nothing."""
        if name is None or self.access is None:
            return None
        return self.access.identities.get(name)

    def with_more(self, shown: Principal) -> Principal:
        """Whom a JWT shows, with the roles that settings give it besides."""
        more = self.roles_of(shown.identity) or ()
        return replace(
            shown, roles=tuple(dict.fromkeys((*shown.roles, *more))), shown=shown
        )

    def anonymous(self) -> Principal | None:
        """The principal of those who show nothing, where settings let them in."""
        roles = () if self.access is None else self.access.anonymous
        return Principal(None, roles, credential="anonymous") if roles else None


def _user(name: str, kept: str, roles: tuple[str, ...]) -> Principal:
    return Principal(name, roles, credential=f"user:{_mark(kept)}")


def _mark(kept: str) -> str:
    """By which it is noticed that a password has changed."""
    return hmac.digest(b"siena", kept.encode(), sha256).hex()[:16]


def _with_roles(principal: Principal, roles: tuple[str, ...]) -> Principal:
    return principal if principal.roles == roles else replace(principal, roles=roles)
