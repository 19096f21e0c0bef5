"""Standing: patterns and advertisements at a broker, and how another relates to them.

The index has filters, of which there are many.  Of these there are few: all are looked
at for each question, within a bound and a time.  Patterns cover each other step by
step, which is what unsubscribing means for them, and not inclusion of what they match.
"""

from collections.abc import Callable, Iterator
from itertools import islice
from time import perf_counter
from typing import Any, NamedTuple

from siena.algebra.relations import decide_covers, decide_covers_advertisement
from siena.algebra.verdict import Verdict
from siena.broker.access.principal import Principal
from siena.broker.questions.viewing import HOLDERS_MAX, Viewer, cut
from siena.broker.state import BrokerState
from siena.lang.notification_form import notification_to_json
from siena.messages import Interest
from siena.model import Advertisement, Pattern

# Interests of clients that are looked at for those which are patterns, on the broker's
# loop: a millisecond or two.  And how long they are compared, in a thread.
LOOKED_AT_MAX = 20_000
SECONDS_MAX = 0.25
SHOWN_MAX = 50

# What a client has said that is no filter.
Announced = Pattern | Advertisement
# Who holds it (no principal, but a neighbour), and what that is called.
Holder = tuple[Principal | None, str]
Form = dict[str, Any]


class Standing(NamedTuple):
    """What stands here, with who holds each."""

    held: dict[Announced, list[Holder]]
    is_whole: bool = True


def standing(state: BrokerState, asked: Interest | Advertisement) -> Standing:
    """What there is of the kind of what is asked, on the broker's loop."""
    if isinstance(asked, Advertisement):
        found = _offered(state)
    elif isinstance(asked, Pattern):
        found = _patterns(state)
    else:
        found = iter(())
    held: dict[Announced, list[Holder]] = {}
    looked_at = 0
    for item, holder in islice(found, LOOKED_AT_MAX):
        looked_at += 1
        if item is not None:
            held.setdefault(item, []).append(holder)
    return Standing(held, looked_at < LOOKED_AT_MAX)


def _patterns(
    state: BrokerState,
) -> Iterator[tuple[Announced | None, Holder]]:
    """Those of clients: neighbours are told steps."""
    for session in state.sessions.values():
        called = session.identity or session.name
        for number, interest in session.interests.items():
            if isinstance(interest, Pattern) and not interest.is_simple:
                party = session.party(number)
                name = f"{called} ({party})" if called else f"client {party}"
                yield interest, (session.principal, name)
            else:  # it was looked at
                yield None, (session.principal, "")


def _offered(
    state: BrokerState,
) -> Iterator[tuple[Announced | None, Holder]]:
    for number, link in state.links.items():
        for offer in state.router.tables.advertisements.held_by(number):
            yield offer, (None, f"broker {link.snapshot()['name']}")
    for session in state.sessions.values():
        called = session.identity or session.name
        for number, offer in session.advertisements.items():
            party = session.party(number)
            name = f"{called} ({party})" if called else f"client {party}"
            yield offer, (session.principal, name)


def among(asked: Announced, there: Standing, viewer: Viewer) -> Form:
    """What of all that stands it covers, and what covers it; in a thread."""
    end = perf_counter() + SECONDS_MAX
    sees = viewer.sight.chooser()
    below: list[Announced] = []
    above: list[Announced] = []
    outside, count, is_whole = None, 0, there.is_whole
    for item in there.held:
        if perf_counter() > end:
            is_whole = False
            break
        if not sees(item):
            continue
        count += 1
        verdict = _covers(asked, item)
        if verdict.holds:
            below.append(item)
        elif outside is None and verdict.witness is not None:
            outside = {
                "text": cut(item),
                "notification": notification_to_json(verdict.witness),
                "example": str(verdict.witness),
            }
        if _covers(item, asked).holds:
            above.append(item)
    shown = _shower(there, viewer)
    return {
        "covers": shown(below),
        "covered_by": shown(above),
        "outside": outside,
        "wanted": count,
        "complete": is_whole,
    }


def _covers(general: Announced, specific: Announced) -> Verdict:
    if isinstance(general, Advertisement):
        assert isinstance(specific, Advertisement)
        return decide_covers_advertisement(general, specific)
    assert isinstance(specific, Pattern)
    return decide_covers(general, specific)


def _shower(there: Standing, viewer: Viewer) -> Callable[[list[Announced]], Form]:
    def shown(items: list[Announced]) -> Form:
        rows = [
            {
                "text": cut(item),
                "held": len(there.held[item]),
                "holders": viewer.sight.names(there.held[item][:HOLDERS_MAX]),
            }
            for item in items[:SHOWN_MAX]
        ]
        return {"count": len(items), "shown": rows}

    return shown
