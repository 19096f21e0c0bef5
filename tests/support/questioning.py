"""Indexes and viewers for the questions that people have about a broker."""

from typing import Any

from siena.broker.access.grants.grant import UNLIMITED, Grant
from siena.broker.access.grants.roles import Roles
from siena.broker.access.grants.sight import Sight
from siena.broker.access.principal import LOCAL, Principal
from siena.broker.clients.session import Session
from siena.broker.questions.interest_index import InterestIndex
from siena.broker.questions.viewing import Decisions, Viewer
from siena.lang.parser import parse_interest
from siena.messages import Party
from siena.routing.registrations import Registrations


class OneSession:
    """What a viewer needs of a broker: its sessions and links."""

    def __init__(self) -> None:
        desk = Session(1, Registrations(), name="desk")
        desk.principal = Principal("desk")
        self.sessions = {1: desk}
        self.links: dict[int, Any] = {}


def indexed(*texts: str) -> InterestIndex:
    """What a client called desk wants."""
    index = InterestIndex()
    for place, text in enumerate(texts):
        index.enter(Party("1", place), parse_interest(text, residuals=True))
    return index


def viewer(**role: Any) -> Viewer:  # noqa: ANN401 -- as roles are read
    """A viewer with a role; without one, one who sees everything."""
    sight = Sight(LOCAL, UNLIMITED)
    if role:
        ann = Principal("ann", ("reader",))
        sight = Sight(ann, Grant.of(ann, Roles.from_form({"reader": role})))
    return Viewer(OneSession(), sight, Decisions())  # type: ignore[arg-type]
