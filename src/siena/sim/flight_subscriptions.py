"""What people might want to know of flights: subscriptions drawn from a seed.

They come from fourteen kinds of people, from the traveller on one flight to the analyst
of long distances.  Carriers and airports are as popular as they are in the data set,
which is therefore not needed here; :mod:`siena.sim.flights` has it.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from random import Random
from typing import NamedTuple

from siena.model.spelling import spell


class FlightSubscription(NamedTuple):
    """Who wants to know, and what, as a text of the language."""

    subscriber: str
    filter: str


def flight_subscriptions(count: int, seed: int = 1) -> Iterator[FlightSubscription]:
    """The first ``count`` subscriptions, the same for the same seed.

    >>> for subscription in flight_subscriptions(4, seed=5):
    ...     print(*subscription, sep=": ")
    p1: carrier = UA and integer flight = 7 and dep_delay > 60
    p2: time_hour >= 2013-06-17T22:00:00Z and time_hour < 2013-06-18T10:00:00Z
        and dest in (BTV, SEA, TYS) and not carrier in ("9E", B6)
    p3: carrier = EV and dest = DEN and (dep_delay > 120 or arr_delay > 300)
    p4: carrier = B6 and dest in (ABQ, ACK) and (dep_delay > 360 or arr_delay > 180)

    Two of three are by a new client; the others add to what one wanted before.
    Of ten thousand, about five want a flight, and few flights are wanted by none.
    """
    random = Random(f"{seed}/flight subscriptions")
    people = 0
    for _ in range(count):
        if people == 0 or random.random() < 2 / 3:
            people += 1
            subscriber = people
        else:
            subscriber = random.randint(1, people)
        (wish,) = random.choices(_WISHES, cum_weights=_WEIGHTS)
        yield FlightSubscription(f"p{subscriber}", wish(_Draw(random)))


# --- The world, as the data set has it --------------------------------------------

# Flights in the year, in hundreds and rounded up.
CARRIERS = {"UA": 587, "B6": 547, "EV": 542, "DL": 482, "AA": 328, "MQ": 264, "US": 206,
            "9E": 185, "WN": 123, "VX": 52, "FL": 33, "AS": 8, "F9": 7, "YV": 7,
            "HA": 4, "OO": 1}  # fmt: skip
ORIGINS = ("EWR", "JFK", "LGA")
_BY_RANK = """
ORD ATL LAX BOS MCO CLT SFO FLL MIA DCA DTW DFW RDU TPA DEN IAH MSP PBI BNA LAS SJU IAD
BUF PHX CLE STL MDW CVG SEA MSY RSW CMH CHS PIT MKE SAN JAX BTV SLC RIC AUS ROC PWM HOU
IND MCI MEM BWI SYR PHL GSO ORF DAY PDX SRQ SDF XNA MHT BQN CAK GSP OMA SNA SAV GRR HNL
SAT LGB TYS MSN DSM STT BDL ALB PVD BGR BUR PSE OKC SJC TUL OAK BHM SMF AVL ACK ABQ MVY
EGE CRW CAE ILM TVC MYR CHO BZN JAC PSP EYW HDN MTJ SBN ANC LEX
"""
# The most frequent first; the weight is 1 / (rank + 10), close to the shares of 2013.
DESTINATIONS = tuple(_BY_RANK.split())
# How the fleets end their registrations.
FLEETS = ("JB", "AA", "UA", "MQ", "UW", "DL", "NB", "XJ", "WN", "EV", "US", "NW", "VA")
FIRST_HOUR = datetime(2013, 1, 1, 10, tzinfo=UTC)
HOURS = 365 * 24


class _Draw:
    """Draws the parts of a wish, each as a text of the language."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def carrier(self) -> str:
        (code,) = self.random.choices(tuple(CARRIERS), tuple(CARRIERS.values()))
        return spell(code)

    def origin(self) -> str:
        return self.random.choice(ORIGINS)

    def destinations(self, most: int = 1) -> str:
        """A condition on one or several."""
        chosen = self.random.choices(
            DESTINATIONS, cum_weights=_POPULARITY, k=self.random.randint(1, most)
        )
        places = sorted(set(chosen))
        if len(places) == 1:
            return f"dest = {places[0]}"
        return f"dest in ({', '.join(places)})"

    def number(self) -> int:
        """A flight number; low ones are common, and there are thousands."""
        return int(self.random.paretovariate(0.35)) % 6000 + 1

    def delay(self) -> int:
        """Minutes that a passenger would call a delay, mostly round."""
        return self.random.choice((5, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 300))

    def day(self) -> str:
        return f"{self.month()} and day = {self.random.randint(1, 28)}"

    def month(self) -> str:
        return f"month = {self.random.randint(1, 12)}"

    def hours(self) -> str:
        """A part of the day: before, after or between."""
        first = self.random.randint(5, 21)
        return self.random.choice(
            (f"hour < {first}", f"hour >= {first}", f"hour = {first}")
        )

    def period(self) -> str:
        """Some hours or days of the year, as times."""
        start = FIRST_HOUR + timedelta(hours=self.random.randrange(HOURS))
        end = start + timedelta(hours=self.random.choice((3, 6, 12, 24, 48, 168)))
        return f"time_hour >= {spell(start)} and time_hour < {spell(end)}"

    def distances(self) -> str:
        """A range of miles."""
        least = self.random.randrange(100, 2600, 20)
        most = least + self.random.choice((20, 50, 100, 200))
        return f"distance >= {least} and distance < {most}"

    def registration(self) -> str:
        """The beginning of one."""
        digits = "".join(self.random.choices("123456789", k=self.random.randint(2, 3)))
        return "N" + digits + self.random.choice(("", "", "", "U", "J", "D", "M"))

    def fleet(self) -> str:
        return self.random.choice(FLEETS)


