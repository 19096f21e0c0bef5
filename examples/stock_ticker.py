"""A stock ticker: quotes go out once, and everybody gets their own slice of them.

python examples/stock_ticker.py
"""

import siena
from siena import testing

QUOTES = [
    {"symbol": "MSFT", "exchange": "NASDAQ", "prior": 76.0, "change": 1.25},
    {"symbol": "DIS", "exchange": "NYSE", "prior": 105.25, "change": -4.0},
    {"symbol": "NSCP", "exchange": "NASDAQ", "prior": 19.5, "change": 0.75},
    {"symbol": "DIS", "exchange": "NYSE", "prior": 101.25, "change": 2.0},
    {"symbol": "MSFT", "exchange": "NASDAQ", "prior": 77.25, "change": -0.5},
]
WANTED = {
    "falling": "change < 0",
    "Disney": "symbol = DIS",
    "small ones of NASDAQ": "exchange = NASDAQ and prior < 50",
    "MSFT rises, then NSCP": "symbol = MSFT and change > 0 "
    "then symbol = NSCP and change > 0",
}

with testing.broker() as broker, siena.connect(broker.url) as client:
    subscriptions = {
        name: client.subscribe(text).settled() for name, text in WANTED.items()
    }
    client.publish_many(QUOTES)
    client.flush()  # the broker has them all; what is for us comes before its answer
    for name, subscription in subscriptions.items():
        print(f"{name}:")
        for found in subscription.get_many(timeout_s=10):
            quotes = found if isinstance(found, tuple) else (found,)
            print("  ", *(f"{q['symbol']} {q['change']:+}" for q in quotes))
