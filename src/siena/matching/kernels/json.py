"""Plain JSON to blocks: objects of strings, numbers, booleans and times, as msgpack.

Only what no reader could read in another way is read here; whatever is not so plain is
left to the language's own reader, and this says which texts those are.  Plain are
strings without escapes and control characters, integers of up to 18 digits, floats that
one exact division or multiplication gives, ``true``, ``false``, ``null``, and times in
whole seconds from 1970 to 2105, as we print them.

What is written is what :func:`siena.block.encode_in_order` writes, byte for byte.
Names that occur twice are written twice, for the engine to find, but those whose value
is null, which would not be seen there.

Why one module: Cython inlines calls within a module, and not between two.
"""

import struct

import cython

from siena.model.limits import ATTRIBUTES_MAX, NAME_CHARACTERS_MAX

if not cython.compiled:  # otherwise in json.pxd
    from siena.matching.kernels.inline.octets import is_utf8

NAMES_MAX = cython.declare(cython.int, ATTRIBUTES_MAX)
NAME_MAX = cython.declare(cython.int, NAME_CHARACTERS_MAX)
# Digits that fit in 64 bits whatever they are.
DIGITS_MAX = cython.declare(cython.int, 18)
# Below this every integer is a double, and so is every power of ten up to 10^22; one
# operation on two of them rounds once, which is what reading a float means.
EXACT = cython.declare(cython.longlong, 2**53)
POWER_MAX = cython.declare(cython.int, 22)
# What does not fit in 32 bits: the seconds of a time, and some integers.
WORD = cython.declare(cython.longlong, 2**32)

QUOTE = cython.declare(cython.int, 0x22)
BACKSLASH = cython.declare(cython.int, 0x5C)


@cython.cfunc
@cython.returns(cython.p_uchar)
def octets(view: cython.const[cython.uchar][::1]):  # type: ignore[no-untyped-def]
    """Compiled, the address of the first; plain, a view whose items are Python's."""
    if cython.compiled:
        return cython.cast(cython.p_uchar, cython.address(view[0]))
    else:
        return memoryview(view)


@cython.cfunc
@cython.returns(cython.p_longlong)
def longs(view: cython.longlong[::1]):  # type: ignore[no-untyped-def]
    if cython.compiled:
        return cython.address(view[0])
    else:
        return memoryview(view)


