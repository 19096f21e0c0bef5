"""Scripts: what happens in a world, one JSON object on each line."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from siena.errors import SienaError
from siena.lang.interest_form import advertisement_from_json, interest_from_json
from siena.lang.json_text import Json, read_json
from siena.lang.notification_form import notification_from_json
from siena.lang.parser import parse_notification
from siena.model import Notification
from siena.routing.mailbox import QUEUE_MAX
from siena.sim.steps import OPS, Op, Step

# What each operation needs, and what it may have, beside "op".
_NEEDS: dict[Op, tuple[str, ...]] = {
    "subscribe": ("client", "at", "filter"),
    "unsubscribe": ("client", "at", "filter"),
    "advertise": ("client", "at", "advertisement"),
    "unadvertise": ("client", "at", "advertisement"),
    "publish": ("client", "at", "notification"),
    "connect": ("at", "to"),
    "disconnect": ("at", "to"),
    "lose": ("at", "to"),
    "duplicate": ("at", "to"),
    "suspend": ("client", "at"),
    "resume": ("client", "at"),
    "map_identity": ("client", "at", "handler"),
    "move": ("client", "at", "to"),
    "crash": ("at",),
    "restart": ("at",),
}
_MAY_HAVE: dict[Op, tuple[str, ...]] = {"suspend": ("queue",), "move": ("queue",)}

# What a client that moves has kept for it, unless the script says how much.
QUEUE_OF_A_MOVE = 1_000


def read_script(text: str) -> Iterator[tuple[int, Step]]:
    r"""The steps of a script, each with the number of its line.

    >>> [(number, step)] = read_script('\n{"op": "crash", "at": 2}\n')
    >>> number, step.op, step.at
    (2, 'crash', 2)
    >>> list(read_script('{"op": "explode", "at": 2}'))
    Traceback (most recent call last):
    siena.errors.SienaError: line 1: there is no op 'explode' (subscribe, unsubscribe,
    advertise, unadvertise, publish, connect, disconnect, lose, duplicate, suspend,
    resume, map_identity, move, crash, restart)
    """
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                yield number, _step(read_json(line))
            except SienaError as error:
                raise error.about(f"line {number}") from None


def _step(form: Json) -> Step:
    if not isinstance(form, dict):
        raise SienaError("a step is a JSON object")
    op = _op(form.get("op"))
    needed = _NEEDS[op]
    names = form.keys() - {"op"}
    for name in needed:
        if name not in names:
            raise SienaError(f'{op} needs "{name}"')
    unknown = sorted(names - set(needed) - set(_MAY_HAVE.get(op, ())))
    if unknown:
        raise SienaError(f'{op} has no "{unknown[0]}"')
    given: dict[str, Any] = {}
    for name in sorted(names):
        field, read = _READ[name]
        given[field] = read(form[name])
    if op == "move":
        given.setdefault("queue", QUEUE_OF_A_MOVE)
    return Step(op=op, **given)


def _op(value: Json) -> Op:
    for op in OPS:
        if op == value:
            return op
    raise SienaError(f"there is no op {value!r}", hint=", ".join(OPS))


def _broker(value: Json) -> int:
    if type(value) is not int or value < 1:
        raise SienaError(f"a broker is a number from 1, not {value!r}")
    return value


def _queue(value: Json) -> int:
    if type(value) is not int or not 0 <= value <= QUEUE_MAX:
        raise SienaError(f"a queue is a number up to {QUEUE_MAX:,}, not {value!r}")
    return value


def _client(value: Json) -> str:
    if not isinstance(value, str) or not value:
        raise SienaError(f"a client or handler is a name, not {value!r}")
    return value


def _notification(value: Json) -> Notification:
    if isinstance(value, str):
        return parse_notification(value)
    return notification_from_json(value)


_READ: Mapping[str, tuple[str, Callable[[Json], object]]] = {
    "client": ("client", _client),
    "handler": ("handler", _client),
    "at": ("at", _broker),
    "to": ("to", _broker),
    "queue": ("queue", _queue),
    "filter": ("interest", interest_from_json),
    "advertisement": ("advertisement", advertisement_from_json),
    "notification": ("notification", _notification),
}
