"""Reading what a page sends: a text in our language or in a dialect, and mistakes.

Or the beginning of a filter, as a page was shown it.
"""

from itertools import islice
from typing import Any

from siena.broker.access.grants.sight import Sight
from siena.broker.questions.viewing import cut
from siena.broker.state import BrokerState
from siena.errors import SienaError
from siena.lang.parser import parse_advertisement, parse_interest
from siena.messages import Interest
from siena.model import Advertisement, Filter
from siena.model.expression.residual import interest_of
from siena.protocol.limits import LOOK_MAX

# How a text ends that is too long to be shown.
CUT = "…"
SIENA = "siena"
ADVERTISEMENT = "advertisement"


def read_text(text: str, dialect: str) -> Interest | Advertisement:
    """An interest, or an advertisement; of a dialect, what a broker makes of it.

    >>> print(read_text("x > 3 then y any", "siena"))
    x > 3 then y any
    >>> print(read_text("price < 5 AND symbol = 'DIS'", "sql"))
    price < 5 and symbol = DIS

    Raises:
        SienaError: if it is none, with its place.
    """
    if dialect == SIENA:
        return parse_interest(text, residuals=True)
    if dialect == ADVERTISEMENT:
        return parse_advertisement(text)
    from siena.dialects import read_rule  # noqa: PLC0415 -- seldom asked for

    found = interest_of(read_rule(dialect, text))
    is_plain = type(found).__name__ == "Predicate" and len(found.filters) == 1
    return found.filters[0] if is_plain else found


def told_filter(
    state: BrokerState, neighbour: str, text: str, sight: Sight
) -> Filter | None:
    """The filter that a neighbour was told and that is shown so, if it is shown cut.

    Raises:
        SienaError: if there are several, which differ where nothing is shown.
    """
    if not text.endswith(CUT):
        return None
    found = [
        f
        for number, link in state.links.items()
        if link.snapshot()["name"] == neighbour
        and number in state.router.tables.neighbours
        for f, _ in islice(
            state.router.tables.neighbours[number].filters.told, LOOK_MAX
        )
        if cut(f) == text and sight.of_interest(f)
    ]
    if len(found) > 1:
        raise SienaError("several filters begin like this")
    return found[0] if found else None


def mistake(error: SienaError) -> dict[str, Any]:
    """What is wrong with a text, and where.

    >>> mistake(SienaError("no"))
    {'error': 'no', 'hint': ''}
    """
    said: dict[str, Any] = {"error": error.message, "hint": error.hint}
    if error.place is not None:
        said["position"] = error.place.position
    return said
