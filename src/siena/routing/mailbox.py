"""Identities and their handlers: where deliveries go, and what happens meanwhile.

A client is an identity; what is for it goes to its handler, at first to itself.  While
it is suspended nothing is delivered: it is dropped, or kept up to a bound.  What a
client brings along from another broker is merged with what was kept here, by stamp, so
that nothing comes twice.

Reference:
    CU-CS-888-99, section 3.1; our specification, A.8.
"""

from dataclasses import dataclass, field

from siena.messages import (
    Lost,
    MapIdentity,
    Notify,
    Outbox,
    Parcel,
    Resume,
    Stamp,
    Suspend,
)

ClientRequest = MapIdentity | Parcel | Resume | Suspend

# How many a suspended client may have kept for it, whatever it asks for.
QUEUE_MAX = 100_000


@dataclass(slots=True)
class Mailbox:
    """What is for one client.

    >>> from siena.model import Notification
    >>> mailbox = Mailbox("a")
    >>> mailbox.suspend(1)
    >>> for number in range(3):
    ...     assert not mailbox.put(Notify(Notification(), Stamp(1, 0, number)))
    >>> for handler, message in mailbox.resume():
    ...     print(handler, message)
    a Notify(notification=<Notification []>, stamp=Stamp(broker=1, epoch=0, number=0),
      time=0, root=0, ttl=1024)
    a Lost(count=2)
    """

    handler: str
    queue_max: int | None = None  # None: not suspended
    kept: dict[Stamp, Notify] = field(default_factory=dict)
    lost: set[Stamp] = field(default_factory=set)
    # What the client got, or did not get, elsewhere, and must not get again.
    settled: frozenset[Stamp] = frozenset()

    @property
    def is_suspended(self) -> bool:
        """Whether nothing is delivered."""
        return self.queue_max is not None

    def put(self, notify: Notify) -> Outbox:
        """Deliver, or keep."""
        if notify.stamp in self.settled:
            return []
        if self.queue_max is None:
            return [(self.handler, notify)]
        if len(self.kept) < self.queue_max:
            self.kept[notify.stamp] = notify
        elif self.queue_max:
            self.lost.add(notify.stamp)
        return []

    def suspend(self, queue_max: int) -> None:
        """Deliver nothing any more; the bound of an earlier call is replaced."""
        self.queue_max = min(max(queue_max, 0), QUEUE_MAX)

    def resume(self) -> Outbox:
        """Deliver what was kept, and say how much was not."""
        out: Outbox = [(self.handler, notify) for notify in self.kept.values()]
        if self.lost:
            out.append((self.handler, Lost(len(self.lost))))
        self.queue_max = None
        self.kept = {}
        self.lost = set()
        return out

    def pack(self) -> Parcel:
        """What a client that has gone left here."""
        return Parcel(tuple(self.kept.values()), frozenset(self.lost))

    def unpack(self, parcel: Parcel) -> Outbox:
        """Deliver what the client brought along, then what was kept here; once each."""
        kept = {notify.stamp: notify for notify in parcel.kept}
        others = parcel.lost | parcel.known
        kept |= {s: n for s, n in self.kept.items() if s not in others}
        self.settled = frozenset(kept) | others
        self.kept = kept
        self.lost = (self.lost | parcel.lost) - kept.keys() - parcel.known
        return self.resume()


class Mailboxes:
    """The mailboxes of all clients; one that never asked for anything needs none."""

    def __init__(self) -> None:
        self._mailboxes: dict[str, Mailbox] = {}

    def deliver(self, client: str, notify: Notify) -> Outbox:
        """Deliver a notification to a client, or to its mailbox."""
        mailbox = self._mailboxes.get(client)
        return [(client, notify)] if mailbox is None else mailbox.put(notify)

    def is_suspended(self, client: str) -> bool:
        """Whether nothing is delivered to a client."""
        return client in self._mailboxes and self._mailboxes[client].is_suspended

    def handle(self, request: ClientRequest, client: str) -> Outbox:
        """Do what a client asks for."""
        mailbox = self._mailboxes.setdefault(client, Mailbox(client))
        if isinstance(request, Suspend):
            mailbox.suspend(request.queue_max)
            return []
        if isinstance(request, Parcel):
            return mailbox.unpack(request)
        if isinstance(request, MapIdentity):
            mailbox.handler = request.handler
        return mailbox.resume()

    def depart(self, client: str) -> Outbox:
        """Forget a client; it gets what was kept for it, to take along."""
        mailbox = self._mailboxes.pop(client, Mailbox(client))
        return [(client, mailbox.pack())]
