"""A grant: what one principal may, as predicates."""

from collections.abc import Iterable
from dataclasses import dataclass

from siena.algebra.conjunction import conjoin
from siena.algebra.disjunction import covers_predicate
from siena.broker.access.grants.roles import Role, Roles
from siena.broker.access.grants.templates import Template
from siena.broker.access.principal import Principal
from siena.errors import SienaError
from siena.lang.parser import parse_predicate
from siena.model import Filter, Predicate
from siena.model.limits import FILTERS_MAX

EVERYTHING = Predicate([Filter()])
NOTHING = Predicate()


@dataclass(frozen=True, slots=True)
class Grant:
    """What a principal may publish, hear, look at, and bring as a neighbour.

    There is no denial and no order: what several roles grant is what one of them
    grants, and a caveat leaves what it matches, too.

    >>> roles = Roles.from_form({"a": {"publish": "x = ${identity}"}, "b": {
    ...     "publish": "y > 3"}})
    >>> print(Grant.of(Principal("me", ("a", "b")), roles).publish)
    x = me or y > 3
    >>> print(Grant.of(Principal("me", ("b",), caveats=("y < 9",)), roles).publish)
    y < 9 and y > 3
    """

    publish: Predicate = NOTHING
    subscribe: Predicate = NOTHING
    inspect: Predicate = NOTHING
    imports: Predicate = NOTHING
    exports: Predicate = NOTHING
    may_hold: bool = False
    narrows: bool = True
    roles: tuple[str, ...] = ()

    @property
    def is_unlimited(self) -> bool:
        """Whether nothing needs to be decided."""
        return self is UNLIMITED

    @classmethod
    def of(cls, principal: Principal, roles: Roles) -> "Grant":
        """The grant of a principal: nothing, if it would be too large to decide."""
        if principal.is_local:
            return UNLIMITED
        known = [roles.by_name[r] for r in principal.roles if r in roles.by_name]
        values = values_of(principal)
        try:
            caveats = [parse_predicate(text) for text in principal.caveats]

            def union(texts: Iterable[Template], *, narrowed: bool) -> Predicate:
                filters = [f for each in texts for f in each.bind(values)]
                found = EVERYTHING if Filter() in filters else Predicate(filters)
                for caveat in caveats if narrowed else ():
                    found = conjoin(found, caveat, FILTERS_MAX)
                return found

            return cls(
                union((t for r in known for t in r.publish), narrowed=True),
                union((t for r in known for t in r.subscribe), narrowed=True),
                # What is looked at is no notification, which a caveat is about.
                union((t for r in known for t in r.inspect), narrowed=False),
                union((t for r in known for t in r.imports), narrowed=True),
                union((t for r in known for t in r.exports), narrowed=True),
                any(role.may_hold for role in known),
                _narrows(known),
                tuple(role.name for role in known),
            )
        except SienaError:  # whoever decides nothing allows nothing
            return cls()

    def is_within(self, other: "Grant") -> bool:
        """Whether all that this one allows is allowed by the other."""
        return (
            all(
                covers_predicate(theirs, ours)
                for theirs, ours in zip(
                    other.predicates(), self.predicates(), strict=True
                )
            )
            and other.may_hold >= self.may_hold
        )

    def predicates(self) -> tuple[Predicate, ...]:
        """What it allows, verb by verb."""
        return self.publish, self.subscribe, self.inspect, self.imports, self.exports


UNLIMITED = Grant(
    EVERYTHING, EVERYTHING, EVERYTHING, EVERYTHING, EVERYTHING, may_hold=True
)
"""What all may at a broker without ``[access]``."""


def values_of(principal: Principal) -> dict[str, str]:
    """What takes the places of templates."""
    values = {f"claim.{name}": value for name, value in principal.claims.items()}
    if "cn" in principal.claims:
        values["cn"] = principal.claims["cn"]
    if principal.identity is not None:
        values["identity"] = principal.identity
    return values


def _narrows(roles: Iterable[Role]) -> bool:
    """Whether a subscription is narrowed: unless all roles that hear refuse it."""
    narrowing = [role.narrows for role in roles if role.subscribe]
    return not narrowing or any(narrowing)
