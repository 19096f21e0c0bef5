"""How fast are public detection rules matched, read and reviewed, on one core?

The rules of a folder of Sigma rules (SigmaHQ's, which is not part of this project) are
compiled into one table.  Events are made of the rules' own values, so that many of them
fire.  They are matched encoded, with values that repeat and with values never seen
before, and from lines of JSON; times are of the processor.  What is found are rules
whose predicate matches; the second line of each has their residuals decided.  A sample
of the answers is compared with a plain loop over the rules first.  With ``--check``
every proof of a review is tried on random events, and with ``--copies`` the review has
as many rules, made of these; ``--jobs`` processes share it, and then the clock counts.
"""

import argparse
import gc
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import msgspec

from siena.algebra.points import NotShownError
from siena.cli.rules.workers import share_of
from siena.matching import COMPILED
from siena.matching.input.buffers import encode_all
from siena.matching.table import ForwardingTable
from siena.model import Constraint, Filter, Operator, Predicate, Value
from siena.model.expression.rule import Rule
from siena.rules import ReadRule, load_rules, read_rules
from siena.rules.residuals.matching import RuleMatcher
from siena.rules.review import Review, review_rules
from siena.rules.review.index import example_of

FOLDER = os.environ.get("SIENA_SIGMA_RULES", "")
# Events that are matched in one call, as a broker does.
BATCH = 1_024
# Answers that are compared with the loop.
COMPARED = 200

Event = dict[str, Value]


def main() -> None:
    """Print events per second of the processor, and what a review takes."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("folder", nargs="?", default=FOLDER, type=Path)
    options.add_argument("--events", type=int, default=50_000)
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--check", type=int, default=0, metavar="EVENTS")
    options.add_argument("--copies", type=int, default=0, metavar="RULES")
    options.add_argument("--review", action="store_true")
    options.add_argument("--jobs", type=int, default=1)
    chosen = options.parse_args()
    if not COMPILED:
        sys.exit("The kernels are not compiled: there is nothing to measure.")
    if not str(chosen.folder) or not chosen.folder.is_dir():
        sys.exit("A folder of Sigma rules is wanted (or SIENA_SIGMA_RULES).")
    random = Random(chosen.seed)
    start = time.process_time()
    rules = [
        r for r in read_rules(load_rules(chosen.folder)) if isinstance(r, ReadRule)
    ]
    filters = sum(len(r.rule.predicate) for r in rules)
    took = time.process_time() - start
    print(f"{len(rules):,} rules, {filters:,} filters, read in {took:.1f} s")
    gc.collect()
    gc.freeze()
    if chosen.events:
        match(rules, chosen.events, random)
    if chosen.copies:
        rules = copied(rules, chosen.copies, random)
    if chosen.review or chosen.copies or chosen.check:
        review = reviewed(rules, chosen.jobs)
        if chosen.check:
            check(rules, review, chosen.check, random)


# --- Matching ---------------------------------------------------------------------


def match(rules: Sequence[ReadRule], count: int, random: Random) -> None:
    """Print how many events a second of the processor is enough for."""
    matcher = RuleMatcher([read.rule for read in rules])
    events = list(made(rules, count, random))
    agree(matcher, rules, random.sample(events, min(COMPARED, len(events))))
    few = [random.choice(events) for _ in range(count)][: max(count // 50, 1)]
    repeated = [random.choice(few) for _ in range(count)]
    for name, chosen in (("repeated values", repeated), ("fresh values", events)):
        rate, found = encoded(matcher.table, chosen)
        print(f"{name:<16} {rate:>10,.0f} events/s, {found / count:.2f} found each")
        rate, fired = decided(matcher, chosen)
        told = f"{fired / count:.2f} rules each, residuals decided"
        print(f"{'':<16} {rate:>10,.0f} events/s, {told}")
    for name, chosen in (("JSON, repeated", repeated), ("JSON, fresh", events)):
        lines = [json.dumps(event).encode() for event in chosen]
        rate = from_lines(matcher, lines)
        print(f"{name:<16} {rate:>10,.0f} events/s, residuals decided")


def made(rules: Sequence[ReadRule], count: int, random: Random) -> Iterator[Event]:
    """Events of the rules' own values, each with something of its own."""
    examples: list[Event] = []
    for read in random.sample(list(rules), min(len(rules), 1_000)):
        try:
            example = example_of(random.choice(read.rule.predicate.filters))
        except NotShownError:
            continue
        if example is not None:
            examples.append(dict(example))
    for number in range(count):
        event = dict(random.choice(examples))
        for name, value in event.items():
            if isinstance(value, str) and not name.startswith("logsource."):
                event[name] = f"{value} {number}"
        event["number"] = str(number)
        yield event


