"""The ledger: what was published, what came of it, and what that says of each promise.

A publication has a publisher and a number; a subscriber wants what a test of its own
says, which does not ask the brokers' algebra.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

# In which state the network was when something was published: between faults, all of
# it must come; during one, best effort may lose it, but must never come twice.
QUIET, TROUBLED = "quiet", "troubled"

Key = tuple[int, int]  # a publisher, and its number


class Event(NamedTuple):
    """What a publication says."""

    publisher: int
    number: int
    level: int
    kind: str


Wants = Callable[[Event], bool]


@dataclass
class Received:
    """What one subscriber got."""

    wants: Wants
    keys: set[Key] = field(default_factory=set)
    last: dict[int, int] = field(default_factory=dict)
    # Of a durable subscription where each was, and how many came again from there.
    offsets: dict[Key, int] = field(default_factory=dict)
    again: int = 0
    duplicated: int = 0
    out_of_order: int = 0
    out_of_order_quiet: int = 0
    not_matching: int = 0
    gaps: int = 0
    told_lost: int = 0


class Ledger:
    """Everything that happened to publications.

    If it is durable, what was acknowledged must come, whenever it was published, and
    may come again from the same offset; what was not need not come.
    """

    def __init__(self, *, durable: bool = False) -> None:
        self.durable = durable
        self.published: dict[Key, tuple[Event, str]] = {}
        self.acknowledged: set[Key] = set()
        self.subscribers: dict[str, Received] = {}
        self.state = TROUBLED
        self.stored: dict[int, list[Key]] = {}
        """What the log of each broker has in the end; only if that is looked at."""
        self.named: set[Key] = set()
        """What a fault has damaged on a disk, and `siena log check` has named."""
        self.longest_wait_s = 0.0
        """How long a publisher has waited for its receipt."""

    def waited(self, seconds: float) -> None:
        """A publisher has got its receipt after so long."""
        self.longest_wait_s = max(self.longest_wait_s, seconds)

    def unstored(self) -> list[Key]:
        """What was acknowledged, and is not in the log of its publisher's broker.

        But for what was damaged there, and named.
        """
        if not self.stored:
            return []
        stored = {number: set(keys) for number, keys in self.stored.items()}
        return sorted(
            key
            for key in self.acknowledged - self.named
            if key not in stored[key[0] % len(stored)]
        )

    def named_lost(self) -> int:
        """How many a subscriber has not got that were damaged, and named."""
        return sum(
            found.wants(self.published[key][0])
            for found in self.subscribers.values()
            for key in (self.named & self.acknowledged) - found.keys
        )

    def stored_twice(self) -> int:
        """How many publications a log has again.

        But for those that were damaged in one: it takes them again from a publisher
        that has had no receipt, and cannot know that others have them.
        """
        counts = (Counter(keys) for keys in self.stored.values())
        return sum(
            count - 1
            for found in counts
            for key, count in found.items()
            if key not in self.named
        )

    def publish(self, event: Event) -> None:
        """It is about to be published."""
        self.published[event[:2]] = event, self.state

    def acknowledge(self, publisher: int, upto: int) -> None:
        """A publisher was answered: all up to a number has been routed."""
        for number in range(upto, -1, -1):
            key = publisher, number
            if key in self.acknowledged or key not in self.published:
                break
            self.acknowledged.add(key)

    def spoil(self, since: int, publisher: int) -> None:
        """What a publisher has published since was under way when a fault began."""
        for key, (event, _) in self.published.items():
            if key[0] == publisher and key[1] >= since:
                self.published[key] = event, TROUBLED

    def receive(self, name: str, event: Event, offset: int = -1) -> None:
        """A subscriber got it; from a log, if there is an offset."""
        found = self.subscribers[name]
        known = self.published.get(event[:2])
        if known is None or known[0] != event or not found.wants(event):
            found.not_matching += 1
            return
        if event[:2] in found.keys:
            is_again = found.offsets[event[:2]] == offset or event[:2] in self.named
            if self.durable and is_again:
                found.again += 1
            else:
                found.duplicated += 1
            return
        found.keys.add(event[:2])
        found.offsets[event[:2]] = offset
        is_late = event.number < found.last.get(event.publisher, -1)
        if is_late and event[:2] not in self.named:
            found.out_of_order += 1
            found.out_of_order_quiet += known[1] == QUIET
        found.last[event.publisher] = max(
            event.number, found.last.get(event.publisher, -1)
        )

    def missing(self, state: str | None = None) -> dict[str, list[Key]]:
        """What each subscriber should have got, and has not; but for what is named."""
        return {
            name: [
                key
                for key, (event, when) in self.published.items()
                if key not in found.keys
                and found.wants(event)
                and (state is None or when == state)
                and key not in self.named
                and (not self.durable or key in self.acknowledged)
            ]
            for name, found in self.subscribers.items()
        }


@dataclass
class Outcome:
    """A fault, and how long it took until everything came again."""

    fault: str
    lasted_s: float
    recovered_s: float | None


@dataclass
class Report:
    """What a run has shown."""

    seed: int
    seconds: float
    attempted: int
    acknowledged: int
    expected: int
    delivered: int
    lost: int
    lost_quiet: int
    again: int
    duplicated: int
    out_of_order: int
    out_of_order_quiet: int
    not_matching: int
    gaps: int
    acknowledged_lost: int
    stored_twice: int
    named_lost: int
    longest_wait_s: float
    untold: list[str]
    outcomes: list[Outcome]
    recover_s: float
    durable: bool = False

    @classmethod
    def of(
        cls,
        ledger: Ledger,
        outcomes: list[Outcome],
        *,
        seed: int,
        seconds: float,
        recover_s: float,
    ) -> "Report":
        """What a ledger says in the end."""
        received = ledger.subscribers.values()
        missing, quiet = ledger.missing(), ledger.missing(QUIET)
        delivered = sum(len(found.keys) for found in received)
        lost = sum(map(len, missing.values()))
        return cls(
            seed=seed,
            seconds=seconds,
            attempted=len(ledger.published),
            acknowledged=len(ledger.acknowledged),
            expected=delivered + lost,
            delivered=delivered,
            lost=lost,
            lost_quiet=sum(map(len, quiet.values())),
            again=sum(found.again for found in received),
            duplicated=sum(found.duplicated for found in received),
            out_of_order=sum(found.out_of_order for found in received),
            out_of_order_quiet=sum(found.out_of_order_quiet for found in received),
            not_matching=sum(found.not_matching for found in received),
            gaps=sum(found.gaps for found in received),
            acknowledged_lost=len(ledger.unstored()),
            stored_twice=ledger.stored_twice(),
            named_lost=ledger.named_lost(),
            longest_wait_s=round(ledger.longest_wait_s, 1),
            untold=sorted(
                name
                for name, keys in missing.items()
                if keys
                and not ledger.subscribers[name].gaps
                and not ledger.subscribers[name].told_lost
            ),
            outcomes=outcomes,
            recover_s=recover_s,
            durable=ledger.durable,
        )

    def verdicts(self) -> dict[str, bool]:
        """Each promise, and whether it was kept."""
        times = [outcome.recovered_s for outcome in self.outcomes]
        if self.durable:
            best = {
                "never twice, but from the same offset": self.duplicated == 0,
                "nothing acknowledged is lost": self.lost == 0,
                "in the order of each publisher": self.out_of_order == 0,
            }
        else:
            best = {
                "never twice": self.duplicated == 0,
                "between faults nothing is lost": self.lost_quiet == 0,
                "between faults in the order of each publisher": (
                    self.out_of_order_quiet == 0
                ),
                "who lost something was told of a gap": not self.untold,
            }
        return {
            "never what does not match": self.not_matching == 0,
            **best,
            "what was acknowledged is in the log": self.acknowledged_lost == 0,
            "no log has it twice": self.stored_twice == 0,
            f"recovered within {self.recover_s:g} s of each fault's end": all(
                time is not None and time <= self.recover_s for time in times
            ),
        }

    @property
    def is_good(self) -> bool:
        """Whether every promise was kept."""
        return all(self.verdicts().values())
