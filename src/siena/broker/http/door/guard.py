"""The guard: lets a request in only if no other site has made a browser send it.

A page of another site can send requests here with the rights of the browser's user.
If it does, its browser says so in ``Origin``; unless that page has let a name of its
own point at us, and then ``Host`` has that name.  For what it sends without wanting to
read the answer, a picture or a window, there is no ``Origin``, but ``Sec-Fetch-Site``:
to look at ``/subscribe`` would be enough to make a durable subscription.  Links may
lead to the pages of the console, which tell nothing.
"""

import ipaddress
from collections.abc import Iterable
from functools import lru_cache
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from siena.broker.http.door.authentication import is_open
from siena.broker.http.faults import HttpError, answer_of
from siena.protocol.error_codes import Fault

# Names of which it is remembered whether they are ours.
HOSTS_REMEMBERED = 256
# Where a browser says that a request is from: a page of ours, or its user.
OUR_SITES = frozenset({"same-origin", "none"})


class Guard:
    """Checks Host and Origin of everything."""

    def __init__(self, app: ASGIApp, hosts: Iterable[str]) -> None:
        self._app = app
        self._hosts = frozenset(host.lower() for host in hosts) | {"localhost"}
        # The same few ask again and again.
        self._is_ours = lru_cache(HOSTS_REMEMBERED)(self._look_up)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let it in, or answer."""
        if scope["type"] in {"http", "websocket"}:
            is_secure = scope["scheme"] in {"https", "wss"}
            headers = Headers(scope=scope)
            error = self.objection(headers, scope["path"], is_secure=is_secure)
            if error is not None:
                await self._refuse(error, scope, receive, send)
                return
        await self._app(scope, receive, send)

    def objection(
        self, headers: Headers, path: str, *, is_secure: bool = False
    ) -> HttpError | None:
        """What is wrong with where it comes from."""
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            text = "Host is not a name of this server"
            return HttpError(Fault.NOT_ALLOWED, text, status=421)
        ours = f"http{'s' * is_secure}://{hosts[0].lower()}"
        is_of_others = any(origin.lower() != ours for origin in origins)
        if is_of_others or (not origins and _is_made_by_others(headers, path)):
            text = "no page of another site may ask for this"
            return HttpError(Fault.NOT_ALLOWED, text, status=403)
        return None

    def _look_up(self, host: str) -> bool:
        """Whether it is a name that we know, or no name at all."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
            if name in self._hosts:
                return True
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    async def _refuse(
        self, error: HttpError, scope: Scope, receive: Receive, send: Send
    ) -> None:
        if scope["type"] == "websocket":
            await receive()  # that somebody wants to connect
            await send({"type": "websocket.close", "code": 1008})
        else:
            await answer_of(error)(scope, receive, send)


def _is_made_by_others(headers: Headers, path: str) -> bool:
    """Whether a page of another site has made the browser ask, not only led here.

    >>> _is_made_by_others(Headers({"sec-fetch-site": "cross-site"}), "/subscribe")
    True
    >>> led = Headers({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"})
    >>> [_is_made_by_others(led, path) for path in ("/console/", "/subscribe")]
    [False, True]
    >>> _is_made_by_others(Headers(), "/subscribe")  # no browser
    False
    """
    if OUR_SITES.issuperset(headers.getlist("sec-fetch-site")):
        return False
    return headers.get("sec-fetch-mode") != "navigate" or not is_open(path)