def encoded(table: ForwardingTable, events: Sequence[Event]) -> tuple[float, int]:
    """Events a second, and how many rules fired."""
    batches = [encode_all(events[i : i + BATCH]) for i in range(0, len(events), BATCH)]
    fired = 0
    table.match_buffer(*batches[0])
    start = time.process_time()
    for data, offsets in batches:
        fired += int(table.match_buffer(data, offsets).counts.sum())
    return len(events) / (time.process_time() - start), fired


def decided(matcher: RuleMatcher, events: Sequence[Event]) -> tuple[float, int]:
    """The same with residuals."""
    batches = [encode_all(events[i : i + BATCH]) for i in range(0, len(events), BATCH)]
    fired = 0
    matcher.match_buffer(*batches[0])
    start = time.process_time()
    for data, offsets in batches:
        fired += int(matcher.match_buffer(data, offsets).counts.sum())
    return len(events) / (time.process_time() - start), fired


def from_lines(matcher: RuleMatcher, lines: Sequence[bytes]) -> float:
    """Events a second, from lines of JSON, residuals decided."""
    decode = msgspec.json.Decoder().decode
    start = time.process_time()
    for i in range(0, len(lines), BATCH):
        matcher.match([decode(line) for line in lines[i : i + BATCH]])
    return len(lines) / (time.process_time() - start)


def agree(
    matcher: RuleMatcher, rules: Sequence[ReadRule], events: Sequence[Event]
) -> None:
    """Stop unless the engine and a loop over the rules give the same answers."""
    for event, found in zip(events, matcher.match(events), strict=True):
        wanted = [n for n, r in enumerate(rules) if r.rule.matches(event)]
        if sorted(found) != wanted:
            sys.exit(f"engine and loop differ: {event}")


# --- Reviews ----------------------------------------------------------------------


def copied(rules: Sequence[ReadRule], count: int, random: Random) -> list[ReadRule]:
    """As many rules: these, and narrower ones, with one more constraint each."""
    found = list(rules)
    while len(found) < count:
        read = random.choice(rules)
        more = Constraint("copy", Operator.EQ, random.randrange(count))
        predicate = Predicate(Filter((*f, more)) for f in read.rule.predicate)
        entry = replace(read.entry, id=f"{read.id}/{len(found)}")
        found.append(ReadRule(entry, Rule(predicate, read.rule.residual)))
    return found


def reviewed(rules: Sequence[ReadRule], jobs: int) -> Review:
    """Print what a review finds, and takes: of all processes, and by the clock."""
    start, before = time.perf_counter(), sum(os.times()[:4])
    review = review_rules(rules, share=share_of(len(rules), jobs))
    took, worked = time.perf_counter() - start, sum(os.times()[:4]) - before
    counts = ", ".join(f"{n:,} {kind}" for kind, n in review.counts().items() if n)
    pairs = f"{len(review.pairs):,} pairs"
    times = f"{worked:.1f} s of processors, {took:.1f} s by the clock with {jobs} jobs"
    print(f"review of {len(rules):,} rules: {times}; {counts}; {pairs}")
    return review


def check(
    rules: Sequence[ReadRule], review: Review, count: int, random: Random
) -> None:
    """Try every covering pair on random events of the covered rule."""
    fired = wrong = 0
    for general, specific in review.pairs:
        wide, narrow = rules[general].rule, rules[specific].rule
        for event in near(narrow, count, random):
            if narrow.matches(event):
                fired += 1
                wrong += not wide.matches(event)
    pairs = f"{len(review.pairs):,} pairs, {count:,} events each"
    print(f"{pairs}: {fired:,} fired, {wrong} wrong")
    if wrong:
        sys.exit(1)


def near(rule: Rule, count: int, random: Random) -> Iterator[Event]:
    """Events that the rule matches, and others: values changed, joined or left out."""
    examples = [e for f in rule.predicate if (e := example_of(f)) is not None]
    for _ in range(count):
        event = dict(random.choice(examples))
        for name in list(event):
            value, draw = event[name], random.random()
            if draw < 0.05:
                del event[name]
            elif isinstance(value, str) and draw < 0.5:
                other = str(random.choice(examples).get(name, ""))
                event[name] = random.choice(
                    [
                        value.upper(),
                        f"x{value}",
                        f"{value} x",
                        f"{value} {other}",
                        other,
                    ]
                )
        yield event


if __name__ == "__main__":
    main()
