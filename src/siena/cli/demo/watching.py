"""The demonstration's third part: rules that watch a stream, and change under it.

The events are made here, logins of a small company on a bad day; so are the rules.  A
loop over rules and events says what has to come out.
"""

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from siena.dialects import read_rule

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Event = dict[str, Any]

PARTS = 3
EVENTS = 400
HOSTS = ("web1", "web2", "db1", "mail", "backup")
USERS = ("ann", "bob", "cid", "dee", "root")
ACTIONS = ("login", "login", "login", "logout", "copy", "query")
SCHEMA = (
    "id long, part long, host string, user string, owner string, action string, "
    "failures long, megabytes double"
)


@dataclass(frozen=True, slots=True)
class DemoRule:
    """A rule, as it stands in the table of rules."""

    id: str
    dialect: str
    text: str
    severity: str
    version: str = "1"

    def row(self) -> dict[str, object]:
        """The rule as a row."""
        return {name: getattr(self, name) for name in self.__slots__}


RULES = (
    DemoRule("guessing", "siena", "action = login and failures > 2", "medium"),
    DemoRule("root-login", "siena", "action = login and user = root", "high"),
    DemoRule("not-the-owner", "sql", "action = 'copy' AND user <> owner", "high"),
    DemoRule("large-copy", "sql", "action = 'copy' AND megabytes * 8 > 4000", "low"),
)
# From the second part on, one of them is stricter.
STRICTER = DemoRule("guessing", "siena", "action = login and failures > 4", "high", "2")


def rules_in(part: int) -> tuple[DemoRule, ...]:
    """The rules that are in force for a part of the stream."""
    return RULES if part == 0 else (STRICTER, *RULES[1:])


def events_in(part: int) -> Iterator[Event]:
    """The events of a part of the stream, the same on every machine."""
    draw = Random(part)
    for number in range(EVENTS):
        user = draw.choice(USERS)
        action = draw.choice(ACTIONS)
        yield {
            "id": part * EVENTS + number,
            "part": part,
            "host": draw.choice(HOSTS),
            "user": user,
            "owner": draw.choice([user, user, user, *USERS]),
            "action": action,
            "failures": draw.choice([0] * 12 + [1, 2, 3, 5, 8]),
            "megabytes": draw.randrange(1, 9000) / 8 if action == "copy" else 0.5,
        }


def expected() -> set[tuple[int, str, str]]:
    """What has to come out: the event, the rule, and its version."""
    found = set()
    for part in range(PARTS):
        read = [(rule, read_rule(rule.dialect, rule.text)) for rule in rules_in(part)]
        for event in events_in(part):
            for rule, meaning in read:
                if meaning.matches(event):
                    found.add((event["id"], rule.id, rule.version))
    return found


@dataclass(slots=True)
class Watched:
    """What the stream has said."""

    events: int
    alerts: list[tuple[int, str, str]]  # the event, the rule, and its version
    example: str

    @property
    def is_right(self) -> bool:
        """Whether every alert is there once, and of the rules that were in force."""
        return sorted(self.alerts) == sorted(expected())

    def counts(self) -> Iterable[tuple[DemoRule, int]]:
        """Of each rule in each version, how often it has fired."""
        for rule in (RULES[0], STRICTER, *RULES[1:]):
            count = sum((r, v) == (rule.id, rule.version) for _, r, v in self.alerts)
            yield rule, count


def watch(
    spark: "SparkSession", folder: Path, report: Callable[[str], None]
) -> Watched:
    """Let rules watch a stream of files, and change them while it runs."""
    from siena.spark.rules import LiveRules, apply

    here = folder / "watching"
    shutil.rmtree(here, ignore_errors=True)  # of a run before this one
    (here / "in").mkdir(parents=True)
    live = LiveRules(here / "rules")
    live.publish([rule.row() for rule in rules_in(0)])
    stream = spark.readStream.schema(SCHEMA).json(str(here.absolute() / "in"))
    query = (
        apply(stream, live, key=["id", "host"])
        .writeStream.format("parquet")
        .option("path", str(here.absolute() / "alerts"))
        .option("checkpointLocation", str(here.absolute() / "checkpoint"))
        .start()
    )
    try:
        for part in range(PARTS):
            if part == 1:
                live.publish([rule.row() for rule in rules_in(part)])
            report(f"part {part + 1} of {PARTS} of a stream, watched by rules")
            lines = "\n".join(map(json.dumps, events_in(part)))
            unseen = here / f"part{part}.json"
            unseen.write_text(lines, encoding="utf-8")
            unseen.rename(here / "in" / unseen.name)
            query.processAllAvailable()
    finally:
        query.stop()
    rows = spark.read.parquet(str(here.absolute() / "alerts")).collect()
    first = min(rows, key=lambda row: (row.rule != "not-the-owner", row.id))
    held = ", ".join(f"{held.constraint}" for held in first.why)
    return Watched(
        PARTS * EVENTS,
        [(row.id, row.rule, row.version) for row in rows],
        f"event {first.id} at {first.host}: {first.rule}, because {held}",
    )
