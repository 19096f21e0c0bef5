"""A neighbouring broker, as this one sees it: what it is, and what it has been told."""

from functools import partial

from siena.messages import (
    Advertise,
    PeerConnect,
    Side,
    Subscribe,
    Unadvertise,
    Unsubscribe,
)
from siena.model import Advertisement, Filter
from siena.routing.demand.announcer import Announcer
from siena.routing.demand.covering_order import Order
from siena.routing.demand.declarative import DeclarativeDemand
from siena.routing.demand.demand import Demand
from siena.routing.demand.merging import merge_of
from siena.routing.demand.older import offered_older, told_older
from siena.routing.options import Options


class Neighbour:
    """A link to a broker: its side, its weight, and the announcements made over it.

    A child is never told what others want: in a hierarchy notifications climb anyway.
    Advertisements are for peers, and only where subscriptions follow them.  One that
    does not know the ``closed`` language is told covers in the papers' operators.
    """

    def __init__(
        self,
        number: int,
        asked: PeerConnect,
        options: Options,
        filters: tuple[Demand[Filter] | DeclarativeDemand[Filter], Order[Filter]],
        advertisements: tuple[
            Demand[Advertisement] | DeclarativeDemand[Advertisement],
            Order[Advertisement],
        ],
    ) -> None:
        self.number = number
        self.side = side = asked.side
        self.hears_filters = side is not Side.CHILD
        """Whether it is told what others want."""
        self.hears_advertisements = side in {Side.PEER, Side.MESH}
        """Whether it is told what others publish."""
        self.weight = asked.weight
        self.is_exact = is_exact = asked.exact and options.withdrawal == "exact"
        demand, order = filters
        merge = merge_of(options.merging)
        self.filters = Announcer(
            demand,
            order.covers,
            announce=Subscribe,
            cancel=partial(Unsubscribe, exact=is_exact),
            is_exact=is_exact,
            merge=merge if asked.closed else told_older(merge),
            names_origins=side is Side.MESH,
        )
        offers, order_of_offers = advertisements
        self.advertisements = Announcer(
            offers,
            order_of_offers.covers,
            announce=Advertise,
            cancel=partial(Unadvertise, exact=is_exact),
            is_exact=is_exact,
            merge=None if asked.closed else offered_older,
            names_origins=side is Side.MESH,
        )
        # What concerns it and has not been counted into its demands yet.
        self.uncounted_filters: dict[Filter, None] = {}
        self.uncounted_advertisements: dict[Advertisement, None] = {}

    def tell_in_parts(self, part_max: int | None) -> None:
        """Tell it no more than this at once; who cancels by covering hears all."""
        if self.is_exact:
            for announcer in self.announcers:
                if announcer.is_unmerged:
                    announcer.tell_in_parts(part_max)

    @property
    def announcers(self) -> tuple[Announcer[Filter], Announcer[Advertisement]]:
        """What keeps it informed."""
        return self.filters, self.advertisements

    @property
    def is_counting(self) -> bool:
        """Whether its demands are not complete, and nothing is told yet."""
        return bool(self.uncounted_filters or self.uncounted_advertisements)

    @property
    def is_behind(self) -> bool:
        """Whether it is not told everything yet."""
        return self.is_counting or any(a.is_behind for a in self.announcers)

    @property
    def is_level(self) -> bool:
        """Whether it holds what it was told, and no less."""
        return not self.is_counting and all(a.is_level for a in self.announcers)
