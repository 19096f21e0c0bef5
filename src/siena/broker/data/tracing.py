"""Tracing: a publication of which every broker on the way says what it did.

The answers travel back the way that the notification came: each broker remembers for a
while from where it got a traced one.
"""

from hashlib import blake2b
from typing import Protocol

from msgspec.structs import replace

from siena.block import decode
from siena.broker.data.batch import Source
from siena.broker.data.exchange import Routed
from siena.broker.state import BrokerState
from siena.messages import Stamp
from siena.messages.interface import TTL_MAX
from siena.protocol.control_frames import Hop, Trace
from siena.protocol.data_frames import TRACED, Forwarded, TracedPublication, unpack_msg
from siena.protocol.fast.forward_runs import ForwardRun
from siena.protocol.frames import HEAD_BYTES

# Traced publications whose answers still find their way back.
TRACES_MAX = 1_024
# What one answer names, of links and of subscriptions.
NAMED_MAX = 100


class Batches(Protocol):
    """Where publications are routed."""

    def add_forwarded(self, source: Source, run: ForwardRun) -> Routed | None:
        """Take publications in a row, with what goes before them to a neighbour.

        What is long is routed at once; then what followed.
        """
        ...

    def flush(self) -> Routed | None:
        """Route everything that has come."""
        ...


class Tracing:
    """Routes what is traced on its own, and answers."""

    def __init__(self, state: BrokerState, batches: Batches) -> None:
        self._state = state
        self._batches = batches
        # Where the answers about a publication go, and under which token.
        self._returns: dict[int, tuple[Source, int]] = {}

    def publish(self, source: Source, publication: TracedPublication) -> None:
        """A client publishes, and wants to know."""
        self._batches.flush()
        router, time = self._state.router, self._state.clock.now()
        stamp = Stamp(router.me, router.epoch, router.published)
        head = Forwarded(stamp, router.me, time, TTL_MAX, TRACED, publication.block)
        self._state.counters.publications += 1
        self._route(source, head, publication.token, "a client")

    def forward(self, source: Source, head: Forwarded, came_from: str) -> None:
        """A neighbour forwards one that is traced."""
        self._batches.flush()
        self._route(source, head, token_of(head.stamp), came_from)

    def answer(self, trace: Trace) -> None:
        """Hand an answer of another broker on, to the client that traces."""
        if trace.token in self._returns:
            source, token = self._returns[trace.token]
            self._reply(source, token, trace.hop)

    def _route(
        self, source: Source, head: Forwarded, token: int, came_from: str
    ) -> None:
        state = self._state
        self._returns[token_of(head.stamp)] = source, token
        if len(self._returns) > TRACES_MAX:
            del self._returns[next(iter(self._returns))]
        before = {n: link.snapshot()["forwarded"] for n, link in state.links.items()}
        arrived = state.clock.now()
        routed = self._batches.add_forwarded(source, ForwardRun.of(head))
        if routed is None:  # it is not so long that it was routed at once
            routed = self._batches.flush()
        if routed is None or routed.bad or not routed.total:
            return
        went_to = [
            str(shown["name"])
            for number, link in state.links.items()
            if (shown := link.snapshot())["forwarded"] != before.get(number)
        ]
        hop = Hop(
            state.name,
            arrived,
            max(0.0, state.clock.now() - arrived),
            came_from,
            went_to[:NAMED_MAX],
            [*self._matched(routed), *self._wanted(head.block, went_to)][:NAMED_MAX],
        )
        self._reply(source, token, hop)

    def _reply(self, source: Source, token: int, hop: Hop) -> None:
        """Tell a neighbour all, and a client what it may see of the others' filters."""
        is_whole = self._state.gate.sight(source.principal).is_whole
        if source.neighbour is None and not is_whole:
            hop = replace(hop, matched=[*map(_without_filter, hop.matched)])
        source.reply(Trace(token, hop).pack())

    def _matched(self, routed: Routed) -> list[str]:
        """The subscriptions of clients here that matched."""
        return [
            f"{session.name or session.number}: {session.interests[number]}"
            for session, frame in (
                (self._state.sessions[number], frame) for number, frame, _ in routed.out
            )
            for number in sorted(unpack_msg(frame[HEAD_BYTES:]).subscriptions)
        ]

    def _wanted(self, block: bytes, went_to: list[str]) -> list[str]:
        """The filters because of which it went to neighbours."""
        state, table = self._state, self._state.router.tables.filters
        names = {n: link.snapshot()["name"] for n, link in state.links.items()}
        return [
            f"→ {names[holder.hop]}: {f}"
            for f in sorted(table.order.match(decode(block)), key=str)
            for holder in sorted(table.holders(f), key=str)
            if isinstance(holder.hop, int) and names.get(holder.hop) in went_to
        ]


def _without_filter(matched: str) -> str:
    """That something was wanted, but not by whom and why.

    >>> _without_filter("→ two: x > 3"), _without_filter("ann: x > 3")
    ('→ two', 'a subscription')
    """
    if matched.startswith("→ "):
        return matched.partition(": ")[0]
    return "a subscription"


def token_of(stamp: Stamp) -> int:
    """The token of a traced publication between brokers."""
    digest = blake2b(repr(tuple(stamp)).encode(), digest_size=4).digest()
    return int.from_bytes(digest)
