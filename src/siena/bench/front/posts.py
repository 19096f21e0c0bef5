"""POST /publish of one notification each, over connections that stay."""

import socket

from siena.bench.front.quotes import quotes
from siena.bench.front.servers import Server
from siena.errors import SienaError

READ_BYTES = 65_536
# An answer comes within this time, or never.
ANSWER_SECONDS = 30.0


class Posts:
    """Some connections to one server, on each of which one request is on its way."""

    def __init__(self, server: Server, connections: int, requests: int) -> None:
        self._server = server
        self._sockets = [
            socket.create_connection(("127.0.0.1", server.ports[-1]), ANSWER_SECONDS)
            for _ in range(connections)
        ]
        for each in self._sockets:
            each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        rounds = max(1, requests // connections)
        self._requests = [
            [_request(quote.json) for quote in quotes(connections, at * connections)]
            for at in range(rounds)
        ]

    def once(self) -> float:
        """Post all of them; how many were published for a CPU second."""
        before = self._server.cpu_seconds()
        for requests in self._requests:
            for each, request in zip(self._sockets, requests, strict=True):
                each.sendall(request)
            for each in self._sockets:
                _check(each)
        spent = self._server.cpu_seconds() - before
        return len(self._requests) * len(self._sockets) / max(spent, 0.01)

    def close(self) -> None:
        """Hang up."""
        for each in self._sockets:
            each.close()


def _request(body: bytes) -> bytes:
    return (
        b"POST /publish HTTP/1.1\r\nHost: localhost\r\n"
        b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%b"
        % (len(body), body)
    )


def _check(connection: socket.socket) -> None:
    answer = b""
    while not answer.endswith(b"}"):
        came = connection.recv(READ_BYTES)
        if not came:
            raise SienaError("the server closed a connection")
        answer += came
    if not (
        answer.startswith(b"HTTP/1.1 200 ") and answer.endswith(b'{"published":1}')
    ):
        raise SienaError(f"the server answered {answer[:200]!r}")
