"""The ledger of chaos: each kind of loss, and each promise, can be told broken."""

import pytest

from siena.testing.chaos.ledger import (
    QUIET,
    TROUBLED,
    Event,
    Ledger,
    Outcome,
    Received,
    Report,
)


def event(number: int, level: int = 5) -> Event:
    return Event(0, number, level, "quote")


def ledger() -> Ledger:
    made = Ledger()
    made.subscribers["s"] = Received(lambda e: e.level > 3)
    made.state = QUIET
    return made


def judged(made: Ledger, *outcomes: Outcome) -> Report:
    return Report.of(made, list(outcomes), seed=1, seconds=1.0, recover_s=10.0)


def test_a_run_in_which_all_came_is_good() -> None:
    made = ledger()
    for number in range(4):
        made.publish(event(number, level=number + 2))
        if number >= 2:
            made.receive("s", event(number, level=number + 2))
    made.acknowledge(0, 3)
    report = judged(made, Outcome("kill", 1.0, 0.5))
    assert report.is_good
    assert (report.attempted, report.acknowledged, report.delivered) == (4, 4, 2)


@pytest.mark.parametrize(
    ("broken", "promise"),
    [
        ("other", "never what does not match"),
        ("low", "never what does not match"),
        ("twice", "never twice"),
        ("lost", "between faults nothing is lost"),
        ("late", "between faults in the order of each publisher"),
        ("unstored", "what was acknowledged is in the log"),
        ("stored twice", "no log has it twice"),
        ("untold", "who lost something was told of a gap"),
        ("slow", "recovered within 10 s of each fault's end"),
        ("never", "recovered within 10 s of each fault's end"),
    ],
)
def test_each_promise_can_be_broken(broken: str, promise: str) -> None:
    made = ledger()
    made.publish(event(0))
    made.publish(event(1))
    made.publish(event(2, level=1))
    order = [event(1), event(0)] if broken == "late" else [event(0), event(1)]
    for each in order[: 1 if broken == "lost" else 2]:
        made.receive("s", each)
    if broken == "other":
        made.receive("s", event(7))
    elif broken == "low":
        made.receive("s", event(2, level=1))
    elif broken == "twice":
        made.receive("s", event(1))
    elif broken == "unstored":
        made.acknowledged.add((0, 1))
        made.stored = {0: [(0, 0)]}
    elif broken == "stored twice":
        made.stored = {0: [(0, 0), (0, 0)]}
    elif broken == "untold":
        made.state = TROUBLED
        made.publish(event(3))
    if broken != "untold":
        made.subscribers["s"].gaps = 1
    took = {"slow": 11.0, "never": None}.get(broken, 1.0)
    verdicts = judged(made, Outcome("kill", 1.0, took)).verdicts()
    assert [name for name, is_kept in verdicts.items() if not is_kept] == [promise]


def durable() -> Ledger:
    made = Ledger(durable=True)
    made.subscribers["s"] = Received(lambda e: e.level > 3)
    return made


def test_durably_what_was_not_acknowledged_need_not_come() -> None:
    made = durable()
    for number in range(3):
        made.publish(event(number))
    made.acknowledged.add((0, 0))
    made.receive("s", event(0), 7)
    assert judged(made).is_good
    made.acknowledged.add((0, 2))
    report = judged(made)
    assert report.lost == 1
    assert not report.verdicts()["nothing acknowledged is lost"]


def test_durably_it_may_come_again_from_the_same_offset_only() -> None:
    made = durable()
    made.publish(event(0))
    made.acknowledged.add((0, 0))
    for _ in range(2):
        made.receive("s", event(0), 7)
    assert (judged(made).again, judged(made).is_good) == (1, True)
    made.receive("s", event(0), 8)
    report = judged(made)
    assert (report.duplicated, report.is_good) == (1, False)


def test_durably_order_holds_in_trouble_too() -> None:
    made = durable()
    for number in range(2):
        made.publish(event(number))
        made.acknowledged.add((0, number))
    made.receive("s", event(1), 1)
    made.receive("s", event(0), 2)
    assert not judged(made).verdicts()["in the order of each publisher"]
