"""What a ledger makes of what was damaged on a disk, and named by it."""

import pytest

from siena.testing.chaos.ledger import Event, Ledger, Outcome, Received, Report


@pytest.fixture
def ledger() -> Ledger:
    """Two publications, both acknowledged, of which the first did not come."""
    made = Ledger(durable=True)
    made.subscribers["s0"] = Received(lambda _event: True)
    for n in range(2):
        event = Event(0, n, 5, "quote")
        made.publish(event)
        made.acknowledged.add(event[:2])
    made.receive("s0", Event(0, 1, 5, "quote"), 1)
    made.stored = {0: [(0, 1)]}
    return made


def report(ledger: Ledger) -> Report:
    outcome = Outcome("a bit flipped", 1.0, 1.0)
    return Report.of(ledger, [outcome], seed=1, seconds=1.0, recover_s=10.0)


def test_what_is_lost_breaks_a_promise(ledger: Ledger) -> None:
    found = report(ledger)
    assert (found.lost, found.acknowledged_lost, found.named_lost) == (1, 1, 0)
    assert not found.is_good


def test_what_the_disk_names_is_counted_apart(ledger: Ledger) -> None:
    ledger.named.add((0, 0))
    found = report(ledger)
    assert (found.lost, found.acknowledged_lost, found.named_lost) == (0, 0, 1)
    assert found.is_good


def test_what_was_named_may_come_again_and_late(ledger: Ledger) -> None:
    ledger.named.add((0, 0))
    for offset in (2, 3):  # its publisher had no receipt
        ledger.receive("s0", Event(0, 0, 5, "quote"), offset)
    ledger.stored[0] += [(0, 0), (0, 0)]
    found = report(ledger)
    assert (found.again, found.named_lost) == (1, 0)
    assert found.is_good


def test_a_long_wait_for_a_receipt_is_a_line_and_no_end(ledger: Ledger) -> None:
    for seconds in (0.1, 75.04, 3.0):
        ledger.waited(seconds)
    assert report(ledger).longest_wait_s == 75.0
