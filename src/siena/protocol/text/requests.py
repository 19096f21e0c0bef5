"""The line mode, for people with netcat: one request a line, in words.

=========================  =========================================================
pub symbol=DIS change=-4   publish; a JSON object will do as well
sub symbol = DIS           subscribe, under the next number
sub 7 symbol = DIS         subscribe, under number 7
unsub 7                    end the subscription
unsub symbol any           end those that this filter covers
adv symbol any             advertise; a number may be chosen here too
unadv 7                    end the advertisement; or those that one covers
ping hello                 answered when all before it has been carried out
auth siena1.…              who this is, on the first line only
help, quit
=========================  =========================================================

Every request becomes what a frame would have said; :mod:`siena.protocol.text.output`
turns the answers into lines of JSON.  So a broker knows of one mode only.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

import msgspec

from siena.block import encode
from siena.errors import Place, SienaError
from siena.lang import parse_advertisement, parse_interest, parse_notification
from siena.lang.lists import ListReader
from siena.lang.scanner import END
from siena.model import Notification
from siena.protocol.control_frames import (
    Advertise,
    Body,
    Connect,
    Look,
    Subscribe,
    Unadvertise,
    UnadvertiseCovered,
    Unsubscribe,
    UnsubscribeCovered,
)
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Op
from siena.protocol.handshake import GRANTS, VERSIONS
from siena.protocol.limits import LOOK_DEFAULT, LOOK_MAX, NUMBER_MAX
from siena.protocol.pings import Ping, unpack_ping


class Publication(NamedTuple):
    """One notification that was published."""

    block: bytes


class Reply(NamedTuple):
    """Bytes to send back as they are."""

    data: bytes


class Quit(NamedTuple):
    """The conversation is over, by agreement; what was asked for is still answered."""


Request = Body | Publication | Ping | Reply | Quit | ProtocolError


class Requests:
    """Reads the lines of one connection, and numbers what has no number.

    >>> requests = Requests()
    >>> connect, first = requests.read(b"sub x > 3")
    >>> first, *requests.read(b"SUB 7 x > 3"), *requests.read(b"adv x any")
    (Subscribe(number=1, interest='x > 3'), Subscribe(number=7, interest='x > 3'), \
Advertise(number=8, advertisement='x any'))
    >>> list(requests.read(b"unsub x any"))
    [UnsubscribeCovered(interest='x any')]
    """

    def __init__(self) -> None:
        self._connected = False
        self._next = 1
        self._verbs: dict[str, Callable[[str], Request]] = {
            "pub": _pub,
            "sub": self._sub,
            "unsub": _unsub,
            "adv": self._adv,
            "unadv": _unadv,
            "look": _look,
            "ping": lambda text: unpack_ping(text.encode()),
            "auth": _late,
            "help": lambda _: Reply(_HELP),
            "quit": lambda _: Quit(),
        }

    def read(self, line: bytes) -> Iterator[Request]:
        """What a line asks for; before the first one a client connects."""
        if _HTTP.match(line) or (not self._connected and _CONTROL.match(line)):
            yield ProtocolError(
                Fault.BAD_PREFACE,
                "neither HTTP nor TLS is talked here; try help, one word on a line",
            )
            return
        # What is not UTF-8 becomes surrogates, and is refused below.
        text = line.decode(errors="surrogateescape")
        if not text.strip():
            return
        if not self._connected:
            self._connected = True
            found = _AUTH.fullmatch(text)
            if found and not _SURROGATE.search(text):
                yield Connect(VERSIONS[1], token=found["token"], features=(GRANTS,))
                return
            yield Connect(VERSIONS[1], features=(GRANTS,))
        try:
            yield self._request(text)
        except ProtocolError as error:
            yield error

    def _request(self, line: str) -> Request:
        if not line.isascii() and _SURROGATE.search(line):
            raise ProtocolError(Fault.BAD_REQUEST, "a line is text in UTF-8")
        found = _VERB.match(line)
        assert found is not None, "blank lines are not read"
        word, text = found["verb"].lower(), found["text"].rstrip()
        verb = self._verbs.get(word)
        if verb is None:
            said = word if len(word) <= 20 else f"{word[:20]}…"
            raise ProtocolError(
                Fault.BAD_REQUEST,
                f'no request is called "{said}"; there are {", ".join(self._verbs)}',
            ).at(line, found.start("verb"))
        try:
            return verb(text)
        except ProtocolError as error:
            # A person sees the whole line, and where in it.
            if error.place and error.place.text and text.endswith(error.place.text):
                before = found.start("text") + len(text) - len(error.place.text)
                error.place = Place(line, before + error.place.position)
            raise

    def _sub(self, text: str) -> Request:
        number, interest = self._number(text)
        with_number = _Faulty(Fault.BAD_INTEREST, Op.SUB, number)
        with_number.try_to(partial(parse_interest, residuals=True), interest)
        return Subscribe(number, interest)

    def _adv(self, text: str) -> Request:
        number, advertisement = self._number(text)
        with_number = _Faulty(Fault.BAD_ADVERTISEMENT, Op.ADV, number)
        with_number.try_to(parse_advertisement, advertisement)
        return Advertise(number, advertisement)

    def _number(self, text: str) -> tuple[int, str]:
        """The number at the front of a text, or the next one; and what follows."""
        found = _NUMBERED.match(text)
        number = int(found["number"]) if found else self._next
        if number > NUMBER_MAX:
            raise ProtocolError(Fault.BAD_REQUEST, f"numbers end at {NUMBER_MAX}")
        self._next = max(self._next, number + 1)
        return number, found["text"] if found else text


class _Faulty(NamedTuple):
    """What is said if the text of a request cannot be read."""

    fault: Fault
    request: Op
    number: int | None = None

    def try_to(self, read: Callable[[str], object], text: str) -> object:
        try:
            return read(text)
        except SienaError as error:
            raise ProtocolError.because(
                self.fault, error, request=self.request, about=self.number
            ) from None


class _PairReader(ListReader):
    """Reads pairs with nothing but space between them, as on a command line."""

    __slots__ = ()

    def entries(self) -> Iterator[int]:
        yield self.scanner.start
        while self.scanner.kind != END:
            if self.at_and():
                self.scanner.advance()
            self.refuse_logic()
            yield self.scanner.start


def read_pairs(text: str) -> Notification:
    """A notification as it is typed: JSON, or pairs, with or without commas.

    >>> read_pairs('symbol=DIS change=-4, what = "a b"')
    <Notification change = -4 and symbol = DIS and what = "a b">
    """
    if text.startswith(("{", "[")):
        return parse_notification(text)
    return _PairReader(text).notification()


def _pub(text: str) -> Request:
    with_place = _Faulty(Fault.BAD_NOTIFICATION, Op.PUB)
    notification = with_place.try_to(read_pairs, text)
    assert isinstance(notification, Notification)
    return Publication(encode(notification))


def _late(_: str) -> Request:
    text = "auth comes first, with a token, and only where the broker asks for one"
    raise ProtocolError(Fault.BAD_REQUEST, text)


def _unsub(text: str) -> Request:
    if not text or _DIGITS.match(text):  # no interest begins with a digit
        message = "unsub wants the number of a subscription, or a filter"
        return Unsubscribe(_only_number(text, message))
    _Faulty(Fault.BAD_INTEREST, Op.UNSUB_COVERED).try_to(parse_interest, text)
    return UnsubscribeCovered(text)


def _unadv(text: str) -> Request:
    if not text or _DIGITS.match(text):
        message = "unadv wants the number of an advertisement, or one that covers it"
        return Unadvertise(_only_number(text, message))
    with_place = _Faulty(Fault.BAD_ADVERTISEMENT, Op.UNADV_COVERED)
    with_place.try_to(parse_advertisement, text)
    return UnadvertiseCovered(text)


def _look(text: str) -> Request:
    found = _LOOK.fullmatch(text)
    limit = int(found["limit"] or LOOK_DEFAULT) if found else 0
    if found is None or not 1 <= limit <= LOOK_MAX:
        raise ProtocolError(
            Fault.BAD_REQUEST,
            f"look wants the name of a table, and maybe a number up to {LOOK_MAX}",
        )
    return Look(found["what"], limit)


def _only_number(text: str, message: str) -> int:
    if not _DIGITS.fullmatch(text) or int(text) > NUMBER_MAX:
        raise ProtocolError(Fault.BAD_REQUEST, message)
    return int(text)


_VERB = re.compile(r"\s*(?P<verb>\S+)\s*(?P<text>.*)", re.DOTALL)
_LOOK = re.compile(r"(?P<what>[a-z]{1,20})(?:\s+(?P<limit>[0-9]{1,4}))?")
# The first line only, and as long as CONNECT takes it.
_AUTH = re.compile(r"\s*auth\s+(?P<token>\S{1,4096})\s*", re.IGNORECASE)
_DIGITS = re.compile(r"[0-9]{1,10}")
_SURROGATE = re.compile("[\ud800-\udfff]")
# No interest begins with a number.
_NUMBERED = re.compile(r"(?P<number>[0-9]{1,10})(?:\s+|$)(?P<text>.*)", re.DOTALL)
# A browser can be made to send such lines, with requests of ours in those below it.
_HTTP = re.compile(rb"[A-Za-z]+ [^ ]+ HTTP/[0-9]|(?i:host|origin|referer):")
# What a program sends that takes this for something else, TLS for example.
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")

_HELP = (
    msgspec.json.encode(
        {
            "siena": "HELP",
            "pub": 'pub symbol=DIS change=-4, or pub {"symbol": "DIS", "change": -4}',
            "sub": "sub symbol = DIS and change < 0, or with a number: sub 7 x any",
            "unsub": "unsub 7, or all that a filter covers: unsub symbol any",
            "adv": "adv symbol any and change any, or with a number: adv 7 x any",
            "unadv": "unadv 7, or all that one covers: unadv symbol any",
            "look": "look counters, or links, tables, poset, sessions; look links 20",
            "ping": "ping, or ping some text: answered when all before it is done",
            "auth": "auth TOKEN, on the first line, where brokers ask for one",
            "quit": "quit",
        }
    )
    + b"\n"
)
