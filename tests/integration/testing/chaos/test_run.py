"""A short run of chaos: what is promised at best effort is kept."""

import asyncio

import pytest

from siena.testing.chaos.run import Plan, run


@pytest.mark.slow  # `make chaos` does it for longer; the next one is for every day
def test_promises_are_kept_while_brokers_are_hurt() -> None:
    """All killed, a partition, a full disk, a clock that jumps; logs have it all."""
    faults = ("kill-all", "partition", "full-disk", "clock")
    # Machines that do other things are given their time.
    plan = Plan(
        seconds=300,  # so many faults, however long they take
        seed=3,
        faults=faults,
        faults_max=4,
        fault_s=1.0,
        rate=10,
        recover_s=60.0,
        acked=True,
    )
    report = asyncio.run(run(plan))
    assert report.is_good, report
    assert len(report.outcomes) == 4
    assert report.delivered > 100
    assert report.acknowledged


def test_nothing_acknowledged_is_lost_in_a_tree_that_is_hurt() -> None:
    """Brokers killed, links cut, a clock wrong: in the end all is there, in order."""
    plan = Plan(
        seconds=300,  # so many faults, however long they take
        seed=4,
        faults=("kill-all", "kill", "reset", "clock"),
        faults_max=4,
        fault_s=1.0,
        rate=10,
        recover_s=60.0,
        durable=True,
    )
    report = asyncio.run(run(plan))
    assert report.is_good, report
    assert len(report.outcomes) == 4
    assert report.delivered > 100
    assert report.lost == 0


def test_clients_that_are_killed_and_damage_that_is_named_lose_nothing_else() -> None:
    """A reader or a publisher killed while a broker is, with a flipped bit."""
    plan = Plan(
        seconds=300,  # so many faults, however long they take
        seed=6,
        faults=("flip", "kill-client"),
        faults_max=2,
        together=2,
        fault_s=1.0,
        rate=10,
        recover_s=60.0,
        durable=True,
    )
    report = asyncio.run(run(plan))
    assert report.is_good, report
    assert any(" and " in outcome.fault for outcome in report.outcomes)
    assert report.delivered > 100


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_all_killed_at_once_many_times_lose_nothing_acknowledged() -> None:
    plan = Plan(
        seconds=3000,
        seed=5,
        faults=("kill-all",),
        faults_max=200,
        fault_s=0.5,
        rate=40,
        recover_s=60.0,
        durable=True,
    )
    report = asyncio.run(run(plan))
    assert report.is_good, report
    assert len(report.outcomes) == 200
