"""Mailboxes: where deliveries go, and where they wait while a client is away.

What is for a client goes to its handler, at first to itself.  While the client is
suspended nothing is delivered: it is dropped, or kept up to a bound.  What a client
brings along from another broker is merged with what was kept here, by key, so that
nothing comes twice.

Reference:
    CU-CS-888-99, section 3.1; our specification, A.8.
"""

from collections import deque
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field, replace
from typing import Protocol

from siena.messages import (
    Encoded,
    Found,
    Interface,
    Key,
    Letter,
    Lost,
    Notify,
    Numbered,
    Outbox,
    Parcel,
    Party,
    Stamp,
    client_of,
)
from siena.routing.stamps.seen import Seen

# How many a suspended client may have kept for it, whatever it asks for, and how many
# bytes of them.
QUEUE_MAX = 1_000_000
QUEUE_BYTES_MAX = 8 * 2**20

# What a letter takes besides its bytes; and of so many deliveries one counts all.
LETTER_BYTES = 512
COUNTED_EVERY = 4_096

# And how many, if the client did not say.
QUEUE_DEFAULT = 1_000

# Of how many that were not kept while a client arrives the keys are remembered, so that
# what its old broker lost, too, counts once.
MISSED_MAX = 10_000


class Watcher(Protocol):
    """The body of a broker, which wants to know what happens to mailboxes."""

    def suspended(self, client: str) -> None:
        """What is for a client is kept from now on."""
        ...

    def resumed(self, client: str) -> None:
        """And from now on delivered again."""
        ...

    def lost(self, client: str) -> None:
        """A letter for a client was not kept."""
        ...


@dataclass(slots=True)
class Mailbox:
    """What is for one client.

    >>> from siena.messages import Notify
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
    kept: deque[Letter] = field(default_factory=deque)
    size: int = 0
    lost: int = 0
    # While the client arrives from another broker: what was not kept here.
    missed: set[Key] = field(default_factory=set)
    is_arriving: bool = False

    @property
    def is_suspended(self) -> bool:
        """Whether nothing is delivered."""
        return self.queue_max is not None

    def put(self, letter: Letter) -> Outbox:
        """Deliver, or keep."""
        if self.queue_max is None:
            return [(self.handler, letter)]
        if len(self.kept) < self.queue_max and self.size < QUEUE_BYTES_MAX:
            self.kept.append(letter)
            self.size += size_of(letter)
        else:  # counted also for a client that wants nothing kept: it shall know
            self.lost += 1
            if self.is_arriving and letter.key and len(self.missed) < MISSED_MAX:
                self.missed.add(letter.key)
        return []

    def suspend(self, queue_max: int) -> None:
        """Deliver nothing any more; the bound of an earlier call is replaced."""
        self.queue_max = min(max(queue_max, 0), QUEUE_MAX)

    def resume(self) -> Outbox:
        """Deliver what was kept, and say how much was not."""
        out: Outbox = [(self.handler, letter) for letter in self.kept]
        if self.lost:
            out.append((self.handler, Lost(self.lost)))
        self.queue_max = None
        self._empty()
        return out

    def pack(self) -> Parcel:
        """What is handed over to the client's new broker."""
        known = frozenset(letter.key for letter in self.kept if letter.key)
        return Parcel(tuple(self.kept), self.lost, known)

    def merge(self, parcel: Parcel, asked_there: Collection[Hashable]) -> None:
        """Put what was kept elsewhere before what was kept here, and that only once.

        What the old broker has seen it has delivered, kept or lost, if one of the
        subscriptions ``asked_there`` wanted it; what others want comes from here.
        """
        elsewhere = _Elsewhere(parcel)
        here = [
            left
            for letter in self.kept
            if (left := elsewhere.left_of(letter, asked_there)) is not None
        ]
        lost_twice = sum(elsewhere.knows(key) for key in self.missed)
        lost = self.lost + parcel.lost - lost_twice
        self._empty()
        self.kept = deque([*parcel.kept, *here])
        self.size = sum(map(size_of, self.kept))
        self.lost = lost

    def drop(self, numbers: Collection[int]) -> None:
        """Forget what only these subscriptions wanted; another broker keeps it."""
        left: list[Letter] = []
        for letter in self.kept:
            if isinstance(letter, Numbered):
                others = tuple(n for n in letter.numbers if n not in numbers)
                if others:
                    left.append(replace(letter, numbers=others))
        self.kept = deque(left)
        self.size = sum(map(size_of, left))

    def cut(self) -> None:
        """Keep no more than the bounds allow, after a merge."""
        while self.kept and (
            len(self.kept) > (self.queue_max or 0) or self.size > QUEUE_BYTES_MAX
        ):
            self.size -= size_of(self.kept.pop())
            self.lost += 1

    def _empty(self) -> None:
        self.kept = deque()
        self.size = 0
        self.lost = 0
        self.missed.clear()
        self.is_arriving = False


