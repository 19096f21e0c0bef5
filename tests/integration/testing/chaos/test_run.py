"""A short run of chaos: what is promised at best effort is kept."""

import asyncio

from siena.testing.chaos.run import Plan, run


def test_promises_are_kept_while_brokers_are_hurt() -> None:
    """All killed, a partition and a full disk; what was acknowledged is in the logs."""
    faults = ("kill-all", "partition", "full-disk")
    # Machines that do other things are given their time.
    plan = Plan(
        seconds=10,
        seed=3,
        faults=faults,
        fault_s=1.0,
        rate=10,
        recover_s=60.0,
        acked=True,
    )
    report = asyncio.run(run(plan))
    assert report.is_good, report
    assert report.outcomes
    assert report.delivered > 100
    assert report.acknowledged
