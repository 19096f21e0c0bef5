"""Every delivery checked: the right one, once, in order, for the right subscriptions.

A connection knows which publications of each publisher it gets, so the next one is
known: a delivery with another number means that one was lost, repeated, overtaken, or
for no subscriber here.
The notification is compared with what was published, byte by byte.  Where the server
knows no content, the client's own filter runs here, as it would in an application.
"""

import cython

# What can be wrong; 0 is nothing.
FINE = 0
WRONG_SIZE = 1
UNKNOWN_PUBLISHER = 2
NOT_DUE = 3
TOO_EARLY = 4
WRONG_CONTENT = 5
WRONG_SUBSCRIPTIONS = 6

# A running number holds its publisher in the bits above these;
# siena.cli.lab.bench_broker counts on it.
NUMBER_BITS = 40
# Latencies are counted by their highest bits: where the first one is, and six more.
LATENCY_COUNTERS = 64 << 6

_BASE = cython.declare(cython.longlong, 1 << 60)
_MASK = cython.declare(cython.ulonglong, (1 << 63) - 1)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def get(d: cython.const[cython.uchar][::1], at: cython.Py_ssize_t) -> cython.longlong:
    """Read 64 bits, the highest first, below :data:`BASE` of the stamping."""
    value: cython.ulonglong = 0
    i: cython.int
    for i in range(8):
        value = (value << 8) | d[at + i]
    return cython.cast(cython.longlong, value & _MASK) - _BASE


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def same(
    d: cython.const[cython.uchar][::1],
    at: cython.Py_ssize_t,
    e: cython.const[cython.uchar][::1],
    other: cython.Py_ssize_t,
    size: cython.Py_ssize_t,
) -> cython.bint:
    """Whether so many bytes are the same here and there."""
    i: cython.Py_ssize_t
    if cython.compiled:
        return memcmp(cython.address(d[at]), cython.address(e[other]), size) == 0
    else:
        for i in range(size):
            if d[at + i] != e[other + i]:
                return False
        return True


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def counter(nanoseconds: cython.longlong) -> cython.int:
    """Which counter a latency belongs to."""
    shift: cython.int = 0
    nanoseconds = max(nanoseconds, 0)
    while (nanoseconds >> shift) >= 8192:  # six steps at once, while there are six
        shift += 6
    while (nanoseconds >> shift) >= 128:
        shift += 1
    return cython.cast(cython.int, shift * 64 + (nanoseconds >> shift))


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def listed(
    d: cython.const[cython.uchar][::1],
    at: cython.Py_ssize_t,
    count: cython.longlong,
    wanted: cython.const[cython.uint][::1],
    first: cython.longlong,
    last: cython.longlong,
    seen: cython.longlong[::1],
    serial: cython.longlong,
) -> cython.bint:
    """Whether the subscriptions that are listed are those wanted, each once."""
    i: cython.longlong
    j: cython.longlong
    number: cython.uint
    if count != last - first:
        return False
    for i in range(count):
        number = d[at] | (d[at + 1] << 8) | (d[at + 2] << 16)
        number |= cython.cast(cython.uint, d[at + 3]) << 24
        at += 4
        j = first
        while j < last and wanted[j] != number:
            j += 1
        if j == last or seen[number] == serial:
            return False
        seen[number] = serial
    return True


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def filtered(
    price: cython.double,
    change: cython.double,
    low: cython.const[cython.double][::1],
    high: cython.const[cython.double][::1],
    below: cython.const[cython.double][::1],
    numbers: cython.const[cython.uint][::1],
    start: cython.longlong,
    end: cython.longlong,
    wanted: cython.const[cython.uint][::1],
    first: cython.longlong,
    last: cython.longlong,
) -> cython.bint:
    """Whether a client's own filter finds the subscriptions that are wanted."""
    i: cython.longlong
    for i in range(start, end):
        if price > low[i] and price < high[i] and change < below[i]:
            if first == last or wanted[first] != numbers[i]:
                return False
            first += 1
    return first == last


