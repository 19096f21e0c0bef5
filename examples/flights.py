"""Real flights: who wants which of the first departures of 2013, without a network.

A table holds any number of filters and answers for many notifications at once.  Needs
the flights: ``pip install '.[demo]'`` in a clone.

    python examples/flights.py
"""

from itertools import islice

import siena
from siena.matching.table import ForwardingTable
from siena.sim.flights import flights

WANTED = {
    "delayed": "dep_delay > 15",
    "Florida": "dest in (MIA, FLL, MCO, TPA)",
    "JetBlue, early": "carrier = B6 and arr_delay < 0",
    "not there yet": "dest = HNL",
}

table = ForwardingTable()
for interface, text in enumerate(WANTED.values()):
    predicate = siena.parse_predicate(text)
    for each in getattr(predicate, "filters", (predicate,)):  # `in` is several filters
        table.add(interface, each)

names = list(WANTED)
for flight in islice(flights(), 12):
    who = [names[interface] for interface in sorted(table.match(flight))]
    route = (
        f"{flight['carrier']} {flight['flight']:>4} {flight['origin']}-{flight['dest']}"
    )
    print(f"{route}  {flight['dep_delay']:+3} min  {', '.join(who) or 'nobody'}")