class _Elsewhere:
    """What the old broker of a client knows."""

    def __init__(self, parcel: Parcel) -> None:
        self._known = parcel.known
        self._seen = Seen(parcel.seen)

    def left_of(
        self, letter: Letter, asked_there: Collection[Hashable]
    ) -> Letter | None:
        """What is left of a letter for the new broker to deliver."""
        if letter.key is None or not self.knows(letter.key):
            return letter
        if not isinstance(letter, Numbered):
            return None
        numbers = tuple(n for n in letter.numbers if n not in asked_there)
        return replace(letter, numbers=numbers) if numbers else None

    def knows(self, key: Key) -> bool:
        """Whether it has seen a notification; or all of a sequence."""
        if key in self._known:
            return True
        if isinstance(key, Stamp):
            return key in self._seen
        return all(stamp in self._seen for stamp in key[1])


class Mailboxes:
    """The mailboxes of all clients; one that never asked for anything needs none."""

    def __init__(self) -> None:
        self._mailboxes: dict[str, Mailbox] = {}
        self.bytes_max = 0
        """What all of them may keep together, if there is such a bound."""
        self._counted = 0
        self._size = 0
        self.watcher: Watcher | None = None

    def find(self, client: str) -> Mailbox | None:
        """The mailbox of a client, if it has one."""
        return self._mailboxes.get(client)

    def is_suspended(self, client: str) -> bool:
        """Whether nothing is delivered to a client."""
        mailbox = self._mailboxes.get(client)
        return mailbox is not None and mailbox.is_suspended

    def deliver(self, client: str, letter: Letter) -> Outbox:
        """Deliver to a client, or to its mailbox."""
        mailbox = self._mailboxes.get(client)
        if mailbox is None:
            return [(client, letter)]
        before = mailbox.lost
        if mailbox.is_suspended and self._is_full():
            mailbox.lost += 1
            out: Outbox = []
        else:
            out = mailbox.put(letter)
        if mailbox.lost > before and self.watcher is not None:
            self.watcher.lost(client)
        return out

    def deliver_to(self, hops: Iterable[Interface], message: Notify) -> Outbox:
        """Deliver a notification to the clients among these hops, once each."""
        wanted: dict[str, list[int]] = {}
        for hop in sorted(hop for hop in hops if isinstance(hop, str)):
            numbers = wanted.setdefault(client_of(hop), [])
            if isinstance(hop, Party):
                numbers.append(hop.number)
        out: Outbox = []
        for client, numbers in wanted.items():
            letter = Numbered(tuple(sorted(numbers)), message) if numbers else message
            out += self.deliver(client, letter)
        return out

    def deliver_found(self, found: Outbox) -> Outbox:
        """What was found; what is for clients goes the way of all that is for them."""
        out: Outbox = []
        for hop, message in found:
            if isinstance(hop, Party) and isinstance(message, Found):
                letter = Numbered((hop.number,), message)
                out += self.deliver(hop.client, letter)
            elif isinstance(hop, str) and isinstance(message, Found):
                out += self.deliver(hop, message)
            else:
                out.append((hop, message))
        return out

    def _is_full(self) -> bool:
        """Whether all that is kept is too much; it is counted now and then."""
        if not self.bytes_max:
            return False
        self._counted += 1
        if self._counted % COUNTED_EVERY == 0 or self._size > self.bytes_max:
            boxes = self._mailboxes.values()
            self._size = sum(b.size + LETTER_BYTES * len(b.kept) for b in boxes)
        return self._size > self.bytes_max

    def suspend(self, client: str, queue_max: int) -> Mailbox:
        """Keep what is for a client from now on."""
        mailbox = self._mailboxes.setdefault(client, Mailbox(client))
        was_suspended = mailbox.is_suspended
        mailbox.suspend(queue_max)
        if not was_suspended and self.watcher is not None:
            self.watcher.suspended(client)
        return mailbox

    def resume(self, client: str) -> Outbox:
        """Deliver what was kept, and from now on what comes."""
        mailbox = self._mailboxes.setdefault(client, Mailbox(client))
        was_suspended = mailbox.is_suspended
        out = mailbox.resume()
        if was_suspended and self.watcher is not None:
            self.watcher.resumed(client)
        return out

    def redirect(self, client: str, handler: str) -> Outbox:
        """Deliver to another handler, and resume."""
        self._mailboxes.setdefault(client, Mailbox(client)).handler = handler
        return self.resume(client)

    def depart(self, client: str) -> Parcel:
        """Forget a client; what was kept for it is handed over."""
        mailbox = self._mailboxes.pop(client, Mailbox(client))
        if mailbox.is_suspended and self.watcher is not None:
            self.watcher.resumed(client)
        return mailbox.pack()


def size_of(letter: Letter) -> int:
    """About how many bytes of memory a letter takes."""
    content = letter.content if isinstance(letter, Numbered) else letter
    if isinstance(content, Encoded):
        return len(content.data)
    sequence = content.sequence if isinstance(content, Found) else (content,)
    return sum(len(str(notify.notification)) for notify in sequence)
