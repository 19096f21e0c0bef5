"""All that the demonstration found out, and whether both halves agree."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from siena.cli.demo.covering import Saved
from siena.cli.demo.day import (
    BROKERS,
    LINKS,
    SUBSCRIBERS,
    Wish,
    number_of,
    sequences_of,
)
from siena.cli.demo.network import Published, Told
from siena.cli.demo.spark import Matched
from siena.cli.demo.watching import RULES
from siena.model import Notification


@dataclass(slots=True)
class Result:
    """What happened."""

    day: list[Notification]
    live: list[Wish]
    told: Told
    saved: Saved
    # The same of a crowd that was not drawn so that it suits covering.
    plain: Saved
    published: Published
    matched: Matched | None
    # Why there is nothing from Spark, in one line.
    missing: str = ""

    @property
    def differences(self) -> list[str]:
        """Where network and Spark, or pattern and plain matcher, do not agree."""
        found = []
        if self.matched is not None:
            spark = self.matched.of(len(self.live))
            found += [
                f"{wish.filter}: {len(here)} from the network, {len(there)} from Spark"
                for wish in self.live
                if (here := self.published.deliveries[wish.number])
                != (there := spark[wish.number])
            ]
            if self.matched.watched is not None and not self.matched.watched.is_right:
                found.append("rules on a stream have said something else than a loop")
        if self.published.sequences != sequences_of(self.day):
            found.append("the pattern found something else than a plain matcher")
        return found

    @property
    def flooded(self) -> int:
        """How often flights would have crossed links if all had gone everywhere."""
        return len(self.day) * len(LINKS)

    @property
    def crossed(self) -> int:
        """How often they have."""
        return sum(self.published.carried.values())

    def hours(self) -> tuple[list[int], list[int], list[int]]:
        """The hours of the day, and of each flights and deliveries."""
        hour = {number_of(flight): _hour(flight) for flight in self.day}
        flights = Counter(hour.values())
        came = Counter(
            hour[number]
            for numbers in self.published.deliveries.values()
            for number in numbers
        )
        hours = list(range(min(flights), max(flights) + 1))
        return hours, [flights[h] for h in hours], [came[h] for h in hours]

    def rows(self) -> Iterable[tuple[str, str, str]]:
        """The summary: what, how much, and more about it."""
        count, seconds = self.published.flights, self.published.seconds
        named = len(SUBSCRIBERS)
        yield (
            "brokers",
            f"{len(BROKERS)}",
            "linked as a star, in a process of their own",
        )
        yield (
            "subscriptions in the network",
            f"{len(self.live):,}",
            f"{named} with a name and {len(self.live) - named:,} travellers; a pattern",
        )
        yield (
            "messages that covering saved",
            f"{self.saved.messages:,}",
            (
                f"{self.saved.share:.0%} of {self.saved.without:,}, as travellers "
                "were drawn so that many cover each other"
            ),
        )
        yield (
            "the same of a plainer crowd",
            f"{self.plain.messages:,}",
            (
                f"{self.plain.share:.0%} of {self.plain.without:,}, with as many "
                "drawn from people of all kinds"
            ),
        )
        yield (
            "flights published",
            f"{count:,}",
            f"{count / seconds:,.0f} a second: in {seconds:.2f} s the last had come",
        )
        yield (
            "deliveries by the network",
            f"{self.published.pairs:,}",
            (
                f"{self.published.pairs / seconds:,.0f} a second; "
                f"and the pattern found {len(self.published.sequences)}"
            ),
        )
        yield (
            "flights that crossed a link",
            f"{self.crossed:,}",
            f"{self.crossed / self.flooded:.0%} of what flooding would have sent",
        )
        if self.matched is None:
            yield "Spark", "not run", self.missing
            return
        yield (
            "deliveries by Spark",
            f"{self.matched.pairs:,}",
            (
                f"to {self.matched.subscriptions:,} subscriptions, in "
                f"{self.matched.match_s:.1f} s (they were compiled in "
                f"{self.matched.compile_s:.1f} s, Spark started in "
                f"{self.matched.start_s:.1f} s)"
            ),
        )
        watched = self.matched.watched
        if watched is not None:
            yield (
                "alerts on a stream",
                f"{len(watched.alerts):,}",
                (
                    f"of {len(RULES)} rules on {watched.events:,} events made up for "
                    "this; one rule was changed while the stream ran"
                ),
            )


def _hour(flight: Notification) -> int:
    """When it left, or was meant to."""
    time = flight.get("dep_time", flight["sched_dep_time"])
    assert isinstance(time, int)
    return time // 100 % 24
