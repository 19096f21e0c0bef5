"""What is concluded from floods, workers and interests."""

import json
from collections.abc import Sequence

import pytest

from siena.bench.broker.loadgen.generator import Flood
from siena.bench.broker.workload import Workload
from siena.bench.network.floods import ALONE, Contest, Crossing, Entry, link_cost, ratio
from siena.bench.network.layout import Layout
from siena.bench.network.pinging import Waits
from siena.bench.network.report import (
    Report,
    as_object,
    conclusions,
    show,
    worker_conclusions,
)
from siena.bench.network.settling import Coming, FirstLink, Mark

CHAIN = Layout("chain:2")
THREE = Layout("chain:3")


def crossing(*cpu: float, idle: float = 0.5) -> Crossing:
    """A thousand publications in a second."""
    flood = Flood(1.0, 1000, 1000, 1000, sum(cpu), 0.1, idle)
    return Crossing(flood, dict(enumerate(cpu, start=1)))


def entry(make: str, layout: Layout, *rounds: Crossing, failure: str = "") -> Entry:
    return Entry(make, f"{make} 1.0", layout, list(rounds), failure)


def contest(*entries: Entry) -> Contest:
    return Contest(Workload(1, 1, 1), list(entries))


def test_publications_are_counted_for_the_cpu_of_some_brokers_or_of_all() -> None:
    one = crossing(0.3, 0.1, 0.6)
    assert one.per_cpu_second() == pytest.approx(1000)
    assert one.per_cpu_second([2]) == pytest.approx(10_000)
    assert one.cost([1, 3]) == pytest.approx(0.0009)


def test_less_than_a_tick_of_the_clock_is_taken_for_one() -> None:
    assert crossing(0.0, 0.0).per_cpu_second() == pytest.approx(100_000)


def test_a_ratio_is_the_median_of_rounds_of_the_same_run() -> None:
    ours = entry("siena", CHAIN, *(crossing(0.1, 0.1) for _ in range(3)))
    theirs = entry("nats", CHAIN, crossing(0.2, 0.2), crossing(0.1, 0.2), crossing(0.6))
    found = ratio(ours, theirs)
    assert found is not None
    assert (found.middle, found.lowest, found.highest) == pytest.approx((2, 1.5, 3))


def test_who_lost_something_is_not_compared() -> None:
    ours = entry("siena", CHAIN, crossing(0.1, 0.1), failure="5 have not come")
    theirs = entry("nats", CHAIN, crossing(0.2, 0.2))
    assert ratio(ours, theirs) is None
    assert link_cost(ours, theirs) is None
    said = list(conclusions(contest(ours, theirs)))
    assert "siena chain:2 has no figures: 5 have not come" in said
    assert not any(line.startswith("siena / nats") for line in said)


def test_a_link_is_what_a_network_costs_more_than_one_broker() -> None:
    three = entry("nats-leaf", THREE, crossing(0.2, 0.1, 0.2))
    alone = entry("nats", ALONE, crossing(0.1))
    said = list(conclusions(contest(three, alone)))
    assert said[0].startswith("nats-leaf chain:3: a link costs 2 (2 … 2) times")


def test_a_ratio_says_when_the_generator_was_too_slow() -> None:
    ours = entry("siena", ALONE, crossing(0.1, idle=0.01))
    theirs = entry("nats", ALONE, crossing(0.2))
    (said, _) = conclusions(contest(ours, theirs))
    assert said.startswith("siena / nats alone: 2 (2 … 2) times")
    assert said.endswith("(!: the generator was idle less than 10% of the time)")


def test_several_processes_are_compared_with_the_first() -> None:
    one = entry("siena", ALONE, crossing(0.1))
    two = entry("siena", ALONE, crossing(0.15))
    four = entry("siena", ALONE, failure="gone")
    said = list(worker_conclusions([(1, one), (2, two), (4, four)]))
    assert said[0].startswith("2 processes / 1: 0.667 (0.667 … 0.667) times")
    assert said[1:] == ["4 processes have no figures: gone"]


def coming(marks: Sequence[Mark]) -> Coming:
    waits = Waits.of([0.004])
    memory = 3_000_000, 2_000_000
    return Coming("bands", 1000, list(marks), memory, Waits.of([0.001]), waits)


def test_growth_needs_more_than_a_few_ticks() -> None:
    steps = range(0, 1001, 50)
    assert coming([Mark(n, n / 1e3, (n * 1e-5, 0.0)) for n in steps]).growth is None
    known = coming([Mark(n, n / 1e3, (n**1.5 / 100, 0.0)) for n in steps])
    assert known.growth == pytest.approx(0.5, abs=0.05)
    assert known.rate == pytest.approx(1000)


def test_all_parts_are_shown_and_are_an_object(
    capsys: pytest.CaptureFixture[str],
) -> None:
    quiet = Waits.of([0.001])
    report = Report(
        contests=[
            contest(
                entry("siena", THREE, crossing(0.1, 0.1, 0.1)),
                entry("siena", ALONE, crossing(0.1)),
                entry("nats-leaf", THREE, crossing(0.1, 0.2, 0.1)),
                entry("nats", ALONE, failure="it lost some"),
            )
        ],
        workers=[(1, entry("siena", ALONE, crossing(0.1)))],
        comings=[coming([Mark(0, 0.0, (0.0, 0.0)), Mark(500, 2.0, (0.05, 0.1))])],
        first_links=[
            FirstLink("bands", 1000, False, 60.0, (50.0, 1.0), quiet, Waits.of([9.0]))
        ],
    )
    show(report)
    out = capsys.readouterr().out
    for part in (
        "nats alone",
        "some",
        "10,000",  # of the middle broker
        "500 of 1,000",
        "100, 200",  # µs each
        "60.0 (not yet)",
        "9,000.0",
        "siena / nats-leaf chain:3: 1.33",
    ):
        assert part in out
    form = json.loads(json.dumps(as_object(report)))
    (found,) = form["contests"]
    assert [each["link_cost"] is None for each in found["entries"]] == [
        False,
        True,
        True,  # what it is compared with has failed
        True,
    ]
    assert [each["peer"] for each in found["ratios"]] == ["nats-leaf"]
    assert form["comings"][0]["settled"] == 500
    assert form["workers"][0]["processes"] == 1
