"""The file of credentials: tokens, of which it keeps a hash, and users.

Its readers can narrow tokens of others, and try passwords: so it is for its owner
alone, and a broker refuses one that is not.  It is changed whole, or not at all.
"""

import os
import stat
import tempfile
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta, Struct
from msgspec.structs import replace

from siena.broker.access.settings import Name
from siena.client.tokens import Token, key_of
from siena.errors import SienaError

# As many as a broker keeps in memory without being asked how many.
TOKENS_MAX = 1_000_000
USERS_MAX = 100_000
FILE_BYTES_MAX = 1024 * 1024 * 1024


class TokenRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is kept of a token: not the token."""

    identity: Name
    roles: tuple[Name, ...] = ()
    sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    made_at: float = 0.0
    expires_at: float | None = None

    @property
    def key(self) -> bytes:
        """The hash of its secret."""
        return bytes.fromhex(self.sha256)


class UserRecord(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is kept of a user: not the password."""

    password: Annotated[str, Meta(pattern=r"^\$argon2id\$", max_length=512)]
    roles: tuple[Name, ...] = ()


class Credentials(Struct, frozen=True, forbid_unknown_fields=True):
    """All tokens, by number, and all users, by name.

    >>> from siena.client.tokens import new_token
    >>> token = new_token()
    >>> found = Credentials().with_token(token, "ann", ("trader",), made_at=0.0)
    >>> found.tokens[token.number].identity
    'ann'
    >>> token.proof in str(found)
    False
    """

    tokens: dict[str, TokenRecord] = {}
    users: dict[Name, UserRecord] = {}

    def with_token(
        self,
        token: Token,
        identity: str,
        roles: tuple[str, ...],
        *,
        made_at: float,
        expires_at: float | None = None,
    ) -> "Credentials":
        """With a token that is new."""
        record = TokenRecord(
            identity=identity,
            roles=roles,
            sha256=key_of(token.proof).hex(),
            made_at=made_at,
            expires_at=expires_at,
        )
        if len(self.tokens) >= TOKENS_MAX:
            raise SienaError(f"more than {TOKENS_MAX} tokens")
        return replace(self, tokens={**self.tokens, token.number: record})

    def with_user(self, name: str, record: UserRecord) -> "Credentials":
        """With a user, in place of the one of that name."""
        if len(self.users) >= USERS_MAX:
            raise SienaError(f"more than {USERS_MAX} users")
        return replace(self, users={**self.users, name: record})

    def without(self, what: str) -> "Credentials":
        """Without a token, by its number, and without all tokens of an identity.

        Raises:
            SienaError: if there is none.
        """
        kept = {
            number: record
            for number, record in self.tokens.items()
            if what not in {number, record.identity}
        }
        if len(kept) == len(self.tokens):
            hint = "siena token list shows those that there are"
            raise SienaError(f"there is no token {what}", hint=hint)
        return replace(self, tokens=kept)

    def without_user(self, name: str) -> "Credentials":
        """Without a user.

        Raises:
            SienaError: if there is none.
        """
        if name not in self.users:
            raise SienaError(f"there is no user {name}")
        return replace(self, users={n: r for n, r in self.users.items() if n != name})


def load_credentials(path: Path, *, is_new: bool = False) -> Credentials:
    """What a file says.

    Args:
        path: the file.
        is_new: whether it may be missing; then it says nothing.

    Raises:
        SienaError: if it is no such file, or others may read it.
    """
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            if stat.S_IMODE(mode) & 0o077:
                hint = f"chmod 600 {path}"
                raise SienaError(f"{path} can be read by others", hint=hint)
            return msgspec.json.decode(file.read(FILE_BYTES_MAX), type=Credentials)
    except FileNotFoundError:
        if is_new:
            return Credentials()
        hint = "siena token new makes one"
        raise SienaError(f"there is no file {path}", hint=hint) from None
    except OSError as error:
        raise SienaError(f"{path}: {error.strerror}") from None
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise SienaError(f"{path} is no file of credentials: {error}") from None


def save_credentials(path: Path, credentials: Credentials) -> None:
    """Write a file, for its owner alone, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = msgspec.json.format(msgspec.json.encode(credentials), indent=1) + b"\n"
    # Made readable for nobody else; renamed when it is complete.
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".credentials-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
