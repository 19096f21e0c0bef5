"""Questions over HTTP: ``/api/interests``, ``/api/why`` and the others of the console.

Each goes through the gate as a look at ``tables`` (or ``access``) does, and shows what
the viewer's sight has.  A mistake in a text is an answer, with its place, for it is
what a page wants to show.
"""

from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta, Struct
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route

from siena.broker.access.principal import Principal
from siena.broker.clients.in_process_entry import InProcessEntry
from siena.broker.http.body import read_body
from siena.broker.http.door.authentication import current_principal, principal_of
from siena.broker.questions.following import Following
from siena.broker.questions.granted import myself, roles, who_may
from siena.broker.questions.interest_index import InterestIndex
from siena.broker.questions.listing import list_interests, saving, words
from siena.broker.questions.past import LOOKED_AT_MAX, Past
from siena.broker.questions.reading import SIENA, mistake, read_text, told_filter
from siena.broker.questions.relating import describe, matching, relate
from siena.broker.questions.sieves import sequences
from siena.broker.questions.standing import standing
from siena.broker.questions.turns import Turns
from siena.broker.questions.viewing import Decisions, Viewer
from siena.broker.questions.why_not import WhyNot
from siena.broker.state import BrokerState
from siena.errors import SienaError
from siena.lang.notification_form import notification_from_json
from siena.lang.parser import parse_filter, parse_notification
from siena.messages import Interest
from siena.model import Advertisement, Notification, Pattern
from siena.protocol.error_codes import Fault, ProtocolError

TEXT_CHARACTERS_MAX = 20_000
NOTIFICATIONS_MAX = 200
ROWS_MAX = 300
# Of those that match, the last are written out.
MATCHED_MAX = 10
OFFSET_MAX = 10_000_000

Text = Annotated[str, Meta(max_length=TEXT_CHARACTERS_MAX)]
Rows = Annotated[int, Meta(ge=0, le=ROWS_MAX)]
Offset = Annotated[int, Meta(ge=0, le=OFFSET_MAX)]
Form = dict[str, Any]
T = TypeVar("T", bound=Struct)
Said = TypeVar("Said")


class Question(Struct, frozen=True, forbid_unknown_fields=True):
    """What all questions are."""


class Interests(Question, frozen=True):
    """What is wanted: by words that it mentions, or of a notification."""

    text: Text = ""
    by: Literal["words", "notification"] = "words"
    limit: Rows = 100
    offset: Offset = 0


class Why(Question, frozen=True):
    """Who wants a notification, and what the others have against it."""

    notification: Text
    constraint: Text | None = None
    limit: Rows = 30
    offset: Offset = 0


class Relations(Question, frozen=True):
    """How a text relates to what is wanted, and which notifications it selects.

    With ``told``, the name of a neighbour, it is the text of a filter that this was
    told, as ``/api/told`` shows it: perhaps cut.
    """

    text: Text
    dialect: Text = SIENA
    told: Text | None = None
    notifications: Annotated[list[Any], Meta(max_length=NOTIFICATIONS_MAX)] = []


class BackTest(Question, frozen=True):
    """What a text would have selected of the last notifications of the log."""

    text: Text
    dialect: Text = SIENA
    count: Annotated[int, Meta(ge=1, le=LOOKED_AT_MAX)] = 10_000


class Latest(Question, frozen=True):
    """The last notifications of the log."""

    count: Annotated[int, Meta(ge=1, le=NOTIFICATIONS_MAX)] = 50


class WhoMay(Question, frozen=True):
    """Who may hear, or publish, a notification."""

    notification: Text
    verb: Literal["subscribe", "publish"] = "subscribe"


