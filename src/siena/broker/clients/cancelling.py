"""Unsubscribing and unadvertising by what covers: one filter ends many subscriptions.

A subscription under a number ends if the interest covers it (A.7 of our specification):
a predicate filter by filter, a pattern step by step and only one of the same length.
It is never narrowed, and what another client or connection asked for stays.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar

from siena.algebra.covering import covers_advertisement, covers_filter
from siena.broker.clients.requests import Requests
from siena.broker.clients.session import Session
from siena.broker.limits import COMPARISONS_MAX
from siena.broker.state import BrokerState
from siena.errors import SienaError
from siena.lang.parser import parse_advertisement, parse_interest
from siena.messages import Interest, Unadvertise
from siena.model import Filter, Pattern, Predicate
from siena.protocol.control_frames import (
    Ended,
    UnadvertiseCovered,
    UnsubscribeCovered,
)
from siena.protocol.error_codes import Fault, ProtocolError

T = TypeVar("T")


class Cancelling:
    """Carries out what ends all that something covers."""

    def __init__(self, state: BrokerState, requests: Requests) -> None:
        self._state = state
        self._requests = requests
        requests.add(UnsubscribeCovered, self._unsubscribe)
        requests.add(UnadvertiseCovered, self._unadvertise)

    def _unsubscribe(self, session: Session, body: UnsubscribeCovered) -> None:
        interest = _read(parse_interest, body.interest, Fault.BAD_INTEREST)
        numbers = covered_interests(interest, session.asked)
        for number in numbers:
            self._requests.end_subscription(session, number)
        session.reply(Ended(body.op, numbers).pack())

    def _unadvertise(self, session: Session, body: UnadvertiseCovered) -> None:
        wide = _read(parse_advertisement, body.advertisement, Fault.BAD_ADVERTISEMENT)
        numbers = [
            number
            for number, narrow in session.advertisements.items()
            if covers_advertisement(wide, narrow)
        ]
        for number in numbers:
            ended = Unadvertise(session.advertisements[number])
            self._state.handle(ended, session.party(number))
        session.reply(Ended(body.op, numbers).pack())


def covered_interests(
    interest: Interest, interests: Mapping[int, Interest]
) -> list[int]:
    """The numbers of the subscriptions that an interest covers.

    >>> parse = parse_interest
    >>> wanted = {1: parse("x > 3"), 2: parse("x > 0"), 3: parse("x = 5 or y = 1")}
    >>> covered_interests(parse("x > 2"), wanted)
    [1]
    >>> covered_interests(parse("x > 2 or y any"), wanted)
    [1, 3]
    >>> covered_interests(parse("[]"), {7: parse("x = 1 then y = 1")})
    []

    Raises:
        ProtocolError: if that would take too many comparisons of two filters.
    """
    wide = _steps(interest)
    narrow = {number: _steps(each) for number, each in interests.items()}
    same = {
        number: steps for number, steps in narrow.items() if len(steps) == len(wide)
    }
    _check_work(wide, same.values())
    return [
        number
        for number, steps in same.items()
        if all(
            _covers(general, each) for general, each in zip(wide, steps, strict=True)
        )
    ]


def _check_work(
    wide: tuple[tuple[Filter, ...], ...],
    subscribed: Iterable[tuple[tuple[Filter, ...], ...]],
) -> None:
    comparisons = sum(
        len(general) * len(each)
        for steps in subscribed
        for general, each in zip(wide, steps, strict=True)
    )
    if comparisons > COMPARISONS_MAX:
        raise ProtocolError(
            Fault.TOO_MANY,
            f"more than {COMPARISONS_MAX} filters to compare; end them by number",
        )


def _steps(interest: Interest) -> tuple[tuple[Filter, ...], ...]:
    """An interest as the filters of each of its steps."""
    match interest:
        case Filter():
            return ((interest,),)
        case Predicate():
            return (interest.filters,)
        case Pattern():
            return tuple(step.filters for step in interest)


def _covers(wide: tuple[Filter, ...], narrow: tuple[Filter, ...]) -> bool:
    return all(any(covers_filter(f, g) for f in wide) for g in narrow)


def _read(parse: Callable[[str], T], text: str, fault: Fault) -> T:
    try:
        return parse(text)
    except SienaError as error:
        raise ProtocolError.because(fault, error) from None
