"""The book of grants: the roles of a broker, and the grant of each who has come."""

from collections import OrderedDict

from siena.broker.access.grants.grant import UNLIMITED, Grant
from siena.broker.access.grants.roles import Roles
from siena.broker.access.principal import Principal

# Grants that are remembered: those of the principals that came last.
GRANTS_MAX = 16_384


class GrantBook:
    """What each principal may.

    >>> book = GrantBook(Roles.from_form({"reader": {"subscribe": "to = ${identity}"}}))
    >>> print(book.of(Principal("ann", ("reader",))).subscribe)
    to = ann
    >>> book.open(Roles.from_form({"other": {}}))  # there are no readers any more
    >>> print(book.of(Principal("ann", ("reader",))).subscribe)
    not []
    """

    def __init__(self, roles: Roles = Roles()) -> None:  # noqa: B008 -- frozen
        self.roles = roles
        self._known: OrderedDict[tuple[object, ...], Grant] = OrderedDict()
        # Grants that are equal are the same: there is one table for all who have it.
        self._same: dict[Grant, Grant] = {}

    def open(self, roles: Roles) -> None:
        """Other roles count from now on."""
        self.roles = roles
        self._known.clear()
        self._same.clear()

    def of(self, principal: Principal) -> Grant:
        """The grant of a principal."""
        if principal.is_local:
            return UNLIMITED
        key = (
            principal.identity,
            principal.roles,
            tuple(sorted(principal.claims.items())),
            principal.caveats,
        )
        found = self._known.pop(key, None)
        if found is None:
            new = Grant.of(principal, self.roles)
            found = self._same.setdefault(new, new)
        self._known[key] = found
        if len(self._known) > GRANTS_MAX:
            _, oldest = self._known.popitem(last=False)
            self._same.pop(oldest, None)
        return found
