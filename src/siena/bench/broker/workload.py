"""What ``siena bench broker`` publishes and subscribes to, and who must get what.

A pool of notifications is drawn once and published round and round; each carries its
publisher, its running number and the time at which it was to be sent.  Interests are
*band-shaped*: ``symbol = X and price > Y and price < Y2 and change < Z``, with symbols
as popular as ``1/rank`` and bands as wide as it takes to be met M times on average.
Who gets what is worked out here by comparing numbers, without any code of the broker.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from siena.bench.broker.kernels.stamping import BASE
from siena.block import encode_in_order
from siena.errors import SienaError
from siena.protocol.limits import SUBSCRIPTIONS_MAX

SYMBOLS_MAX = 1_000
# Notifications in the pool: as many as a generator can compare without waiting for its
# memory.
POOL = 4_096
CONNECTIONS_MAX = 20_000
# Comparisons made at a time.
COMPARED_AT_ONCE = 1 << 22

LOWEST, HIGHEST = 1.0, 1_000.0  # prices
CHANGE = 5.0  # changes are between minus and plus this
EXCHANGES = ("NYSE", "NASD", "LOND", "TOKY")
# A notification's stamps: running numbers that always take nine bytes.
_STAMP = BASE


class Interests(NamedTuple):
    """Columns: what each interest asks for."""

    symbol: npt.NDArray[np.int64]
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    below: npt.NDArray[np.float64]

    def text(self, row: int) -> str:
        """One of them, in the language."""
        return (
            f"symbol = {symbol_name(int(self.symbol[row]))} "
            f"and price > {float(self.low[row])!r} "
            f"and price < {float(self.high[row])!r} "
            f"and change < {float(self.below[row])!r}"
        )


class Due(NamedTuple):
    """What one connection must get: positions of the pool, ascending.

    The subscriptions that want ``places[i]`` are
    ``wanted[wanted_from[i] : wanted_from[i + 1]]``, ascending.
    """

    places: npt.NDArray[np.int32]
    wanted_from: npt.NDArray[np.int32]
    wanted: npt.NDArray[np.uint32]

    def first(
        self, begun: npt.NDArray[np.int64], pool: int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """What comes first of publishers that begin at these positions.

        Which of the places it is, and the number of the publication.

        >>> due = Due(np.array([2, 5]), np.zeros(3, np.int32), np.zeros(0, np.uint32))
        >>> cursors, numbers = due.first(np.array([0, 3, 6]), pool=8)
        >>> cursors.tolist(), numbers.tolist()
        ([0, 1, 0], [2, 2, 4])
        """
        if len(self.places) == 0:
            return np.zeros(len(begun), np.int64), np.full(len(begun), NEVER, np.int64)
        cursors = np.searchsorted(self.places, begun) % len(self.places)
        numbers = (self.places[cursors] - begun) % pool
        return cursors.astype(np.int64), numbers.astype(np.int64)


class Bands(NamedTuple):
    """The interests of one connection, by symbol: what a client filters with."""

    first: npt.NDArray[np.int64]  # of each symbol, and behind the last
    low: npt.NDArray[np.float64]
    high: npt.NDArray[np.float64]
    below: npt.NDArray[np.float64]
    number: npt.NDArray[np.uint32]


# Further than any run goes.
NEVER = 1 << 62


@dataclass(frozen=True)
class Workload:
    """Notifications, interests, and which belong together; the same for a seed.

    >>> workload = Workload(interests=100, connections=10, matches=1)
    >>> workload.drawn.text(0)
    'symbol = S0038 and price > 276.61 and price < 797.38 and change < 1.215'
    >>> len(workload.blocks[0]), round(float(np.mean(workload.match_counts)))
    (151, 1)
    """

    interests: int = 100
    connections: int = 10
    matches: float = 1.0
    seed: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.connections <= min(self.interests, CONNECTIONS_MAX):
            raise SienaError(
                f"{self.interests} interests on {self.connections} connections: each "
                f"has one or more, and {CONNECTIONS_MAX} connections are the most"
            )
        if not 0 < self.matches <= self.interests:
            raise SienaError(
                f"{self.matches:g} matches of {self.interests} interests: "
                "more than none, and not more than there are"
            )
        if self.interests > SUBSCRIPTIONS_MAX * self.connections:
            raise SienaError(
                f"a connection has at most {SUBSCRIPTIONS_MAX} subscriptions",
                hint="ask for more connections",
            )

    # --- Symbols ---------------------------------------------------------------

    @cached_property
    def symbols(self) -> int:
        """How many symbols there are: a thousand, or as many as leave M reachable.

        One interest is met by every notification only if all are about one symbol.
        """
        for symbols in range(SYMBOLS_MAX, 1, -1):
            # Interests that are met by every notification of their symbol would meet
            # so many; a third more, so that bands need not be of full width.
            if self.interests * float(np.sum(popularity(symbols) ** 2)) > (
                4 / 3 * self.matches
            ):
                return symbols
        return 1

    # --- Notifications ---------------------------------------------------------

    @property
    def pool(self) -> int:
        """How many notifications there are."""
        return POOL

    @cached_property
    def symbol(self) -> npt.NDArray[np.int64]:
        """The symbol of each notification."""
        return self._random("symbols").choice(
            self.symbols, self.pool, p=popularity(self.symbols)
        )

    @cached_property
    def price(self) -> npt.NDArray[np.float64]:
        """The price of each."""
        drawn = self._random("prices").uniform(LOWEST + 0.01, HIGHEST - 0.01, self.pool)
        return np.round(drawn, 2)

    @cached_property
    def change(self) -> npt.NDArray[np.float64]:
        """The change of each."""
        drawn = self._random("changes").uniform(
            -CHANGE + 0.001, CHANGE - 0.001, self.pool
        )
        return np.round(drawn, 3)

    @cached_property
    def blocks(self) -> list[bytes]:
        """The notifications as blocks of one size, ten attributes each.

        The running number is eight bytes that end 14 bytes before the end, and the
        time eight bytes at the end.
        """
        volumes = self._random("volumes").integers(1 << 20, 1 << 31, self.pool).tolist()
        return [
            encode_in_order(
                {
                    "class": "finance/exchanges",
                    "exchange": EXCHANGES[at % len(EXCHANGES)],
                    "symbol": symbol_name(symbol),
                    "price": price,
                    "change": change,
                    "volume": volume,
                    "bid": price - 0.01,
                    "ask": price + 0.01,
                    "number": _STAMP,
                    "sent": _STAMP,
                }
            )
            for at, (symbol, price, change, volume) in enumerate(
                zip(
                    self.symbol.tolist(),
                    self.price.tolist(),
                    self.change.tolist(),
                    volumes,
                    strict=True,
                )
            )
        ]

    # --- Interests -------------------------------------------------------------

    @cached_property
    def drawn(self) -> Interests:
        """The interests; number ``i`` belongs to connection ``i % connections``."""
        random = self._random("interests")
        chance = popularity(self.symbols)
        symbol = random.choice(self.symbols, self.interests, p=chance)
        # The share of its symbol's notifications that each must select.
        share = min(1.0, self.matches / float(np.sum(chance[symbol])))
        below = np.maximum(random.uniform(0.3, 1.0, self.interests), share)
        width = np.minimum(share / below, 1.0)
        low = np.round(
            LOWEST + (HIGHEST - LOWEST) * (1 - width) * _even(symbol, random), 2
        )
        return Interests(
            symbol,
            low,
            np.round(low + (HIGHEST - LOWEST) * width, 2),
            np.round(-CHANGE + 2 * CHANGE * below, 3),
        )

    def rows(self, connection: int) -> npt.NDArray[np.int64]:
        """The interests of a connection; the first has number 1 there, and so on."""
        return np.arange(connection, self.interests, self.connections)

    def topics(self, connection: int) -> list[int]:
        """The symbols that a connection asks for."""
        topics: list[int] = np.unique(self.drawn.symbol[self.rows(connection)]).tolist()
        return topics

    def bands(self, connection: int) -> Bands:
        """The interests of a connection, by symbol and number."""
        rows = self.rows(connection)
        rows = rows[np.argsort(self.drawn.symbol[rows], kind="stable")]
        drawn = self.drawn
        symbols = np.arange(self.symbols + 1)
        return Bands(
            np.searchsorted(drawn.symbol[rows], symbols).astype(np.int64),
            drawn.low[rows],
            drawn.high[rows],
            drawn.below[rows],
            (rows // self.connections + 1).astype(np.uint32),
        )

    # --- Who gets what ---------------------------------------------------------

    @cached_property
    def _pairs(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Notification and interest of every match, by connection, then as they are."""
        parts = []
        for symbol in range(self.symbols):
            messages = np.flatnonzero(self.symbol == symbol)
            rows = np.flatnonzero(self.drawn.symbol == symbol)
            at_once = max(1, COMPARED_AT_ONCE // max(1, len(rows)))
            for start in range(0, len(messages), at_once):
                some = messages[start : start + at_once]
                price, change = self.price[some, None], self.change[some, None]
                met = (price > self.drawn.low[rows]) & (price < self.drawn.high[rows])
                met &= change < self.drawn.below[rows]
                found, which = np.nonzero(met)
                parts.append(np.stack([some[found], rows[which]]))
        message, row = np.concatenate(parts, axis=1)
        order = np.lexsort((row, message, row % self.connections))
        return message[order], row[order]

    @cached_property
    def match_counts(self) -> npt.NDArray[np.int64]:
        """How many interests each notification of the pool meets."""
        return np.bincount(self._pairs[0], minlength=self.pool)

    def due(self, connection: int, *, by_topic: bool) -> Due:
        """What a connection must get, and for which of its subscriptions.

        By topic it gets all that is about one of its symbols.
        """
        message, row = self._pairs
        first, last = self._bounds[connection : connection + 2]
        message, row = message[first:last], row[first:last]
        places = np.unique(message)
        if by_topic:
            places = np.flatnonzero(np.isin(self.symbol, self.topics(connection)))
        wanted_from = np.append(np.searchsorted(message, places), len(message))
        return Due(
            places.astype(np.int32),
            wanted_from.astype(np.int32),
            (row // self.connections + 1).astype(np.uint32),
        )

    @cached_property
    def _bounds(self) -> npt.NDArray[np.int64]:
        connection = self._pairs[1] % self.connections
        return np.searchsorted(connection, np.arange(self.connections + 1))

    def _random(self, use: str) -> np.random.Generator:
        # Each column has a source of its own, so that no draw moves another.
        return np.random.default_rng([self.seed, *use.encode()])


def symbol_name(symbol: int) -> str:
    """How a symbol is written: always five letters.

    >>> symbol_name(7)
    'S0007'
    """
    return f"S{symbol:04}"


def popularity(symbols: int) -> npt.NDArray[np.float64]:
    """The chance of each symbol: Zipf, ``1/rank``."""
    weights = 1 / np.arange(1, symbols + 1)
    return np.asarray(weights / weights.sum(), np.float64)


def _even(
    symbol: npt.NDArray[np.int64], random: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Places between 0 and 1, spread evenly over the interests of each symbol."""
    order = np.argsort(symbol, kind="stable")
    counts = np.bincount(symbol)
    rank = np.empty(len(symbol), np.int64)
    rank[order] = np.arange(len(symbol)) - np.repeat(np.cumsum(counts) - counts, counts)
    places = rank + random.uniform(0, 1, len(symbol))
    return np.asarray(places / counts[symbol], np.float64)
