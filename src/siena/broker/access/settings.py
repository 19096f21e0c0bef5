"""What settings say of who may come: ``[tls]`` and ``[access]``."""

from pathlib import Path
from typing import Annotated, Literal

from msgspec import Meta, Struct
from msgspec.structs import replace

from siena.broker.access.grants.roles import RoleSettings
from siena.protocol.limits import NAME_CHARACTERS_MAX

Name = Annotated[str, Meta(min_length=1, max_length=NAME_CHARACTERS_MAX)]
# Signed by one key and checked with another: whoever can check cannot sign.
Algorithm = Literal[
    "EdDSA", "ES256", "ES384", "ES512", "PS256", "PS384", "PS512", "RS256"
]


class Strict(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of which every key is known."""


class Tls(Strict, frozen=True):
    """The certificate of a broker, and whose certificates it believes.

    In a file name, ``{name}`` stands for the name of the broker.
    """

    cert: str
    key: str
    # Whom it believes: neighbours that it calls, and clients with certificates.
    # Without one, what the system believes of the former, and none of the latter.
    ca: str | None = None
    clients: Literal["none", "optional", "required"] = "optional"
    minimum: Literal["1.2", "1.3"] = "1.3"

    def at(self, folder: Path) -> "Tls":
        """With the files that these names mean in a folder."""
        return replace(
            self,
            cert=str(folder / self.cert),
            key=str(folder / self.key),
            ca=self.ca and str(folder / self.ca),
        )

    def of(self, name: str) -> "Tls":
        """With the files of one broker.

        >>> Tls(cert="certs/{name}.pem", key="certs/{name}.key").of("b1").cert
        'certs/b1.pem'
        """
        cert, key = (text.replace("{name}", name) for text in (self.cert, self.key))
        return replace(self, cert=cert, key=key)


class Jwt(Strict, frozen=True):
    """Whose JSON web tokens count."""

    keys: str  # a JWKS: a file, or an https:// address
    algorithms: Annotated[tuple[Algorithm, ...], Meta(min_length=1)]
    issuer: str
    audience: str
    identity: str = "sub"  # the claims with the name, and with the roles
    roles: str = "roles"


class Access(Strict, frozen=True):
    """Who may come, and as whom; without this table all are LOCAL."""

    credentials: str | None = None  # a file with tokens and users, of mode 0600
    # The roles of those whom a certificate or a JWT shows.
    identities: dict[Name, tuple[Name, ...]] = {}
    # The roles of those who show nothing; without any, they are not let in.
    anonymous: tuple[Name, ...] = ()
    jwt: Jwt | None = None
    # What they may, by role; and more roles, in a file of their own.
    roles: dict[Name, RoleSettings] = {}
    roles_file: str | None = None

    def at(self, folder: Path) -> "Access":
        """With the files that these names mean in a folder."""
        jwt = self.jwt
        if jwt is not None and "://" not in jwt.keys:
            jwt = replace(jwt, keys=str(folder / jwt.keys))
        credentials = self.credentials and str(folder / self.credentials)
        roles_file = self.roles_file and str(folder / self.roles_file)
        return replace(self, credentials=credentials, jwt=jwt, roles_file=roles_file)