class Questions:
    """The questions of a broker's pages, and their answers."""

    def __init__(self, entry: InProcessEntry) -> None:
        self._entry = entry
        self._broker = entry.broker
        self._decisions = Decisions()
        # The index is asked in a thread, and the log is read on the loop.
        self._to_index, self._to_log = (Turns(lambda: self._state) for _ in range(2))

    @property
    def _state(self) -> BrokerState:
        """That of the broker, which has one once it has begun."""
        return self._broker.state

    @cached_property
    def following(self) -> Following:
        """The index that is asked."""
        return Following(self._state)

    def routes(self) -> list[BaseRoute]:
        """Which path is answered by what."""

        def post(name: str, kind: type[T], answer: "Answer[T]") -> Route:
            return Route(f"/api/{name}", _answering(kind, answer), methods=["POST"])

        return [
            post("interests", Interests, self.interests),
            post("why", Why, self.why),
            post("relations", Relations, self.relations),
            post("backtest", BackTest, self.back_test),
            post("latest", Latest, self.latest),
            post("words", Question, self.words),
            post("prepare", Question, self.prepare),
            post("who", WhoMay, self.who),
            Route("/api/me", self.me),
            Route("/api/access", self.access),
        ]

    # --- What is wanted -------------------------------------------------------------

    async def interests(self, principal: Principal, asked: Interests) -> Form:
        """What is wanted here."""
        viewer = self._viewer(principal)
        wanted: str | Notification = asked.text
        if asked.by == "notification":
            wanted = parse_notification(asked.text)

        def answer(index: InterestIndex) -> Form:
            page = asked.limit, asked.offset
            said = list_interests(index, viewer, wanted, page)
            return {**said, "saving": saving(self._state, index)}

        return self._with_extent(await self._ask(principal, answer))

    async def why(self, principal: Principal, asked: Why) -> Form:
        """Who wants a notification, and what the others have against it."""
        viewer = self._viewer(principal)
        notification = parse_notification(asked.notification)
        constraint = None
        if asked.constraint is not None:
            (constraint, *_) = parse_filter(asked.constraint).constraints or (None,)
        links = {
            number: str(link.snapshot()["name"])
            for number, link in self._state.links.items()
        }

        def answer(index: InterestIndex) -> Form:
            why = WhyNot(index, notification, viewer)
            routes = [{"name": links[n], **why.route(n)} for n in links]
            said = why.answer(asked.limit, asked.offset, constraint)
            return {**said, "routes": routes}

        said = await self._ask(principal, answer)
        return self._with_extent({"broker": self._state.name, **said})

    async def relations(self, principal: Principal, asked: Relations) -> Form:
        """How a text relates to what is wanted."""
        viewer = self._viewer(principal)
        interest: Interest | Advertisement | None = None
        if asked.told is not None:
            sight = viewer.sight
            interest = told_filter(self._state, asked.told, asked.text, sight)
        if interest is None:
            interest = read_text(asked.text, asked.dialect)
        read = [_notification(each) for each in asked.notifications]
        there = standing(self._state, interest)

        def answer(index: InterestIndex) -> Form:
            matches = matching(interest, read)
            return {
                **describe(interest),
                **relate(interest, index, viewer, there),
                **_found(interest, read),
                "matches": matches,
                "matched": [
                    str(read[place]) for place in matches[: -MATCHED_MAX - 1 : -1]
                ],
            }

        return self._with_extent(await self._ask(principal, answer))

    async def words(self, principal: Principal, asked: Question) -> Form:  # noqa: ARG002 -- there is nothing to ask
        """Names and values, for who writes a filter."""
        viewer = self._viewer(principal)
        found = await self._ask(principal, lambda index: words(index, viewer))
        return {"names": found}

    async def prepare(self, principal: Principal, asked: Question) -> Form:  # noqa: ARG002 -- there is nothing to ask
        """Have the index ready for questions that follow; how many filters it has."""
        viewer = self._viewer(principal)

        def answer(index: InterestIndex) -> Form:
            index.prepare()
            filters = int(viewer.seen(index).sum())
            return {"filters": filters, "complete": viewer.is_complete}

        return self._with_extent(await self._ask(principal, answer))

    async def _ask(
        self, principal: Principal, question: Callable[[InterestIndex], Said]
    ) -> Said:
        async with self._to_index.of(principal):
            return await self.following.ask(question)

    def _viewer(self, principal: Principal) -> Viewer:
        gate = self._state.gate
        gate.inspect(principal, "tables")
        return Viewer(self._state, gate.sight(principal), self._decisions)

    def _with_extent(self, said: Form) -> Form:
        is_complete = said.get("complete", True) and self.following.is_complete
        return {**said, "complete": is_complete}

    # --- What was published ---------------------------------------------------------

    async def back_test(self, principal: Principal, asked: BackTest) -> Form:
        """What a text would have selected."""
        interest = read_text(asked.text, asked.dialect)
        past = self._past(principal)
        async with self._to_log.of(principal):
            return await past.try_on(interest, asked.count)

    async def latest(self, principal: Principal, asked: Latest) -> Form:
        """The last notifications."""
        past = self._past(principal)
        async with self._to_log.of(principal):
            return {"notifications": await past.latest(asked.count)}

    def _past(self, principal: Principal) -> Past:
        journal = self._broker.log_service.journal
        return Past(journal, self._state.gate.sight(principal))

    # --- What is granted ------------------------------------------------------------

    async def me(self, request: Request) -> Response:
        """Who asks, and what they may."""
        is_asking = self._broker.access.is_asking
        principal = principal_of(request.scope)
        said = myself(self._state, principal, is_asking=is_asking)
        has_log = self._broker.log_service.journal is not None
        return JSONResponse({**said, "log": has_log, "broker": self._state.name})

    async def access(self, request: Request) -> Response:
        """The roles."""
        principal = principal_of(request.scope)
        self._state.gate.inspect(principal, "access")
        return JSONResponse(roles(self._state, self._state.gate.sight(principal)))

    async def who(self, principal: Principal, asked: WhoMay) -> Form:
        """Who may hear, or publish, a notification."""
        self._state.gate.inspect(principal, "access")
        notification = parse_notification(asked.notification)
        sight = self._state.gate.sight(principal)
        return who_may(self._state, sight, notification, asked.verb)


Answer = Callable[[Principal, T], Awaitable[Form]]


def _answering(
    kind: type[T], answer: Answer[T]
) -> Callable[[Request], Awaitable[Response]]:
    """What reads a question, and sends what is said to it."""

    async def respond(request: Request) -> Response:
        body = await read_body(request.receive)
        try:
            asked = msgspec.json.decode(body or b"{}", type=kind)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ProtocolError(Fault.BAD_REQUEST, str(error)) from None
        try:
            said = await answer(current_principal(request), asked)
        except ProtocolError:
            raise
        except SienaError as error:
            said = mistake(error)
        return JSONResponse(said)

    return respond


def _found(
    interest: Interest | Advertisement, notifications: list[Notification | None]
) -> Form:
    """Of a pattern: how many sequences of them match it, and the last of these."""
    if not isinstance(interest, Pattern):
        return {}
    found = sequences(interest, notifications)
    last = found[: -MATCHED_MAX - 1 : -1]
    texts = [[str(notifications[place]) for place in places] for places in last]
    return {"sequences": {"count": len(found), "shown": texts}}


def _notification(form: Any) -> Notification | None:  # noqa: ANN401 -- whatever a page has got
    try:
        if isinstance(form, str):  # its text, which keeps kinds that a page may lose
            return parse_notification(form)
        return notification_from_json(form)
    except SienaError:
        return None
