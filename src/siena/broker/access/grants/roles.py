"""Roles: what the settings say that a principal may, as predicates with templates."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from siena.broker.access.grants.templates import Template
from siena.errors import SienaError

# Roles at one broker, and texts of one verb: far more than anybody reads.
ROLES_MAX = 10_000
TEXTS_MAX = 100

Text = Annotated[str, Meta(max_length=65_536)]
Texts = Text | Annotated[tuple[Text, ...], Meta(max_length=TEXTS_MAX)]


class PeerSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a neighbour may bring, and get."""

    import_: Texts = msgspec.field(default=(), name="import")
    export: Texts = ()


class RoleSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One table ``[access.roles.NAME]``; what it does not say is not allowed."""

    publish: Texts = ()
    subscribe: Texts = ()
    inspect: Texts = ()
    peer: PeerSettings = PeerSettings()
    # Whether publishers may be made to wait: policy `block`, commits to the log, and
    # durable subscriptions, which keep it.
    hold: bool = False
    # What becomes of a subscription that asks for more than is granted.
    beyond: Literal["narrow", "refuse"] = "narrow"


@dataclass(frozen=True, slots=True)
class Role:
    """What one role grants: of several templates one is enough."""

    name: str
    publish: tuple[Template, ...] = ()
    subscribe: tuple[Template, ...] = ()
    inspect: tuple[Template, ...] = ()
    imports: tuple[Template, ...] = ()
    exports: tuple[Template, ...] = ()
    may_hold: bool = False
    narrows: bool = True


@dataclass(frozen=True, slots=True)
class Roles:
    """All roles, by name.

    >>> roles = Roles.of({"trader": RoleSettings(publish="user = ${identity}")})
    >>> roles.by_name["trader"].publish[0].names
    frozenset({'identity'})
    >>> Roles.of({"trader": RoleSettings(subscribe="price >")})
    Traceback (most recent call last):
    siena.errors.FilterSyntaxError: role trader, subscribe, column 8: expected a value,
    found the end
    """

    by_name: Mapping[str, Role] = field(default_factory=dict)

    @classmethod
    def of(cls, settings: Mapping[str, RoleSettings]) -> "Roles":
        """What settings say, all of it or nothing.

        Raises:
            SienaError: if one text cannot be read, with its place.
        """
        if len(settings) > ROLES_MAX:
            raise SienaError(f"more than {ROLES_MAX} roles")
        return cls({name: _role(name, said) for name, said in settings.items()})

    @classmethod
    def from_form(cls, form: Mapping[str, Any]) -> "Roles":
        """The roles of a file: tables by name, as TOML has them.

        >>> Roles.from_form({"ops": {"publsh": "[]"}})
        Traceback (most recent call last):
        siena.errors.SienaError: Object contains unknown field `publsh` - at `$[...]`

        Raises:
            SienaError: if they are not as they must be.
        """
        return cls.of(role_settings(form))


def role_settings(form: Mapping[str, Any]) -> dict[str, RoleSettings]:
    """Tables as settings of roles.

    Raises:
        SienaError: if a key is not known, or a value is none.
    """
    try:
        return msgspec.convert(form, dict[str, RoleSettings])
    except msgspec.ValidationError as error:
        raise SienaError(str(error)) from None


def _role(name: str, said: RoleSettings) -> Role:
    def read(verb: str, texts: Texts) -> tuple[Template, ...]:
        given = (texts,) if isinstance(texts, str) else texts
        found = []
        for place, text in enumerate(given, 1):
            which = f", text {place}" if len(given) > 1 else ""
            try:
                found.append(Template.read(text))
            except SienaError as error:
                raise error.about(f"role {name}, {verb}{which}") from None
        return tuple(found)

    return Role(
        name,
        read("publish", said.publish),
        read("subscribe", said.subscribe),
        read("inspect", said.inspect),
        read("peer.import", said.peer.import_),
        read("peer.export", said.peer.export),
        said.hold,
        said.beyond == "narrow",
    )
