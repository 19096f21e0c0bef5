"""The verbs of the line mode as JSON objects, for WebSockets.

``{"sub": "x > 3"}``, ``{"sub": "x > 3", "number": 7}``, ``{"pub": {"x": 4}}``,
``{"unsub": 7}``, ``{"unsub": "x any"}``: one verb, and what it wants.
Each becomes what a frame would have said.  For durable subscriptions there are
``{"sub": "x > 3", "durable": "billing"}``, ``{"ack": [4, 5], "number": 1}`` and
``{"nak": [6], "number": 1, "delay": 10}``.
"""

from collections.abc import Callable

from siena.block import encode
from siena.broker.durable.json_requests import DURABLE_OPTIONS, ack, durable_sub, nak
from siena.errors import SienaError
from siena.lang.json_text import Json, read_json
from siena.lang.notification_form import notification_from_json
from siena.protocol.control_frames import (
    Advertise,
    Look,
    Subscribe,
    Unadvertise,
    UnadvertiseCovered,
    Unsubscribe,
    UnsubscribeCovered,
)
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Op, pack
from siena.protocol.limits import (
    LOOK_DEFAULT,
    LOOK_MAX,
    NAME_CHARACTERS_MAX,
    NUMBER_MAX,
)
from siena.protocol.pings import unpack_ping

Form = dict[str, Json]
# What may stand beside a verb.
_OPTIONS = frozenset({"number", "limit", *DURABLE_OPTIONS})


class JsonRequests:
    """Reads the messages of one WebSocket, and numbers what has no number.

    >>> requests = JsonRequests()
    >>> requests.read('{"ping": "a"}').hex(" ")
    '02 00 00 00 07 61'
    >>> requests.read('{"sub": "x any"}') == Subscribe(1, "x any").pack()
    True
    >>> requests.read('{"shout": 1}')
    Traceback (most recent call last):
    siena.protocol.error_codes.ProtocolError: a request is an object with one of
    pub, sub, unsub, adv, unadv, look, ping, ack, nak (error 108)
    """

    def __init__(self) -> None:
        self._next = 1
        self._verbs: dict[str, Callable[[Json, Form], bytes]] = {
            "pub": _pub,
            "sub": self._sub,
            "unsub": _unsub,
            "adv": self._adv,
            "unadv": _unadv,
            "look": _look,
            "ping": _ping,
            "ack": ack,
            "nak": nak,
        }

    def read(self, text: str) -> bytes:
        """The frames that a message stands for.

        Raises:
            ProtocolError: if it stands for none.
        """
        try:
            form = read_json(text)
        except SienaError as error:
            raise ProtocolError.because(Fault.BAD_REQUEST, error) from None
        verbs = form.keys() - _OPTIONS if isinstance(form, dict) else set()
        verb = self._verbs.get(next(iter(verbs))) if len(verbs) == 1 else None
        if verb is None or not isinstance(form, dict):
            known = ", ".join(self._verbs)
            text = f"a request is an object with one of {known}"
            raise ProtocolError(Fault.BAD_REQUEST, text)
        return verb(form[next(iter(verbs))], form)

    def _sub(self, interest: Json, form: Form) -> bytes:
        text = _text(interest, "sub wants an interest", Op.SUB)
        if "durable" in form:
            return durable_sub(text, form, self._number(form))
        return Subscribe(self._number(form), text).pack()

    def _adv(self, advertisement: Json, form: Form) -> bytes:
        text = _text(advertisement, "adv wants an advertisement", Op.ADV)
        return Advertise(self._number(form), text).pack()

    def _number(self, form: Form) -> int:
        """The number that was given, or the next one."""
        number = form.get("number")
        given = self._next if number is None else _number(number)
        self._next = max(self._next, given + 1)
        return given


def _pub(form: Json, _: Form) -> bytes:
    forms = form if isinstance(form, list) else [form]
    try:
        blocks = [encode(notification_from_json(one)) for one in forms]
    except SienaError as error:
        raise ProtocolError.because(
            Fault.BAD_NOTIFICATION, error, request=Op.PUB
        ) from None
    return b"".join(pack(Op.PUB, block) for block in blocks)


def _unsub(which: Json, _: Form) -> bytes:
    if isinstance(which, str):  # all that it covers
        return UnsubscribeCovered(which).pack()
    return Unsubscribe(_number(which)).pack()


def _unadv(which: Json, _: Form) -> bytes:
    if isinstance(which, str):
        return UnadvertiseCovered(which).pack()
    return Unadvertise(_number(which)).pack()


def _look(what: Json, form: Form) -> bytes:
    name = _text(what, "look wants the name of a table", Op.LOOK)
    limit = _number(form.get("limit", LOOK_DEFAULT))
    if not 1 <= limit <= LOOK_MAX:
        text = f"a limit is a number from 1 to {LOOK_MAX}"
        raise ProtocolError(Fault.BAD_REQUEST, text, request=Op.LOOK)
    return Look(name[:NAME_CHARACTERS_MAX], limit).pack()


def _ping(text: Json, _: Form) -> bytes:
    said = _text(text, "ping wants a text", Op.PING)
    return unpack_ping(said.encode(errors="replace")).pack()


def _text(form: Json, message: str, request: Op) -> str:
    if not isinstance(form, str):
        raise ProtocolError(Fault.BAD_REQUEST, message, request=request)
    return form


def _number(form: Json) -> int:
    if isinstance(form, bool) or not isinstance(form, int):
        raise ProtocolError(Fault.BAD_REQUEST, "a number is an integer")
    if not 0 <= form <= NUMBER_MAX:
        raise ProtocolError(Fault.BAD_REQUEST, f"numbers go from 0 to {NUMBER_MAX}")
    return form
