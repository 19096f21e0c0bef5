"""Reviews of roles: which are dead, equal or covered, and who can see something."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, product

from siena.algebra.points import NotShownError
from siena.algebra.sat import satisfiable, witness
from siena.broker.access.grants.decisions import covers_interest, narrow, steps_of
from siena.broker.access.grants.grant import Grant
from siena.broker.access.grants.roles import Role, Roles
from siena.broker.access.principal import Principal
from siena.messages import Interest
from siena.model import Notification, Predicate, Value

# Somebody who stands for all, where a role is about whoever has it.
SOMEBODY = "somebody"
# Identities and claims that are tried to find out who can see a notification.
TRIED_MAX = 64


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing about roles that their author may not have meant."""

    kind: str  # dead, equal, covered
    role: str
    other: str | None = None

    def __str__(self) -> str:
        if self.kind == "dead":
            return f"{self.role} grants nothing"
        if self.kind == "equal":
            return f"{self.role} grants the same as {self.other}"
        return f"{self.role} grants nothing that {self.other} does not"


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether a role may do something, and a notification that shows it."""

    holds: bool
    shown: Notification | None
    in_force: str | None = None
    """Of a subscription that is not granted whole, what is left of it."""


def sample(role: Role, identity: str = SOMEBODY) -> Principal:
    """A principal with one role, and with all the claims that it asks for."""
    templates = (
        *role.publish, *role.subscribe, *role.inspect, *role.imports, *role.exports
    )  # fmt: skip
    names = {name for template in templates for name in template.names}
    claims = {
        name.removeprefix("claim."): identity
        for name in names
        if name.startswith("claim.") or name == "cn"
    }
    return Principal(identity, (role.name,), claims)


def may(grant: Predicate, interest: Interest, *, narrows: bool = True) -> Answer:
    """Whether all that an interest selects is granted.

    >>> from siena.lang.parser import parse_interest, parse_predicate
    >>> yes = may(parse_predicate("x > 3"), parse_interest("x > 5"))
    >>> print(yes.holds, yes.shown)
    True x = 6
    >>> no = may(parse_predicate("x > 3"), parse_interest("x > 0"))
    >>> print(no.holds, no.shown, no.in_force, sep="; ")
    False; x = 1; x > 3
    """
    verdict = covers_interest(grant, interest)
    if verdict.holds:
        return Answer(holds=True, shown=_witness(interest))
    left = narrow(interest, grant)
    in_force = str(left) if narrows and left.interest != Predicate() else None
    return Answer(holds=False, shown=verdict.witness, in_force=in_force)


def _witness(interest: Interest) -> Notification | None:
    try:
        return witness(steps_of(interest)[0])
    except NotShownError:
        return None


def review(roles: Roles) -> list[Finding]:
    """What is odd about roles, each compared as one and the same principal has it.

    >>> print(*review(Roles.from_form({
    ...     "all": {"subscribe": "x any"}, "some": {"subscribe": "x = 3"},
    ...     "none": {"subscribe": "x > 3 and x < 2"},
    ... })), sep="; ")
    none grants nothing; some grants nothing that all does not
    """
    grants = {
        name: Grant.of(_everybody(roles, role), roles)
        for name, role in roles.by_name.items()
    }
    dead = [name for name, grant in grants.items() if _is_dead(grant)]
    alive = [name for name in grants if name not in dead]
    findings = [Finding("dead", name) for name in dead]
    for place, name in enumerate(alive):
        for other in alive[place + 1 :]:
            within = grants[name].is_within(grants[other])
            beyond = grants[other].is_within(grants[name])
            if within and beyond:
                findings.append(Finding("equal", other, name))
            elif within:
                findings.append(Finding("covered", name, other))
            elif beyond:
                findings.append(Finding("covered", other, name))
    return findings


def _everybody(roles: Roles, role: Role) -> Principal:
    """The principal of all roles, with this one."""
    claims: dict[str, str] = {}
    for each in roles.by_name.values():
        claims |= sample(each).claims
    return Principal(SOMEBODY, (role.name,), claims)


def _is_dead(grant: Grant) -> bool:
    return not grant.may_hold and not any(map(satisfiable, grant.predicates()))


def who(
    roles: Roles, notification: Mapping[str, Value], verb: str = "subscribe"
) -> Iterator[tuple[str, dict[str, str]]]:
    """The roles that may hear a notification, and as whom, where that matters.

    Identities and claims that make the difference are looked for among the strings of
    the notification itself.

    >>> roles = Roles.from_form({"own": {"subscribe": "to = ${identity}"},
    ...                          "all": {"subscribe": "[]"}})
    >>> list(who(roles, {"to": "ann"}))
    [('own', {'identity': 'ann'}), ('all', {})]
    """
    strings = sorted({v for v in notification.values() if isinstance(v, str)})
    candidates = [SOMEBODY, *strings]
    for name, role in roles.by_name.items():
        templates = {
            "subscribe": role.subscribe, "publish": role.publish,
            "import": role.imports, "export": role.exports,
        }[verb]  # fmt: skip
        for template in templates:
            names = sorted(template.names)
            tried = islice(product(candidates, repeat=len(names)), TRIED_MAX)
            found = next(
                (
                    values
                    for chosen in tried
                    if template.bind(
                        values := dict(zip(names, chosen, strict=True))
                    ).matches(notification)
                ),
                None,
            )
            if found is not None:
                yield name, found
                break
