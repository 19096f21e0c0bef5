"""Gaps: clients learn when something may have been lost on its way to them.

A link that breaks loses what was on it, and what was published beyond it until it is up
again.  How much that was is not known; when it was is told to all clients on this side
of it that want to know, here and at the brokers behind, each of which hears it once.
"""

from collections import OrderedDict

from siena.broker.clients.requests import Requests
from siena.broker.clients.session import Session
from siena.broker.peers.link import Link
from siena.broker.state import BrokerState
from siena.messages import Side
from siena.protocol.control_frames import Gap

# How many gaps are remembered, so that one that comes again goes no further; and how
# far one goes.
KNOWN_MAX = 1_024
HOPS_MAX = 64


class Gaps:
    """Tells of gaps, and passes on those of other brokers."""

    def __init__(self, state: BrokerState, requests: Requests) -> None:
        self._state = state
        self._known: OrderedDict[tuple[int, int], None] = OrderedDict()
        self._number = 0
        # When links went, by neighbour, in microseconds.
        self._gone: dict[int, int] = {}
        requests.add(Gap, self._wants)

    def _wants(self, session: Session, _body: Gap) -> None:
        """A client wants to know, from now on; of what it has missed at once."""
        if session.sink is not None:
            session.sink.hears_gaps = True
            for gap in session.gaps:
                self._tell(session, gap)
            session.gaps.clear()

    # --- Our links ------------------------------------------------------------------

    def link_down(self, link: Link) -> None:
        """A link has gone: in a mesh others take its place, elsewhere nothing does."""
        start = self._now() - int(link.silent_seconds * 1e6)
        if link.side is Side.MESH:
            self._ours(start, f"the link to {link.name} broke", link.number)
        else:
            self._gone[link.number] = start

    def link_up(self, link: Link) -> None:
        """A link is up; if it was before, this ends a gap."""
        start = self._gone.pop(link.number, None)
        if start is not None:
            self._ours(start, f"the link to {link.name} was down", link.number)

    def tell_beyond(self, link: Link, since: float, reason: str) -> None:
        """Tell those behind a link that something for them was lost on this side."""
        if link.hears_gaps:
            self._number = max(self._number + 1, self._now())
            me, start = self._state.router.me, int(since * 1e6)
            gap = Gap(start, self._now(), reason, me, self._number, HOPS_MAX)
            self._known_now(gap)
            link.connection.reply(gap.pack())

    def _ours(self, start: int, reason: str, neighbour: int) -> None:
        """A gap of one of our links: told to all on our side of it."""
        # After another start of this broker numbers must not come again.
        self._number = max(self._number + 1, self._now())
        me = self._state.router.me
        gap = Gap(start, self._now(), reason, me, self._number, HOPS_MAX)
        self._known_now(gap)
        self._spread(gap, neighbour)

    # --- Those of others ------------------------------------------------------------

    def hear(self, gap: Gap, link: Link) -> None:
        """A neighbour tells of a gap; told on, unless that was done."""
        if self._known_now(gap):
            hops = min(gap.hops, HOPS_MAX) - 1
            fields = gap.start, gap.end, gap.reason, gap.broker, gap.number
            self._spread(Gap(*fields, hops), link.number)

    def _known_now(self, gap: Gap) -> bool:
        """Remember a gap; whether it is new."""
        key = gap.broker, gap.number
        if key in self._known:
            return False
        self._known[key] = None
        if len(self._known) > KNOWN_MAX:
            self._known.popitem(last=False)
        return True

    def _spread(self, gap: Gap, source: int) -> None:
        state = self._state
        state.counters.gaps += 1
        for session in list(state.sessions.values()):
            is_reading = session.interests or session.durables
            if is_reading and session.sink is not None:
                self._tell(session, gap)
        if gap.hops > 0:
            for number, link in list(state.links.items()):
                if number != source and isinstance(link, Link) and link.hears_gaps:
                    link.connection.reply(gap.pack())

    def _tell(self, session: Session, gap: Gap) -> None:
        if session.sink is not None and session.sink.hears_gaps:
            session.reply(Gap(gap.start, gap.end, gap.reason).pack())

    def _now(self) -> int:
        return self._state.clock.nanoseconds() // 1_000