@cython.final
@cython.cclass
class Transcoder:
    """Texts in, blocks out, for one thread at a time.

    ``i`` is the next byte of the text, ``end`` where it ends; ``at`` is the next byte
    of the output.  ``names`` has of each name where it begins and ends in the text,
    with the beginning turned around (``-1 - start``) if its value is null.
    """

    p: cython.p_uchar
    i: cython.Py_ssize_t
    end: cython.Py_ssize_t
    o: cython.p_uchar
    at: cython.Py_ssize_t
    names: cython.p_longlong
    # Of the string that was read last.
    first: cython.Py_ssize_t
    last: cython.Py_ssize_t
    # What must not go while there are pointers into it.
    held: object

    def __init__(self, data, out, names):  # type: ignore[no-untyped-def]
        self.held = (data, out, names)
        self.p = octets(data)
        self.o = octets(out)
        self.names = longs(names)
        self.at = 0

    def run(self, starts, there, ends, plain):  # type: ignore[no-untyped-def]
        """Write a block for each text that is plain; where each block ends.

        Text ``r`` is ``data[starts[r]:starts[r + 1]]``, if ``there[r]``.  ``ends`` has
        one item more than there are texts, the first of which is 0; ``plain[r]`` says
        whether there is a block.
        """
        s: cython.const[cython.longlong][::1] = starts
        t: cython.const[cython.uchar][::1] = there
        e: cython.longlong[::1] = ends
        ok: cython.uchar[::1] = plain
        if not cython.compiled:
            s, t, e, ok = map(memoryview, (starts, there, ends, plain))
        rows: cython.Py_ssize_t = len(there)
        r: cython.Py_ssize_t
        before: cython.Py_ssize_t
        with cython.nogil:
            for r in range(rows):
                before = self.at
                ok[r] = 0
                if t[r]:
                    self.i = s[r]
                    self.end = s[r + 1]
                    if self.text():
                        ok[r] = 1
                    else:
                        self.at = before
                e[r + 1] = self.at

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def text(self) -> cython.bint:
        """One text, which is an object and nothing else."""
        start: cython.Py_ssize_t = self.at
        count: cython.int = 0
        nulls: cython.int = 0
        self.blank()
        if not self.take(0x7B):  # {
            return False
        self.at += 3  # room for the longest header
        self.blank()
        if not self.take(0x7D):  # }
            while True:
                if count + nulls == NAMES_MAX or not self.string():
                    return False
                if self.last - self.first > NAME_MAX:
                    return False
                self.names[2 * (count + nulls)] = self.first
                self.names[2 * (count + nulls) + 1] = self.last
                self.blank()
                if not self.take(0x3A):  # :
                    return False
                self.blank()
                if self.i < self.end and self.p[self.i] == 0x6E:  # n
                    # Nobody will see this name again, and find out that it is none.
                    if not self.null() or not is_utf8(self.p, self.first, self.last):
                        return False
                    self.names[2 * (count + nulls)] = -1 - self.first
                    nulls += 1
                else:
                    self.put_string()
                    if not self.value():
                        return False
                    count += 1
                self.blank()
                if self.take(0x7D):  # }
                    break
                if not self.take(0x2C):  # ,
                    return False
                self.blank()
        self.blank()
        if self.i != self.end or (nulls and self.hidden(count + nulls)):
            return False
        self.header(start, count)
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def header(self, start: cython.Py_ssize_t, count: cython.int) -> cython.void:
        """Write how many attributes there are, and close the gap if that is short."""
        k: cython.Py_ssize_t
        if count >= 16:
            self.o[start] = 0xDE
            self.o[start + 1] = count >> 8
            self.o[start + 2] = count & 0xFF
            return
        self.o[start] = 0x80 | count
        for k in range(start + 3, self.at):
            self.o[k - 2] = self.o[k]
        self.at -= 2

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def hidden(self, count: cython.int) -> cython.bint:
        """Whether a name whose value is null occurs once more."""
        n: cython.int
        m: cython.int
        start: cython.Py_ssize_t
        other: cython.Py_ssize_t
        size: cython.Py_ssize_t
        k: cython.Py_ssize_t
        for n in range(count):
            if self.names[2 * n] >= 0:
                continue
            start = -1 - self.names[2 * n]
            size = self.names[2 * n + 1] - start
            for m in range(count):
                other = self.names[2 * m]
                if other < 0:
                    other = -1 - other
                if m == n or self.names[2 * m + 1] - other != size:
                    continue
                for k in range(size):
                    if self.p[start + k] != self.p[other + k]:
                        break
                else:
                    return True
        return False

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def blank(self) -> cython.void:
        """Pass over spaces, tabs and ends of lines."""
        c: cython.int
        while self.i < self.end:
            c = self.p[self.i]
            if c != 0x20 and c != 0x0A and c != 0x0D and c != 0x09:
                return
            self.i += 1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def take(self, c: cython.int) -> cython.bint:
        """Pass over this character, if it is the next."""
        if self.i < self.end and self.p[self.i] == c:
            self.i += 1
            return True
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def string(self) -> cython.bint:
        """Pass over a string without escapes."""
        c: cython.int
        if not self.take(QUOTE):
            return False
        self.first = self.i
        while self.i < self.end:
            c = self.p[self.i]
            if c == QUOTE:
                self.last = self.i
                self.i += 1
                return True
            # Readers differ about DEL and what else cannot be printed below it.
            if c < 0x20 or c == BACKSLASH or c == 0x7F:
                return False
            self.i += 1
        return False

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def put_string(self) -> cython.void:
        """Write the string that was read last."""
        size: cython.Py_ssize_t = self.last - self.first
        k: cython.Py_ssize_t
        if size < 32:
            self.put(0xA0 | size)
        elif size < 0x100:
            self.put(0xD9)
            self.put(size)
        elif size < 0x10000:
            self.put(0xDA)
            self.put_big(size, 2)
        else:
            self.put(0xDB)
            self.put_big(size, 4)
        for k in range(size):
            self.o[self.at + k] = self.p[self.first + k]
        self.at += size

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def put(self, c: cython.Py_ssize_t) -> cython.void:
        self.o[self.at] = cython.cast(cython.uchar, c)
        self.at += 1

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def put_big(self, value: cython.ulonglong, size: cython.int) -> cython.void:
        """Write a big-endian integer of so many bytes."""
        k: cython.int
        for k in range(size):
            self.o[self.at + k] = cython.cast(
                cython.uchar, (value >> (8 * (size - 1 - k))) & 0xFF
            )
        self.at += size

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def value(self) -> cython.bint:
        """One value, but null."""
        c: cython.int
        if self.i >= self.end:
            return False
        c = self.p[self.i]
        if c == QUOTE:
            if not self.string():
                return False
            self.put_string()
            return True
        if c == 0x7B:  # {
            return self.time()
        if c == 0x74:  # true
            if self.word(0x72, 0x75, 0x65):
                self.put(0xC3)
                return True
            return False
        if c == 0x66:  # false: one letter more
            self.i += 1
            if self.i < self.end and self.p[self.i] == 0x61:
                if self.word(0x6C, 0x73, 0x65):
                    self.put(0xC2)
                    return True
            return False
        return self.number()

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def null(self) -> cython.bint:
        return self.word(0x75, 0x6C, 0x6C)

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def word(self, a: cython.int, b: cython.int, c: cython.int) -> cython.bint:
        """Pass over a letter, and over these three behind it."""
        if self.end - self.i < 4:
            return False
        if self.p[self.i + 1] != a or self.p[self.i + 2] != b:
            return False
        if self.p[self.i + 3] != c:
            return False
        self.i += 4
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def number(self) -> cython.bint:
        """An integer or a float, if it is plain."""
        negative: cython.bint = self.take(0x2D)  # -
        start: cython.Py_ssize_t = self.i
        digits: cython.longlong = 0
        c: cython.int
        count: cython.Py_ssize_t
        power: cython.Py_ssize_t = 0
        is_float: cython.bint = False
        while self.i < self.end:
            c = self.p[self.i] - 0x30
            if c < 0 or c > 9:
                break
            if self.i - start == DIGITS_MAX:
                return False
            digits = digits * 10 + c
            self.i += 1
        count = self.i - start
        if count == 0 or (count > 1 and self.p[start] == 0x30):
            return False  # no digits, or a zero before others
        if self.take(0x2E):  # .
            is_float = True
            start = self.i
            while self.i < self.end:
                c = self.p[self.i] - 0x30
                if c < 0 or c > 9:
                    break
                if count == DIGITS_MAX:
                    return False
                digits = digits * 10 + c
                count += 1
                self.i += 1
            power = start - self.i
            if power == 0:
                return False
        if self.i < self.end and (self.p[self.i] | 0x20) == 0x65:  # e
            return False
        if digits == 0 and negative:
            return False  # which zero that is, the other reader says
        if is_float:
            return self.put_float(digits, -power, negative)
        self.put_integer(-digits if negative else digits)
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def put_float(
        self, digits: cython.longlong, places: cython.Py_ssize_t, negative: cython.bint
    ) -> cython.bint:
        """Write ``digits`` over ten to the power of ``places``, if that is exact."""
        divisor: cython.double = 1.0
        real: cython.double
        bits: cython.ulonglong = 0
        k: cython.Py_ssize_t
        if digits > EXACT or places > POWER_MAX:
            return False
        for k in range(places):
            divisor *= 10.0
        real = cython.cast(cython.double, digits) / divisor
        if negative:
            real = -real
        if cython.compiled:
            memcpy(cython.address(bits), cython.address(real), 8)
        else:
            bits = struct.unpack("<Q", struct.pack("<d", real))[0]
        self.put(0xCB)
        self.put_big(bits, 8)
        return True

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def put_integer(self, value: cython.longlong) -> cython.void:
        """Write an integer in as few bytes as it needs."""
        if value >= 0:
            if value < 0x80:
                self.put(value)
            elif value < 0x100:
                self.put(0xCC)
                self.put(value)
            elif value < 0x10000:
                self.put(0xCD)
                self.put_big(value, 2)
            elif value < WORD:
                self.put(0xCE)
                self.put_big(value, 4)
            else:
                self.put(0xCF)
                self.put_big(value, 8)
        elif value >= -32:
            self.put(value & 0xFF)
        elif value >= -0x80:
            self.put(0xD0)
            self.put(value & 0xFF)
        elif value >= -0x8000:
            self.put(0xD1)
            self.put_big(value & 0xFFFF, 2)
        elif value >= -(WORD >> 1):
            self.put(0xD2)
            self.put_big(value & (WORD - 1), 4)
        else:
            self.put(0xD3)
            # As two halves: in Python a shift would keep the sign for ever.
            self.put_big((value >> 32) & (WORD - 1), 4)
            self.put_big(value & (WORD - 1), 4)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def time(self) -> cython.bint:
        """``{"time": "2026-11-15T02:40:03Z"}``, in whole seconds."""
        f: cython.Py_ssize_t
        year: cython.longlong
        month: cython.longlong
        day: cython.longlong
        hour: cython.longlong
        minute: cython.longlong
        second: cython.longlong
        seconds: cython.longlong
        self.i += 1
        self.blank()
        if not self.string() or self.last - self.first != 4:
            return False
        f = self.first
        if self.p[f] != 0x74 or self.p[f + 1] != 0x69:
            return False
        if self.p[f + 2] != 0x6D or self.p[f + 3] != 0x65:
            return False
        self.blank()
        if not self.take(0x3A):
            return False
        self.blank()
        if not self.string() or self.last - self.first != 20:
            return False
        f = self.first
        if self.p[f + 4] != 0x2D or self.p[f + 7] != 0x2D or self.p[f + 10] != 0x54:
            return False
        if self.p[f + 13] != 0x3A or self.p[f + 16] != 0x3A or self.p[f + 19] != 0x5A:
            return False
        self.blank()
        if not self.take(0x7D):
            return False
        year = self.two(f) * 100 + self.two(f + 2)
        month = self.two(f + 5)
        day = self.two(f + 8)
        hour = self.two(f + 11)
        minute = self.two(f + 14)
        second = self.two(f + 17)
        if self.two(f) < 0 or self.two(f + 2) < 0 or year < 1970 or year > 2105:
            return False
        if month < 1 or month > 12 or day < 1 or day > month_days(year, month):
            return False
        if hour < 0 or hour > 23 or minute < 0 or minute > 59:
            return False
        if second < 0 or second > 59:
            return False
        seconds = (days_since_1970(year, month, day) * 24 + hour) * 3600
        seconds += minute * 60 + second
        if seconds >= WORD:
            return False
        self.put(0xD6)
        self.put(0xFF)
        self.put_big(seconds, 4)
        return True

    @cython.cfunc
    @cython.inline
    @cython.nogil
    @cython.exceptval(check=False)
    def two(self, i: cython.Py_ssize_t) -> cython.longlong:
        """Two digits as a number; below zero if they are none."""
        a: cython.longlong = self.p[i]
        b: cython.longlong = self.p[i + 1]
        if a < 0x30 or a > 0x39 or b < 0x30 or b > 0x39:
            return -1000
        return (a - 0x30) * 10 + b - 0x30


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def month_days(year: cython.longlong, month: cython.longlong) -> cython.longlong:
    if month == 2:
        return 29 if leap(year) else 28
    return 30 if month == 4 or month == 6 or month == 9 or month == 11 else 31


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def leap(year: cython.longlong) -> cython.bint:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


@cython.cfunc
@cython.nogil
@cython.exceptval(check=False)
def days_since_1970(
    year: cython.longlong, month: cython.longlong, day: cython.longlong
) -> cython.longlong:
    """How many days lie before this one."""
    before: cython.longlong = year - 1
    days: cython.longlong = before * 365 + before // 4 - before // 100 + before // 400
    m: cython.longlong
    for m in range(1, month):
        days += month_days(year, m)
    return days + day - 1 - 719162  # those before 1970
