"""Quotes: what is published, and as what it must arrive."""

from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from siena.block import encode_in_order
from siena.model import Value

# Prices begin here, and rise by one with each quote, in cycles.
PRICE_MIN, PRICES = 100.25, 64


class Quote(NamedTuple):
    """One notification: its number, its price, and its attributes by name, in order."""

    number: int
    price: float
    attributes: dict[str, Value]

    @property
    def block(self) -> bytes:
        """As it travels."""
        return encode_in_order(self.attributes)

    @property
    def json(self) -> bytes:
        """As it is written for a person."""
        return msgspec.json.encode(self.attributes)


def quotes(count: int, first: int = 0) -> Iterator[Quote]:
    """So many of them, no two alike.

    >>> [quote] = quotes(1)
    >>> quote.json
    b'{"change":-1.5,"exchange":"NYSE","price":100.25,"symbol":"DIS","volume":0}'
    """
    for number in range(first, first + count):
        price = PRICE_MIN + number % PRICES
        yield Quote(
            number,
            price,
            {
                "change": -1.5,
                "exchange": "NYSE",
                "price": price,
                "symbol": "DIS",
                "volume": number,
            },
        )