# --- Who wants what ---------------------------------------------------------------

Wish = Callable[[_Draw], str]


def _traveller(draw: _Draw) -> str:
    return f"carrier = {draw.carrier()} and flight = {draw.number()} and {draw.day()}"


def _commuter(draw: _Draw) -> str:
    return (
        f"carrier = {draw.carrier()} and integer flight = {draw.number()} "
        f"and dep_delay > {draw.delay()}"
    )


def _family(draw: _Draw) -> str:
    return f"origin = {draw.origin()} and {draw.destinations()} and {draw.day()}"


def _host(draw: _Draw) -> str:
    """Waits for a passenger at the other end."""
    return (
        f"{draw.destinations(3)} and {draw.month()} and {draw.hours()} "
        f"and arr_delay > {draw.delay()}"
    )


def _neighbour(draw: _Draw) -> str:
    """Hears what leaves late, at some hours."""
    return (
        f"origin = {draw.origin()} and {draw.hours()} and {draw.hours()} "
        f"and dep_delay >= {draw.delay()}"
    )


def _regular(draw: _Draw) -> str:
    return f"origin = {draw.origin()} and {draw.destinations(4)} and {draw.hours()}"


def _spotter(draw: _Draw) -> str:
    return f"tailnum starts with {draw.registration()}"


def _fleet_manager(draw: _Draw) -> str:
    return (
        f"tailnum ends with {draw.fleet()} and {draw.destinations(2)} "
        f"and air_time > {draw.random.randrange(60, 400, 5)}"
    )


def _mechanic(draw: _Draw) -> str:
    middle = draw.random.choice("123456789") + draw.fleet()[0]
    return f"tailnum contains {spell(middle)} and {draw.period()}"


def _crew(draw: _Draw) -> str:
    return (
        f"carrier = {draw.carrier()} and {draw.destinations(2)} and "
        f"(dep_delay > {draw.delay() + 60} or arr_delay > {draw.delay() + 60})"
    )


def _operations(draw: _Draw) -> str:
    return (
        f"origin = {draw.origin()} and {draw.period()} and dep_delay > {draw.delay()}"
    )


def _analyst(draw: _Draw) -> str:
    return (
        f"{draw.distances()} and carrier != {draw.carrier()} "
        f"and arr_delay <= {-draw.random.randint(20, 60)}"
    )


def _historian(draw: _Draw) -> str:
    return (
        f"{draw.period()} and {draw.destinations(3)} "
        f"and not carrier in ({draw.carrier()}, {draw.carrier()})"
    )


def _planner(draw: _Draw) -> str:
    return (
        f"({draw.destinations()} or {draw.distances()}) and {draw.day()} "
        f"and {draw.hours()}"
    )


# How many of a hundred subscriptions are of each kind of people.
_SHARES: Sequence[tuple[Wish, int]] = (
    (_traveller, 16), (_family, 16), (_commuter, 12), (_host, 12), (_crew, 10),
    (_historian, 8), (_planner, 6), (_operations, 5), (_spotter, 5), (_regular, 3),
    (_fleet_manager, 2), (_mechanic, 2), (_analyst, 2), (_neighbour, 1),
)  # fmt: skip
_WISHES = [wish for wish, _ in _SHARES]
_WEIGHTS = list(accumulate(share for _, share in _SHARES))
_POPULARITY = list(
    accumulate(1 / (rank + 10) for rank in range(1, len(DESTINATIONS) + 1))
)
