"""Who listens where, who can reach whom, and whether anything is on its way.

A host is a name in a context variable: what is done in a context is done by that host,
and so are the tasks and callbacks that follow from it.  So a broker that is started as
a host calls others as that host, and nothing in it knows.
"""

import asyncio
import random
from collections.abc import Callable
from contextvars import Context, ContextVar, copy_context
from socket import socket

from virtual.pipe import INSTANT, Delays, Pipe
from virtual.transport import Address, Transport

HOST: ContextVar[str] = ContextVar("HOST", default="")

Factory = Callable[[], asyncio.BaseProtocol]
Pair = frozenset[str]
# How often a host calls another that does not answer.
CALL_AGAIN_SECONDS = 1.0


class Listener:
    """A host that accepts connections, until it is closed.

    Ownership: of the socket, which holds the port and is never accepted from.
    """

    def __init__(self, network: "Network", factory: Factory, sock: socket) -> None:
        self.factory = factory
        self.context = copy_context()
        self.host = HOST.get()
        self._network = network
        self._socket = sock
        self.port: int = sock.getsockname()[1]

    def close(self) -> None:
        """Accept no connection any more."""
        self._network.listeners.pop(self.port, None)
        self._socket.close()

    async def wait_closed(self) -> None:
        """Nothing is left to wait for."""


class Network:
    """All connections of a loop.

    Everything about it is drawn from the seed: how long each piece takes, and where
    what is written together is cut.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, seed: int) -> None:
        self._loop = loop
        self._rng = random.Random(seed)
        self.listeners: dict[int, Listener] = {}
        self.delays: dict[tuple[str, str], Delays] = {}
        """How long a piece takes from the first host to the second; else no time."""
        self._cut: set[Pair] = set()
        self._mute: set[Pair] = set()
        self._ends: dict[Transport, Pair] = {}
        self._pipes: dict[Transport, Pipe] = {}
        self._calling = 0

    @property
    def is_quiet(self) -> bool:
        """Whether nothing is on its way."""
        return not self._calling and all(p.is_empty for p in self._pipes.values())

    # --- What tests do to it --------------------------------------------------------

    def cut(self, one: str, other: str) -> None:
        """Break all connections between two hosts, and let there be no others."""
        pair = frozenset((one, other))
        self._cut.add(pair)
        for end in [end for end, hosts in self._ends.items() if hosts == pair]:
            end.cut()

    def mute(self, one: str, other: str) -> None:
        """Lose all that two hosts send each other, and tell neither of them."""
        pair = frozenset((one, other))
        self._mute.add(pair)
        for end in [end for end, hosts in self._ends.items() if hosts == pair]:
            self._pipes[end].shatter()

    def heal(self, one: str, other: str) -> None:
        """Let two hosts reach each other again."""
        self._cut.discard(frozenset((one, other)))
        self._mute.discard(frozenset((one, other)))

    # --- What the loop asks for -----------------------------------------------------

    def listen(self, factory: Factory, sock: socket) -> Listener:
        """Accept connections at the port of a socket, as the host of this context."""
        listener = Listener(self, factory, sock)
        self.listeners[listener.port] = listener
        return listener

    async def connect(
        self, factory: Factory, port: int
    ) -> tuple[Transport, asyncio.BaseProtocol]:
        """Connect the host of this context to the server that listens there.

        Raises:
            ConnectionRefusedError: if nobody does, or that host cannot be reached.
        """
        here = HOST.get()
        self._calling += 1
        try:
            low, high = self._between(here, self._host_at(port))
            await asyncio.sleep(self._rng.uniform(low, high) if high else 0.0)
            while frozenset((here, self._host_at(port))) in self._mute:  # noqa: ASYNC110 -- nobody tells
                await asyncio.sleep(CALL_AGAIN_SECONDS)
        finally:
            self._calling -= 1
        listener = self.listeners.get(port)
        if listener is None or frozenset((here, listener.host)) in self._cut:
            raise ConnectionRefusedError(f"nobody can be reached at port {port}")
        mine, theirs = self._wire(here, listener, port)
        protocol = factory()
        mine.begin(protocol)
        self._loop.call_soon(
            lambda: theirs.begin(listener.factory()), context=theirs.context
        )
        return mine, protocol

    def _host_at(self, port: int) -> str:
        listener = self.listeners.get(port)
        return "" if listener is None else listener.host

    def _between(self, one: str, other: str) -> Delays:
        return self.delays.get((one, other), INSTANT)

    def _wire(
        self, here: str, listener: Listener, port: int
    ) -> tuple[Transport, Transport]:
        """The two ends of a new connection."""
        there = listener.host
        mine = self._end(copy_context(), ("127.0.0.1", port), here, there)
        # Who calls has no port: nobody calls back there.
        theirs = self._end(listener.context, ("127.0.0.1", 0), here, there)
        out = self._pipe(here, there, theirs)
        back = self._pipe(there, here, mine)
        mine.attach(out, back)
        theirs.attach(back, out)
        return mine, theirs

    def _end(self, context: Context, peer: Address, here: str, there: str) -> Transport:
        end = Transport(self._loop, context.copy(), peer)
        self._ends[end] = frozenset((here, there))
        end.on_lost = lambda: self._forget(end)
        return end

    def _pipe(self, source: str, target: str, to: Transport) -> Pipe:
        pipe = self._pipes[to] = Pipe(
            self._loop,
            self._rng,
            lambda: self._between(source, target),
            to.take,
            to.context,
        )
        return pipe

    def _forget(self, end: Transport) -> None:
        """What still comes for an end that has gone disappears."""
        del self._ends[end]
        self._pipes.pop(end).shatter()
