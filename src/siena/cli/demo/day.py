"""The demonstration's world: a day of flights, five brokers, and who wants what."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random

from siena.lang.parser import parse_pattern
from siena.matching.pattern import PatternMatcher
from siena.model import Notification
from siena.model.spelling import spell
from siena.sim.flight_subscriptions import (
    CARRIERS,
    DESTINATIONS,
    flight_subscriptions,
)
from siena.sim.flights import flights_of

# A snow storm: the day of 2013 with the longest delays.
MONTH, DAY = 3, 8
DATE = "8 March 2013"

# The three airports publish what leaves there; those who want to know are anywhere.
AIRPORTS = ("ewr", "jfk", "lga")
HUB, CITY = "hub", "city"
BROKERS = (HUB, *AIRPORTS, CITY)
LINKS = tuple((name, HUB) for name in BROKERS if name != HUB)

# Spark gets so many subscriptions; those of the travellers live in the network, too.
MANY = 100_000
TRAVELLERS = 2_000
SEED = 1
# Minutes of delay from which on a traveller wants to know.
PATIENCE = range(15, 181, 15)


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A client with a name, in the words that the terminal shows."""

    name: str
    broker: str
    interest: str


SUBSCRIBERS = (
    Subscriber("the tower at JFK", "jfk", "origin = JFK and dep_delay > 180"),
    Subscriber("neighbours of Newark", "ewr", "origin = EWR and dep_time < 600"),
    Subscriber("to Chicago", CITY, "dest = ORD and carrier = UA and dep_delay > 60"),
    Subscriber("in California", CITY, "dest in (LAX, SFO) and arr_delay > 120"),
    Subscriber("a plane spotter", "lga", "tailnum *< JB and distance > 2000"),
    Subscriber("crew planning", HUB, "carrier starts with A and not dep_delay <= 240"),
)  # fmt: skip
# A sequence, found inside the network: its two steps come from one airport, so that
# their order is that in which they were published.
PATTERN = Subscriber(
    "the desk for Boston",
    CITY,
    "origin = JFK and dest = BOS and dep_delay > 60 "
    "then origin = JFK and dest = BOS and dep_delay > 120",
)


@dataclass(frozen=True, slots=True)
class Wish:
    """A subscription of the crowd, or of one who has a name."""

    number: int
    subscriber: str
    filter: str


def the_day() -> list[Notification]:
    """Its flights; each has a number, ``id``, by which results are compared."""
    found = enumerate(flights_of(MONTH, DAY))
    return [Notification({**flight, "id": number}) for number, flight in found]


def live_wishes(travellers: int = TRAVELLERS) -> list[Wish]:
    """Those that are in the network: who has a name, and then the travellers."""
    random = Random(f"{SEED}/travellers")
    named = [Wish(n, each.name, each.interest) for n, each in enumerate(SUBSCRIBERS)]
    weights = [1 / (rank + 10) for rank in range(len(DESTINATIONS))]
    destinations = random.choices(DESTINATIONS, weights, k=travellers)
    return named + [
        Wish(number, f"traveller {number}", _travels(random, dest))
        for number, dest in enumerate(destinations, start=len(named))
    ]


def plain_wishes(travellers: int = TRAVELLERS) -> list[Wish]:
    """As many as live in the network, but people of all kinds in the travellers' place.

    The travellers' thresholds nest, which suits covering.  What it saves of these is
    told beside it, for it is much less.
    """
    named = live_wishes(0)
    drawn = flight_subscriptions(travellers, SEED)
    return named + [
        Wish(number, each.subscriber, each.filter)
        for number, each in enumerate(drawn, start=len(named))
    ]


def wishes(count: int = MANY, travellers: int = TRAVELLERS) -> Iterator[Wish]:
    """Those in the network, with the same numbers, and people of all kinds besides."""
    live = live_wishes(travellers)
    yield from live
    drawn = flight_subscriptions(count - len(live), SEED)
    for number, each in enumerate(drawn, start=len(live)):
        yield Wish(number, each.subscriber, each.filter)


def _travels(random: Random, dest: str) -> str:
    late = f"dest = {dest} and dep_delay > {random.choice(PATIENCE)}"
    if random.random() < 0.5:
        return late
    (carrier,) = random.choices([*CARRIERS], [*CARRIERS.values()])
    return f"carrier = {spell(carrier)} and {late}"


def broker_of(wish: Wish) -> str:
    """Where it is subscribed: travellers are in the city."""
    is_named = wish.number < len(SUBSCRIBERS)
    return SUBSCRIBERS[wish.number].broker if is_named else CITY


def sequences_of(day: Iterable[Notification]) -> list[tuple[int, ...]]:
    """What the pattern finds, by a plain matcher over the day: numbers of flights."""
    matcher = PatternMatcher(parse_pattern(PATTERN.interest))
    found = []
    for time, flight in enumerate(day):
        if sequence := matcher.offer(flight, time):
            found.append(tuple(number_of(each) for each in sequence))
    return found


def number_of(flight: Notification) -> int:
    """The number that :func:`the_day` has given it."""
    number = flight["id"]
    assert isinstance(number, int)
    return number