def check(  # type: ignore[no-untyped-def]
    data, spans, count, now, pool, stamps, due, state, columns, bands, latencies
):
    """Check deliveries; how many were right before one was wrong, and what is wrong.

    ``spans`` is what :mod:`cutting` found.  ``pool`` has the blocks, ``stamps`` their
    size, where the running number and where the time is.  ``due`` is what this
    connection must get: the positions, ascending, and for each its subscriptions.
    ``state`` is what comes next of each publisher, its number and its place in ``due``;
    when each subscription was last seen; and totals: serial number, deliveries,
    matches.
    ``columns`` are symbol, price and change by position, ``bands`` the connection's
    interests by symbol, or nothing if the server lists the subscriptions itself.
    """
    d: cython.const[cython.uchar][::1] = data
    sp: cython.const[cython.longlong][:, ::1] = spans
    e: cython.const[cython.uchar][::1] = pool
    places: cython.const[cython.int][::1] = due[0]
    wanted_from: cython.const[cython.int][::1] = due[1]
    wanted: cython.const[cython.uint][::1] = due[2]
    nexts: cython.longlong[::1] = state[0]
    cursors: cython.longlong[::1] = state[1]
    seen: cython.longlong[::1] = state[2]
    totals: cython.longlong[::1] = state[3]
    symbols: cython.const[cython.longlong][::1] = columns[0]
    prices: cython.const[cython.double][::1] = columns[1]
    changes: cython.const[cython.double][::1] = columns[2]
    lat: cython.longlong[::1] = latencies
    lists: cython.bint = bands is None
    band = (
        ((columns[0], columns[1], columns[1], columns[1], due[2])) if lists else bands
    )
    of_symbol: cython.const[cython.longlong][::1] = band[0]
    low: cython.const[cython.double][::1] = band[1]
    high: cython.const[cython.double][::1] = band[2]
    below: cython.const[cython.double][::1] = band[3]
    numbers: cython.const[cython.uint][::1] = band[4]
    if not cython.compiled:
        d, sp, e = map(memoryview, (data, spans, pool))
        places, wanted_from, wanted = map(memoryview, due)
        nexts, cursors, seen, totals = map(memoryview, state)
        symbols, prices, changes = map(memoryview, columns)
        lat = memoryview(latencies)
        of_symbol, low, high, below, numbers = map(memoryview, band)
    size: cython.Py_ssize_t = stamps[0]
    number_at: cython.Py_ssize_t = stamps[1]
    sent_at: cython.Py_ssize_t = stamps[2]
    publishers: cython.longlong = len(state[0])
    positions: cython.longlong = len(columns[0])
    entries: cython.longlong = len(due[0])
    total: cython.Py_ssize_t = count
    clock: cython.longlong = now
    i: cython.Py_ssize_t
    at: cython.Py_ssize_t
    number: cython.longlong
    publisher: cython.longlong
    place: cython.longlong
    cursor: cython.longlong
    right: cython.bint
    wrong: cython.int = 0
    done: cython.Py_ssize_t = 0
    with cython.nogil:
        for i in range(total):
            at = sp[i, 0]
            if sp[i, 1] - at != size:
                wrong = 1
                break
            number = get(d, at + number_at)
            publisher = number >> 40
            number = number & ((cython.cast(cython.longlong, 1) << 40) - 1)
            if publisher < 0 or publisher >= publishers:
                wrong = 2
                break
            if number != nexts[publisher]:
                wrong = 3 if number < nexts[publisher] else 4
                break
            cursor = cursors[publisher]
            place = places[cursor]
            if not (
                same(d, at, e, place * size, number_at)
                and same(
                    d,
                    at + number_at + 8,
                    e,
                    place * size + number_at + 8,
                    sent_at - number_at - 8,
                )
            ):
                wrong = 5
                break
            totals[0] += 1
            if lists:
                right = listed(
                    d, sp[i, 2], sp[i, 3], wanted, wanted_from[cursor],
                    wanted_from[cursor + 1], seen, totals[0],
                )  # fmt: skip
            else:
                right = filtered(
                    prices[place], changes[place], low, high, below, numbers,
                    of_symbol[symbols[place]], of_symbol[symbols[place] + 1],
                    wanted, wanted_from[cursor], wanted_from[cursor + 1],
                )  # fmt: skip
            if not right:
                wrong = 6
                break
            totals[1] += 1
            totals[2] += wanted_from[cursor + 1] - wanted_from[cursor]
            cursor += 1
            if cursor == entries:  # and round again
                cursor = 0
                place -= positions
            cursors[publisher] = cursor
            nexts[publisher] = number + places[cursor] - place
            lat[counter(clock - get(d, at + sent_at))] += 1
            done += 1
    return done, wrong
