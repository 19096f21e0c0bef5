"""One broker of CBCB, as a pure state machine.

``handle`` takes a message and the neighbour it came from, and gives back what to send
to whom.  What is sent to the broker's own number is for its own applications.

*Theory of operation.*  The table says for each neighbour what is wanted behind it.

====  =========================================================================
RA    widens the table on the interface it came from, and goes on down the tree
      of its issuer.  The paper stops it where the table covers it already; that
      *loses routes* (T-C20, and even on a tree once a request has narrowed the
      tables on one side), so it is an option here and not the default.
SR    goes down the tree of its issuer; the ends of branches answer at once.
UR    comes up again, joined at every fork, and *replaces* the issuer's table on
      the interface it came from.
ME    goes down the tree of its source to the interfaces where it is wanted.
====  =========================================================================

*A race, and what we add.*  A branch may answer a request, then want more, and advertise
it while its answer still waits at a fork for the other branches.  The advertisement
would overtake the answer, and the answer would undo it at the issuer.  So an
advertisement that passes a waiting answer on the way to its issuer is added to it.
Links must not reorder messages.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from siena.matching.matcher import Matcher
from siena.model import Filter, Notification
from siena.research.cbcb.broadcast import Broadcast
from siena.research.cbcb.frontier import Frontier
from siena.research.cbcb.messages import (
    ContentMessage,
    Message,
    ReceiverAdvertisement,
    SenderRequest,
    UpdateReply,
    Wanted,
    join,
)
from siena.research.cbcb.table import InterfaceTable
from siena.routing.topology.topology import Broker

Sends = list[tuple[Broker, Message]]
"""What to send, and to which neighbour; the broker itself is its applications."""


@dataclass(frozen=True, slots=True)
class Options:
    """How a broker behaves.

    Args:
        prunes: stop advertisements that the table covers, as in the paper.
        batches: keep what is new until ``advertise`` is called, instead of advertising
            every growth at once.
        skips_empty: send no request where nothing is known to be wanted.
        messages_min: send a request only where so many messages were sent since the
            last one.
    """

    prunes: bool = False
    batches: bool = False
    skips_empty: bool = False
    messages_min: int = 0


@dataclass(slots=True)
class Counters:
    """How messages of others fared at a broker.

    ``unmatched`` is the papers' false positive: nothing in the table, nor in the
    broker's own predicate, matched.  ``useless`` messages were neither delivered nor
    sent on; there may be more of them, since the table may want a message on an
    interface where the tree of its source does not go.
    """

    received: int = 0
    delivered: int = 0
    unmatched: int = 0
    useless: int = 0


@dataclass(slots=True)
class _Waiting:
    """A request that was passed on, and what was answered so far."""

    branches: set[Broker]
    wanted: set[Filter] = field(default_factory=set)
    # Whether it was there already when the last `expire` looked.
    is_old: bool = False


class Node:
    """One broker of CBCB.

    >>> from siena.lang.parser import parse_filter as parse
    >>> from siena.routing.topology.topology import Topology
    >>> chain = Broadcast.shortest_paths(Topology([(1, 2), (2, 3)]))
    >>> node = Node(2, chain)
    >>> node.handle(ReceiverAdvertisement(1, (parse("x > 3"),)), source=1)
    [(3, ReceiverAdvertisement(issuer=1, wanted=(<Filter x > 3>,)))]
    >>> [str(f) for f in node.table.wanted(1)]
    ['x > 3']
    """

    def __init__(
        self,
        broker: Broker,
        broadcast: Broadcast,
        options: Options | None = None,
        *,
        matcher: Callable[[], Matcher] | None = None,
    ) -> None:
        self.broker = broker
        self.broadcast = broadcast
        self.options = options or Options()
        self.table = InterfaceTable(matcher)
        self.counters = Counters()
        # The table of one interface, the broker's own applications: p_0 of the paper.
        self._own = InterfaceTable()
        self._has_grown = False
        self._requests = 0
        self._messages = 0
        # By the issuer and the number of the request; the broker's own as well.
        self._waiting: dict[tuple[Broker, int], _Waiting] = {}
        # Messages sent to each neighbour since it was last sent a request.
        self._sent: dict[Broker, int] = {}

    @property
    def wanted(self) -> Wanted:
        """What the broker's own applications want."""
        return self._own.wanted(self.broker)

    def wants(self, notification: Notification) -> bool:
        """Whether the broker's own applications want a notification."""
        return bool(self._own.match(notification))

    # --- What the broker does of its own accord -----------------------------------

    def want(self, wanted: Iterable[Filter]) -> Sends:
        """From now on, the applications want this, and nothing else.

        What is new is advertised.  What is no longer wanted is not: others learn of it
        when they ask.
        """
        new = join(wanted)
        # Compared with what is wanted now, not with what was ever advertised: a reply
        # in between may have told others of the smaller predicate.
        self._has_grown |= not self._own.covers(self.broker, new)
        self._own.replace(self.broker, new)
        return [] if self.options.batches else self.advertise()

    def advertise(self) -> Sends:
        """Advertise what has grown since the last advertisement, if anything has."""
        if not self._has_grown:
            return []
        self._has_grown = False
        message = ReceiverAdvertisement(self.broker, self.wanted)
        return self._to_children(self.broker, message)

    def request(self) -> Sends:
        """Ask all branches what is wanted there, as far as the options say."""
        branches = [
            child
            for child in self._askable(self.broker)
            if self._sent.get(child, 0) >= self.options.messages_min
        ]
        if not branches:
            return []
        self._requests += 1
        self._waiting[self.broker, self._requests] = _Waiting(set(branches))
        for branch in branches:
            self._sent[branch] = 0
        message = SenderRequest(self.broker, self._requests)
        return [(branch, message) for branch in branches]

    def publish(self, notification: Notification) -> Sends:
        """Send a notification of the broker's own applications to all who want it."""
        self._messages += 1
        message = ContentMessage(self.broker, self._messages, notification)
        return self._forward(message, self._matched(notification))

    def expire(self) -> None:
        """Forget requests that were waiting already when this was last called.

        Answers to them will be ignored, and tables stay as they are: too wide at the
        worst.  A partial answer would narrow them too much.
        """
        self._waiting = {k: w for k, w in self._waiting.items() if not w.is_old}
        for waiting in self._waiting.values():
            waiting.is_old = True

    # --- What it does with the messages of others ----------------------------------

    def handle(self, message: Message, source: Broker) -> Sends:
        """Take a message from a neighbour; what to send to whom."""
        match message:
            case ReceiverAdvertisement():
                return self._handle_advertisement(message, source)
            case SenderRequest():
                return self._handle_request(message, source)
            case UpdateReply():
                return self._handle_reply(message, source)
            case ContentMessage():
                return self._handle_content(message, source)

    def _handle_advertisement(
        self, message: ReceiverAdvertisement, source: Broker
    ) -> Sends:
        onward = self.broadcast.children(message.issuer, self.broker)
        for (issuer, _), waiting in self._waiting.items():
            # Where the branch has answered, and the advertisement goes on towards the
            # issuer of the request, the answer must not lag behind it.
            if (
                source not in waiting.branches
                and self.broadcast.parent(issuer, self.broker) in onward
            ):
                waiting.wanted.update(message.wanted)
        if self.options.prunes and self.table.covers(source, message.wanted):
            return []
        self.table.widen(source, message.wanted)
        return [(child, message) for child in onward]

    def _handle_request(self, message: SenderRequest, source: Broker) -> Sends:
        key = message.issuer, message.number
        branches = self._askable(message.issuer)
        if branches:
            self._waiting[key] = _Waiting(set(branches))
            return [(branch, message) for branch in branches]
        return [(source, UpdateReply(*key, self.wanted))]

    def _handle_reply(self, message: UpdateReply, source: Broker) -> Sends:
        key = message.issuer, message.number
        waiting = self._waiting.get(key)
        if waiting is None or source not in waiting.branches:
            return []  # late, or never asked for
        waiting.branches.remove(source)
        waiting.wanted.update(message.wanted)
        is_own = message.issuer == self.broker
        if is_own:
            self.table.replace(source, message.wanted)
        if waiting.branches:
            return []
        del self._waiting[key]
        parent = self.broadcast.parent(message.issuer, self.broker)
        if is_own or parent is None:
            return []
        wanted = _reduced(join(self.wanted, waiting.wanted))
        return [(parent, UpdateReply(*key, wanted))]

    def _handle_content(self, message: ContentMessage, source: Broker) -> Sends:
        matched = self._matched(message.notification)
        sends = self._forward(message, matched - {source})
        self.counters.received += 1
        self.counters.delivered += self.broker in matched
        self.counters.unmatched += not matched
        self.counters.useless += not sends
        return sends

    # --- Helpers --------------------------------------------------------------------

    def _forward(self, message: ContentMessage, matched: frozenset[Broker]) -> Sends:
        children = self.broadcast.children(message.source, self.broker)
        targets = [t for t in (self.broker, *children) if t in matched]
        for target in targets:
            self._sent[target] = self._sent.get(target, 0) + 1
        return [(target, message) for target in targets]

    def _matched(self, notification: Notification) -> frozenset[Broker]:
        """The interfaces that want it, the broker's own applications included."""
        return self._own.match(notification) | self.table.match(notification)

    def _askable(self, issuer: Broker) -> list[Broker]:
        children = self.broadcast.children(issuer, self.broker)
        skips = self.options.skips_empty
        return [c for c in children if not (skips and self.table.is_empty(c))]

    def _to_children(self, root: Broker, message: Message) -> Sends:
        children = self.broadcast.children(root, self.broker)
        return [(child, message) for child in children]


# Answers of one branch differ only where an interest has changed since the last.
@lru_cache(maxsize=1 << 10)
def _reduced(wanted: Wanted) -> Wanted:
    """Without what is covered, so that replies do not grow with every fork."""
    frontier = Frontier()
    for f in wanted:
        frontier.add(f)
    return join(frontier)
