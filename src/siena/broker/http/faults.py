"""What is wrong with a request: a status, and the object that the line mode has.

``{"siena": "ERR", "error": 101, "name": "BAD_INTEREST", "text": …, "column": 4, …}``
"""

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.text.output import error_line

STATUS = {
    Fault.TOO_MANY: 429,
    Fault.NOT_ADVERTISED: 403,
    Fault.NOT_ALLOWED: 403,
    Fault.NUMBER_UNKNOWN: 404,
    Fault.TOO_LONG: 413,
    Fault.IDENTITY_TAKEN: 409,
    Fault.NO_ROOM: 503,
    Fault.NO_STORE: 501,
    Fault.DURABLE_UNKNOWN: 404,
    Fault.NOT_STORED: 503,
    Fault.TOO_SLOW: 503,
    Fault.DRAINING: 503,
    Fault.TOO_MANY_CONNECTIONS: 503,
    Fault.TIMED_OUT: 408,
    Fault.FORBIDDEN: 403,
    Fault.QUOTA: 429,
    Fault.OVER_QUOTA: 503,
    Fault.NOT_ADMITTED: 401,
    Fault.CREDENTIAL_EXPIRED: 401,
    Fault.CREDENTIAL_REVOKED: 401,
    Fault.IDENTITY_REFUSED: 403,
    Fault.BROKEN: 500,
}


class HttpError(ProtocolError):
    """A fault with another status than it usually has."""

    def __init__(self, fault: Fault, message: str, *, status: int) -> None:
        super().__init__(fault, message)
        self.status = status


def answer_of(error: ProtocolError) -> Response:
    """The answer to a request that cannot be carried out.

    >>> answer = answer_of(ProtocolError(Fault.TOO_LONG, "too long"))
    >>> answer.status_code, answer.body[:26]
    (413, b'{"siena":"ERR","error":202')
    """
    usual = STATUS.get(error.fault, 400)
    status = error.status if isinstance(error, HttpError) else usual
    # Not Basic, for which a browser would ask with a window of its own.
    headers = {"www-authenticate": "Bearer"} if status == 401 else None
    return Response(error_line(error), status, headers, media_type="application/json")


async def on_protocol_error(_: Request, error: Exception) -> Response:
    """For starlette: an error of ours."""
    assert isinstance(error, ProtocolError)
    return answer_of(error)


async def on_http_error(_: Request, error: Exception) -> Response:
    """For starlette: an error of its own, such as a path that is not there."""
    assert isinstance(error, HTTPException)
    text = {404: "there is nothing here", 405: "not with this method"}
    message = text.get(error.status_code, error.detail)
    answer = answer_of(HttpError(Fault.BAD_REQUEST, message, status=error.status_code))
    answer.headers.update(error.headers or {})
    return answer


async def on_our_mistake(_: Request, __: Exception) -> Response:
    """For starlette: a mistake of ours; it is in the log."""
    return answer_of(ProtocolError(Fault.BROKEN, "a mistake of the broker"))
