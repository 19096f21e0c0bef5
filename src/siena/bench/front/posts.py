"""POST /publish of one notification each, over connections that stay."""

import socket
from contextlib import ExitStack

from siena.bench.front.quotes import quotes
from siena.bench.front.servers import CLOCK_SECONDS, Server
from siena.errors import SienaError

READ_BYTES = 65_536
# An answer comes within this time, or never.
ANSWER_SECONDS = 30.0


def post(server: Server, connections: int, requests: int) -> float:
    """Post about so many, one at a time on each connection; how many for a CPU second.

    The connections are made for it: a server does not keep those that are silent.
    """
    with ExitStack() as stack:
        made = [
            stack.enter_context(_connected(server.ports[-1]))
            for _ in range(connections)
        ]
        rounds = max(1, requests // connections)
        bodies = [
            [_request(quote.json) for quote in quotes(connections, at * connections)]
            for at in range(rounds)
        ]
        before = server.cpu_seconds()
        for each in bodies:
            for connection, request in zip(made, each, strict=True):
                connection.sendall(request)
            for connection in made:
                _check(connection)
        spent = server.cpu_seconds() - before
    return rounds * connections / max(spent, CLOCK_SECONDS)


def _connected(port: int) -> socket.socket:
    made = socket.create_connection(("127.0.0.1", port), ANSWER_SECONDS)
    made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return made


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
