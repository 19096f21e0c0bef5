"""Granted: who the viewer is and what it may; the roles, and who may see something.

Each principal may know what is granted to itself.  The roles of others are looked at by
those who may inspect ``access``.
"""

from itertools import islice
from typing import Any

from siena.broker.access.grants.review import review, who
from siena.broker.access.grants.roles import Role, Roles
from siena.broker.access.grants.sight import Sight
from siena.broker.access.grants.templates import Template
from siena.broker.access.principal import Principal
from siena.broker.state import BrokerState
from siena.model import Notification

# Roles that are shown; and with up to how many it is looked for what is odd.
ROLES_MAX = 500
REVIEWED_MAX = 60
# Clients that are asked whether they may hear something.
CLIENTS_MAX = 5_000

Form = dict[str, Any]


def myself(state: BrokerState, principal: Principal, *, is_asking: bool) -> Form:
    """Who a principal is, and what is granted to it."""
    grant = state.gate.grant(principal)
    return {
        "asking": is_asking,
        "identity": principal.identity,
        "roles": list(principal.roles),
        "caveats": list(principal.caveats),
        "expires_at": principal.expires_at,
        "unlimited": grant.is_unlimited,
        "publish": str(grant.publish),
        "subscribe": str(grant.subscribe),
        "inspect": str(grant.inspect),
    }


def roles(state: BrokerState, sight: Sight) -> Form:
    """All roles, what is odd about them, and what was refused to whom.

    To those who may not subscribe to everything, their own.
    """
    known = _known(state, sight)
    shown = [_role(role) for role in islice(known.by_name.values(), ROLES_MAX)]
    is_few = len(known.by_name) <= REVIEWED_MAX
    return {
        "count": len(known.by_name),
        "roles": shown,
        "findings": [*map(str, review(known))] if is_few else [],
        "refusals": state.gate.snapshot() if sight.is_whole else [],
    }


def _known(state: BrokerState, sight: Sight) -> Roles:
    known = state.gate.book.roles
    if sight.is_whole:
        return known
    mine = sight.principal.roles
    return Roles({name: known.by_name[name] for name in mine if name in known.by_name})


def who_may(
    state: BrokerState, sight: Sight, notification: Notification, verb: str
) -> Form:
    """The roles that may hear, or publish, a notification; and the clients here."""
    found = who(_known(state, sight), notification, verb)
    clients = {
        session.principal.identity or session.name or f"client {session.number}"
        for session in islice(state.sessions.values(), CLIENTS_MAX)
        if not session.is_standing  # that is the log
        and sight.of_principal(session.principal)
        and _may(state, session.principal, notification, verb)
    }
    return {
        "text": str(notification),
        "roles": [{"role": role, "as": values} for role, values in found],
        "clients": sorted(clients),
    }


def _may(
    state: BrokerState, principal: Principal, notification: Notification, verb: str
) -> bool:
    grant = state.gate.grant(principal)
    granted = grant.publish if verb == "publish" else grant.subscribe
    return granted.matches(notification)


def _role(role: Role) -> Form:
    def texts(templates: tuple[Template, ...]) -> list[str]:
        return [template.text for template in templates]

    return {
        "name": role.name,
        "publish": texts(role.publish),
        "subscribe": texts(role.subscribe),
        "inspect": texts(role.inspect),
        "import": texts(role.imports),
        "export": texts(role.exports),
        "hold": role.may_hold,
        "beyond": "narrow" if role.narrows else "refuse",
    }
