"""Deliveries cut out of the streams of several protocols, for a load generator.

What this finds in a buffer is where each delivered notification begins and ends, and
in our own protocol the subscriptions that it is for.  Whatever is no delivery is left
to who asked.  Nothing here is trusted: a length is compared with what has come.
"""

import cython

from siena.protocol.data_frames import MSG_HEAD_BYTES
from siena.protocol.frames import HEAD_BYTES, Op

# The protocols.
SIENA = 0
NATS = 1
REDIS = 2
MQTT = 3
AMQP = 4

# Why cutting ended.
NEEDS_MORE = 0
OTHER = 1
NO_ROOM = 2

# What our own protocol has, as C has it.
_MSG = cython.declare(cython.int, Op.MSG)
_HEAD = cython.declare(cython.Py_ssize_t, HEAD_BYTES)
_MSG_HEAD = cython.declare(cython.Py_ssize_t, MSG_HEAD_BYTES)
# Why cutting ended, inside; a position is never negative.
_MORE = cython.declare(cython.Py_ssize_t, -1)
_OTHER = cython.declare(cython.Py_ssize_t, -2)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def line_end(
    d: cython.const[cython.uchar][::1], at: cython.Py_ssize_t, last: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """The position of the next line feed, or below zero."""
    while at < last:
        if d[at] == 10:
            return at
        at += 1
    return _MORE


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def decimal(
    d: cython.const[cython.uchar][::1], at: cython.Py_ssize_t, end: cython.Py_ssize_t
) -> cython.Py_ssize_t:
    """The number that the digits from here on make; at most nine of them."""
    value: cython.Py_ssize_t = 0
    digits: cython.int = 0
    while at < end and digits < 9 and d[at] >= 48 and d[at] <= 57:
        value = value * 10 + (d[at] - 48)
        at += 1
        digits += 1
    return value


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def siena(
    d: cython.const[cython.uchar][::1],
    at: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    spans: cython.longlong[:, ::1],
    n: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """``u32 length | u8 operation | u16 n | n times u32 | block``, low bytes first."""
    size: cython.Py_ssize_t
    ids: cython.Py_ssize_t
    if last - at < _HEAD:
        return _MORE
    if d[at + 4] != _MSG:
        return _OTHER
    size = d[at] | (d[at + 1] << 8) | (d[at + 2] << 16)
    size |= cython.cast(cython.Py_ssize_t, d[at + 3]) << 24
    if last - at < 4 + size:
        return _MORE
    if size < 3:
        return _OTHER
    ids = d[at + 5] | (d[at + 6] << 8)
    if size < 3 + 4 * ids:
        return _OTHER
    spans[n, 0] = at + _MSG_HEAD + 4 * ids
    spans[n, 1] = at + 4 + size
    spans[n, 2] = at + _MSG_HEAD
    spans[n, 3] = ids
    return at + 4 + size


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def nats(
    d: cython.const[cython.uchar][::1],
    at: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    spans: cython.longlong[:, ::1],
    n: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """``MSG subject number length`` on a line, the block, and a line's end."""
    end: cython.Py_ssize_t
    digit: cython.Py_ssize_t
    size: cython.Py_ssize_t
    if last - at < 4:
        return _MORE
    if d[at] != 77 or d[at + 1] != 83 or d[at + 2] != 71 or d[at + 3] != 32:
        return _OTHER
    end = line_end(d, at, last)
    if end < 0:
        return _MORE
    digit = end - 1
    while d[digit] != 32:
        digit -= 1
    size = decimal(d, digit + 1, end)
    if last - end < size + 3:
        return _MORE
    spans[n, 0] = end + 1
    spans[n, 1] = end + 1 + size
    return end + size + 3


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def redis(
    d: cython.const[cython.uchar][::1],
    at: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    spans: cython.longlong[:, ::1],
    n: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """An array of three strings, ``message``, channel, block, each with its length."""
    end: cython.Py_ssize_t
    size: cython.Py_ssize_t = 0
    i: cython.int
    if last - at < 8:
        return _MORE
    # *3 and $7: a subscription's answer begins with a string of nine.
    if d[at] != 42 or d[at + 1] != 51 or d[at + 4] != 36 or d[at + 5] != 55:
        return _OTHER
    at += 4
    for i in range(3):
        end = line_end(d, at, last)
        if end < 0:
            return _MORE
        if d[at] != 36:
            return _OTHER
        size = decimal(d, at + 1, end)
        at = end + 1 + size + 2
        if at > last:
            return _MORE
    spans[n, 0] = at - 2 - size
    spans[n, 1] = at - 2
    return at


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def mqtt(
    d: cython.const[cython.uchar][::1],
    at: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    spans: cython.longlong[:, ::1],
    n: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """A type, a length of seven bits to the byte, the topic with its length, block."""
    size: cython.Py_ssize_t = 0
    shift: cython.int = 0
    topic: cython.Py_ssize_t
    if last - at < 2:
        return _MORE
    if d[at] != 0x30:  # PUBLISH, at most once
        return _OTHER
    at += 1
    while True:
        if at == last:
            return _MORE
        size |= cython.cast(cython.Py_ssize_t, d[at] & 127) << shift
        shift += 7
        at += 1
        if d[at - 1] < 128:
            break
        if shift == 28:
            return _OTHER
    if last - at < size:
        return _MORE
    if size < 2:
        return _OTHER
    topic = (d[at] << 8) | d[at + 1]
    if size < 2 + topic:
        return _OTHER
    spans[n, 0] = at + 2 + topic
    spans[n, 1] = at + size
    return at + size


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def amqp(
    d: cython.const[cython.uchar][::1],
    at: cython.Py_ssize_t,
    last: cython.Py_ssize_t,
    spans: cython.longlong[:, ::1],
    n: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """Three frames: that something is delivered, its header, and it."""
    size: cython.Py_ssize_t = 0
    i: cython.int
    if last - at < 11:
        return _MORE
    # A method, and it is basic.deliver.
    if d[at] != 1 or d[at + 8] != 60 or d[at + 10] != 60:
        return _OTHER
    for i in range(3):
        if last - at < 7:
            return _MORE
        if d[at] != i + 1:
            return _OTHER
        size = d[at + 6] | (d[at + 5] << 8) | (d[at + 4] << 16)
        size |= cython.cast(cython.Py_ssize_t, d[at + 3]) << 24
        at += 7 + size + 1
        if at > last:
            return _MORE
    spans[n, 0] = at - 1 - size
    spans[n, 1] = at - 1
    return at


def cut(data, start, end, protocol, spans):  # type: ignore[no-untyped-def]
    """Find deliveries that stand in a row.

    Each is a row of ``spans``: where its block begins and ends, where its subscriptions
    begin and how many there are.  Returns the position behind the last, how many, and
    why no more.
    """
    d: cython.const[cython.uchar][::1] = data
    sp: cython.longlong[:, ::1] = spans
    if not cython.compiled:
        d, sp = map(memoryview, (data, spans))
    at: cython.Py_ssize_t = start
    last: cython.Py_ssize_t = end
    room: cython.Py_ssize_t = len(spans)
    which: cython.int = protocol
    n: cython.Py_ssize_t = 0
    after: cython.Py_ssize_t
    why: cython.int = NO_ROOM
    with cython.nogil:
        while n < room:
            if which == 0:
                after = siena(d, at, last, sp, n)
            elif which == 1:
                after = nats(d, at, last, sp, n)
            elif which == 2:
                after = redis(d, at, last, sp, n)
            elif which == 3:
                after = mqtt(d, at, last, sp, n)
            else:
                after = amqp(d, at, last, sp, n)
            if after < 0:
                why = 1 if after == _OTHER else 0
                break
            at = after
            n += 1
    return at, n, why
