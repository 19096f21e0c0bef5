"""Sight: what a principal may see of what others want, offer and are called.

Filters tell of notifications: a viewer of ``patient = 7`` knows that a client waits
for that.  So nothing is shown that its viewer could not have subscribed to, on any way
to a broker, whatever ``inspect`` grants besides.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from siena.broker.access.grants.decisions import covers_interest, covers_offer
from siena.broker.access.grants.grant import Grant
from siena.broker.access.principal import Principal
from siena.messages import Interest
from siena.model import Advertisement, Filter

# What others are called to those who may not know it.
ANOTHER = "another client"
# And all of them together, where they are counted.
OTHERS = "(others)"


@dataclass(frozen=True, slots=True)
class Sight:
    """What one principal sees.

    >>> from siena.broker.access.grants.roles import Roles
    >>> from siena.lang.parser import parse_interest
    >>> ann = Principal("ann", ("desk",))
    >>> sight = Sight(ann, Grant.of(ann, Roles.from_form({"desk": {
    ...     "subscribe": "symbol = DIS"}})))
    >>> sight.of_interest(parse_interest("symbol = DIS and price > 3"))
    True
    >>> sight.of_interest(parse_interest("price > 3")), sight.is_whole
    (False, False)
    """

    principal: Principal
    grant: Grant

    @property
    def is_whole(self) -> bool:
        """Whether it may subscribe to everything, and so see it."""
        return self.grant.is_unlimited or Filter() in self.grant.subscribe.filters

    def of_interest(self, interest: Interest) -> bool:
        """Whether it could have subscribed to all of this."""
        return self.is_whole or covers_interest(self.grant.subscribe, interest).holds

    def of_offer(self, offer: Advertisement) -> bool:
        """Whether it could have subscribed to all that is offered."""
        return self.is_whole or covers_offer(self.grant.subscribe, offer).holds

    def of_principal(self, other: Principal) -> bool:
        """Whether it may know who this is: all, or itself."""
        mine = self.principal.identity
        return self.is_whole or (mine is not None and other.identity == mine)

    def of_owner(self, owner: str | None) -> bool:
        """Whether it may know the names of what an identity keeps: all, or its own."""
        mine = self.principal.identity
        return self.is_whole or (mine is not None and owner == mine)

    def of_roles(self, roles: str) -> bool:
        """Whether it may know that there are these roles: all, or its own.

        They are written as refusals have them: with commas in between.
        """
        return self.is_whole or roles == ",".join(self.principal.roles)

    def chooser(self) -> Callable[[Interest | Advertisement], bool]:
        """Decides about many, each of them once."""
        if self.is_whole:
            return lambda _: True
        known: dict[Interest | Advertisement, bool] = {}

        def sees(item: Interest | Advertisement) -> bool:
            if item not in known:
                if isinstance(item, Advertisement):
                    known[item] = self.of_offer(item)
                else:
                    known[item] = self.of_interest(item)
            return known[item]

        return sees

    def names(self, called: Iterable[tuple[Principal | None, str]]) -> list[str]:
        """What holders are called: of clients it may not know, only that they are.

        A holder without a principal is a neighbour, which is no secret.
        """
        return [
            name if other is None or self.of_principal(other) else ANOTHER
            for other, name in called
        ]
