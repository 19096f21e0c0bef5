"""The flights: as pandas reads them, and nothing is lost or invented."""

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import Any

import pandas as pd
import pytest

from siena.errors import SienaError
from siena.extras import how_to_get
from siena.model import Value
from siena.sim import flights as loader
from siena.sim.flights import flights

# The first cancelled flight is the 839th.
SOME = 2_000


def as_pandas_reads_it(row: dict[str, Any]) -> Iterator[tuple[str, Value]]:
    """The same, the long way: what has gaps is a float there, and a gap is NaN."""
    for name, value in row.items():
        if name == "time_hour":
            yield name, pd.Timestamp(value).to_pydatetime()
        elif isinstance(value, str):
            yield name, value
        elif not pd.isna(value):
            assert value == int(value), name
            yield name, int(value)


def test_a_flight_is_what_pandas_reads() -> None:
    frame = pd.read_csv(loader._data_set(), nrows=SOME)
    assert frame["dep_delay"].dtype == float
    expected = [dict(as_pandas_reads_it(row)) for row in frame.to_dict("records")]
    found = [dict(flight) for flight in islice(flights(), SOME)]
    assert found == expected
    kinds = [{n: type(v) for n, v in flight.items()} for flight in found]
    # 7.0 would be equal to 7, and is another value.
    assert kinds == [{n: type(v) for n, v in row.items()} | TIME for row in expected]


# Of pandas, a subclass.
TIME = {"time_hour": datetime}


def test_what_is_not_known_is_absent() -> None:
    cancelled = next(flight for flight in flights() if "dep_time" not in flight)
    assert {"dep_delay", "arr_time", "arr_delay", "air_time"}.isdisjoint(cancelled)
    assert (cancelled["carrier"], cancelled["flight"]) == ("EV", 4308)


def test_without_the_data_set_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loader, "find_spec", lambda _name: None)
    with pytest.raises(SienaError, match=re.escape(how_to_get("demo"))):
        next(flights())


@pytest.mark.slow
def test_all_flights_are_there() -> None:
    count = cancelled = 0
    for flight in flights():
        count += 1
        cancelled += "dep_time" not in flight
    assert (count, cancelled) == (336_776, 8_255)
