"""The gate: the one place at which it is decided what a principal may do.

Every way to a broker ends here, and nothing else says no for want of a grant: frames,
lines, HTTP, the log, moves, inspection and links.  What is refused is counted by its
verb and the roles of the principal that asked, and told with a notification that shows
it.
"""

from collections import Counter

from siena.algebra.verdict import Verdict
from siena.block import decode
from siena.broker.access.audit import Audit
from siena.broker.access.grants.book import GrantBook
from siena.broker.access.grants.decisions import (
    InForce,
    covers_interest,
    covers_offer,
    may_inspect,
    narrow,
)
from siena.broker.access.grants.grant import UNLIMITED, Grant
from siena.broker.access.grants.roles import Roles
from siena.broker.access.grants.sight import OTHERS, Sight
from siena.broker.access.principal import Principal
from siena.errors import InvalidNotificationError
from siena.messages import Interest
from siena.model import Advertisement, Notification, Predicate
from siena.protocol.error_codes import Fault, ProtocolError

# Roles that are counted by name; what others are refused is counted together.
COUNTED_MAX = 1_000
# Of what was refused, how many verbs and roles are shown.
REFUSALS_SHOWN = 20
# The characters of a notification, or of a grant, that an error shows.
SHOWN_CHARACTERS_MAX = 300


class Gate:
    """What principals may, and what they were refused.

    >>> from siena.lang.parser import parse_interest
    >>> gate = Gate(Roles.from_form({"a": {"subscribe": "x < 9", "beyond": "refuse"}}))
    >>> gate.subscribe(Principal("ann", ("a",)), parse_interest("x > 3"), 1)
    Traceback (most recent call last):
    siena.protocol.error_codes.ProtocolError: subscribe is not granted: x = 9, say
    (error 110)
    >>> gate.refusals
    Counter({('subscribe', 'a'): 1})
    """

    def __init__(
        self,
        roles: Roles = Roles(),  # noqa: B008 -- frozen
        audit: Audit | None = None,
    ) -> None:
        self.book = GrantBook(roles)
        self.audit = audit or Audit()
        self.refusals: Counter[tuple[str, str]] = Counter()
        """How often a verb was refused to those with some roles."""

    def grant(self, principal: Principal) -> Grant:
        """All that a principal may do."""
        return UNLIMITED if principal.is_local else self.book.of(principal)

    # --- Decisions ------------------------------------------------------------------

    def subscribe(
        self, principal: Principal, interest: Interest, number: int | None
    ) -> InForce:
        """What is in force of what a client asks for.

        Raises:
            ProtocolError: if that is less, and the roles do not narrow it.
        """
        grant = self.grant(principal)
        if grant.is_unlimited:
            return InForce(interest, interest)
        if not grant.narrows:
            verdict = covers_interest(grant.subscribe, interest)
            if not verdict.holds:
                raise self.refuse(principal, "subscribe", _shown(verdict), about=number)
        return narrow(interest, grant.subscribe)

    def advertise(
        self, principal: Principal, offer: Advertisement, number: int | None
    ) -> None:
        """Let a client advertise what it may publish, and nothing else.

        Raises:
            ProtocolError: if there is more in it.
        """
        grant = self.grant(principal)
        if not grant.is_unlimited:
            verdict = covers_offer(grant.publish, offer)
            if not verdict.holds:
                raise self.refuse(principal, "advertise", _shown(verdict), about=number)

    def inspect(self, principal: Principal, what: str) -> None:
        """Let a client inspect something of the broker.

        Raises:
            ProtocolError: if they may not.
        """
        grant = self.grant(principal)
        if not grant.is_unlimited and not may_inspect(grant.inspect, what):
            raise self.refuse(principal, "inspect", f"what = {what}")

    def sight(self, principal: Principal) -> Sight:
        """What a principal may see of others, wherever it looks."""
        return Sight(principal, self.grant(principal))

    def own(self, principal: Principal, what: str, name: str) -> None:
        """Let a principal have something that is kept: a durable subscription, say.

        Raises:
            ProtocolError: if nothing can be kept for it.
        """
        if not principal.is_lasting:
            raise self.refuse(principal, "own", f"{what} {_cut(name)}")

    def hears(self, principal: Principal) -> Predicate | None:
        """What a principal may hear, for callers that match themselves; None: all."""
        grant = self.grant(principal)
        return None if grant.is_unlimited else grant.subscribe

    def snapshot(self, sight: Sight | None = None) -> list[dict[str, object]]:
        """What was refused most often; with a sight, as its principal may see it."""
        found = self.refusals if sight is None else self.refusals_seen(sight)
        return [
            {"verb": verb, "roles": roles, "count": count}
            for (verb, roles), count in found.most_common(REFUSALS_SHOWN)
        ]

    def refusals_seen(self, sight: Sight) -> Counter[tuple[str, str]]:
        """How often verbs were refused; roles that one may not know count as one."""
        sums: Counter[tuple[str, str]] = Counter()
        for (verb, roles), count in self.refusals.items():
            sums[verb, roles if sight.of_roles(roles) else OTHERS] += count
        return sums

    # --- Refusals -------------------------------------------------------------------

    def refuse_publications(
        self, principal: Principal, verb: str, block: bytes, count: int
    ) -> ProtocolError:
        """The answer about publications that are not granted; the first is shown."""
        try:
            shown = _cut(Notification(decode(block)))
        except InvalidNotificationError:
            shown = ""
        more = f", and {count - 1} more" if count > 1 else ""
        return self.refuse(principal, verb, f"{shown}{more}", count=count)

    def refuse(
        self,
        principal: Principal,
        verb: str,
        shown: str,
        *,
        about: int | None = None,
        count: int = 1,
        fault: Fault = Fault.FORBIDDEN,
    ) -> ProtocolError:
        """Count what is refused, and write it down; the answer."""
        key = verb, ",".join(principal.roles) or "none"
        if key not in self.refusals and len(self.refusals) >= COUNTED_MAX:
            key = verb, "others"
        self.refusals[key] += count
        self.audit.write(
            "refused",
            principal.identity,
            verb=verb,
            roles=principal.roles,
            shown=shown,
            count=count,
            error=fault.number,
        )
        text = f"{verb} is not granted" + (f": {shown}" if shown else "")
        return ProtocolError(fault, text, about=about)


def _shown(verdict: Verdict) -> str:
    if verdict.witness is None:
        return ""
    return f"{_cut(verdict.witness)}, say"


def _cut(value: object) -> str:
    text = str(value)
    if len(text) <= SHOWN_CHARACTERS_MAX:
        return text
    return f"{text[: SHOWN_CHARACTERS_MAX - 1]}…"
