"""What a WebSocket says about durable subscriptions, as frames."""

import msgspec

from siena.lang.json_text import Json
from siena.protocol.durable.reading import Ack, DurableSubscribe, Nak
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Body, Op

# What may stand beside the verb; ``start`` is "new", "all" or an offset.
DURABLE_OPTIONS = frozenset(
    {"durable", "start", "credit", "ack_wait", "max_deliver", "key", "delay"}
)


def durable_sub(interest: str, form: dict[str, Json], number: int) -> bytes:
    """``{"sub": "x > 3", "durable": "billing", "start": "all", …}``.

    >>> durable_sub("x any", {"durable": "b", "start": 7}, 1) == DurableSubscribe(
    ...     1, "x any", "b", "offset", 7).pack()
    True
    """
    start = form.get("start", "new")
    is_offset = isinstance(start, int) and not isinstance(start, bool)
    said: list[object] = [
        *(number, interest, form["durable"]),
        *(("offset", start) if is_offset else (start, 0)),
    ]
    names = DurableSubscribe.__struct_fields__[-4:]
    defaults = DurableSubscribe.__struct_defaults__[-4:]
    said += [form.get(n, d) for n, d in zip(names, defaults, strict=True)]
    return _read(DurableSubscribe, said, Op.DSUB)


def ack(which: Json, form: dict[str, Json]) -> bytes:
    """``{"ack": [4, 5], "number": 1}``, or ``{"ack": {"up_to": 9}, "number": 1}``.

    >>> ack({"up_to": 9}, {"number": 1}) == Ack(1, [], 9).pack()
    True
    """
    number = form.get("number")
    if isinstance(which, dict) and which.keys() == {"up_to"}:
        return _read(Ack, [number, [], which["up_to"]], Op.ACK)
    return _read(Ack, [number, which], Op.ACK)


def nak(which: Json, form: dict[str, Json]) -> bytes:
    """``{"nak": [6], "number": 1, "delay": 10}``."""
    delay = form.get("delay", 0.0)
    return _read(Nak, [form.get("number"), which, delay], Op.NAK)


def _read(kind: type[Body], fields: list[object], request: Op) -> bytes:
    try:
        return msgspec.convert(fields, kind).pack()
    except msgspec.ValidationError as error:
        name = request.name
        text = f"{name}: {error}"
        raise ProtocolError(Fault.BAD_REQUEST, text, request=request) from None
