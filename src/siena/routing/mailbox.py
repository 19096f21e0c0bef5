"""Identities and their handlers: where deliveries go, and what happens meanwhile.

A client is an identity; what is for it goes to its handler, at first to itself.  While
it is suspended nothing is delivered: it is dropped, or kept up to a bound.  What a
client brings along from another broker is merged with what was kept here, by key, so
that nothing comes twice.

Reference:
    CU-CS-888-99, section 3.1; our specification, A.8.
"""

from dataclasses import dataclass, field

from siena.messages import (
    Found,
    Key,
    Lost,
    MapIdentity,
    Notify,
    Outbox,
    Parcel,
    Resume,
    Suspend,
)

ClientRequest = MapIdentity | Parcel | Resume | Suspend

# How many a suspended client may have kept for it, whatever it asks for.
QUEUE_MAX = 100_000


@dataclass(slots=True)
class Mailbox:
    """What is for one client.

    >>> from siena.messages import Stamp
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
    kept: dict[Key, Notify | Found] = field(default_factory=dict)
    lost: set[Key] = field(default_factory=set)
    # What the client got, or did not get, elsewhere, and must not get again.
    settled: frozenset[Key] = frozenset()

    @property
    def is_suspended(self) -> bool:
        """Whether nothing is delivered."""
        return self.queue_max is not None

    def put(self, delivery: Notify | Found) -> Outbox:
        """Deliver, or keep."""
        if delivery.key in self.settled:
            return []
        if self.queue_max is None:
            return [(self.handler, delivery)]
        if len(self.kept) < self.queue_max:
            self.kept[delivery.key] = delivery
        elif self.queue_max:
            self.lost.add(delivery.key)
        return []

    def suspend(self, queue_max: int) -> None:
        """Deliver nothing any more; the bound of an earlier call is replaced."""
        self.queue_max = min(max(queue_max, 0), QUEUE_MAX)

    def resume(self) -> Outbox:
        """Deliver what was kept, and say how much was not."""
        out: Outbox = [(self.handler, delivery) for delivery in self.kept.values()]
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
        kept = {delivery.key: delivery for delivery in parcel.kept}
        others = parcel.lost | parcel.known
        kept |= {key: d for key, d in self.kept.items() if key not in others}
        self.settled = frozenset(kept) | others
        self.kept = kept
        self.lost = (self.lost | parcel.lost) - kept.keys() - parcel.known
        return self.resume()


class Mailboxes:
    """The mailboxes of all clients; one that never asked for anything needs none."""

    def __init__(self) -> None:
        self._mailboxes: dict[str, Mailbox] = {}

    def deliver(self, client: str, delivery: Notify | Found) -> Outbox:
        """Deliver a notification, or a sequence, to a client or to its mailbox."""
        mailbox = self._mailboxes.get(client)
        return [(client, delivery)] if mailbox is None else mailbox.put(delivery)

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
