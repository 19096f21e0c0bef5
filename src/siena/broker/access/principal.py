"""The principal: who is at the other end of a connection, as far as it was shown."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


def _none() -> Mapping[str, str]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Principal:
    """A user or a program with a name and roles, shown by a credential.

    ``claims`` are what the credential says besides: of a certificate its ``cn``, of a
    JWT its claims.  ``caveats`` are filters, in the language, that narrow everything
    the roles allow.  After ``expires_at``, in seconds since 1970, the credential shows
    nothing any more.

    >>> alice = Principal("alice", roles=("trader",))
    >>> alice.owns("alice"), alice.owns("alice/phone"), alice.owns("alicia")
    (True, True, False)
    >>> ANONYMOUS.owns("alice"), LOCAL.owns("alice")
    (False, True)
    """

    identity: str | None
    roles: tuple[str, ...] = ()
    claims: Mapping[str, str] = field(default_factory=_none, hash=False)
    caveats: tuple[str, ...] = ()
    expires_at: float | None = None
    is_local: bool = False
    """Whether none is asked who it is, and all may do everything."""
    credential: str = ""
    """What has shown it, to be looked for when credentials change; never a secret."""
    shown: "Principal | None" = field(default=None, repr=False, compare=False)
    """As the credential itself has it, before settings gave it more roles."""

    def owns(self, identity: str) -> bool:
        """Whether what is kept under an identity is theirs to take.

        With a token that was narrowed nothing is: what is kept was asked for without
        its caveats.
        """
        if self.is_local:
            return True
        mine = self.identity
        return self.is_lasting and (identity == mine or identity.startswith(f"{mine}/"))

    @property
    def is_known(self) -> bool:
        """Whether it has shown who it is, where that is asked for."""
        return self.is_local or self.identity is not None

    @property
    def is_lasting(self) -> bool:
        """Whether anything can be kept for it, to be asked for at another time.

        For the holder of a narrowed token nothing is: it would be its owner's, who asks
        without the caveats; nor for those who have shown nothing.
        """
        return self.is_known and not self.caveats

    def has_expired(self, now: float) -> bool:
        """Whether the credential shows nothing any more, at this time since 1970."""
        return self.expires_at is not None and now >= self.expires_at


LOCAL = Principal(None, is_local=True)
"""Who has come, at a broker without ``[access]``."""

ANONYMOUS = Principal(None, roles=("anonymous",))
"""Who has shown no credential yet, at a broker that asks for one."""
