"""Runs of CBCB: the shapes of the INFOCOM 2004 curves, on small networks (C.6)."""

from functools import cache
from statistics import fmean

import pytest

from siena.errors import SienaError
from siena.research.cbcb.node import Options
from siena.research.cbcb.run import CbcbPlan, Sample, run
from siena.sim.topologies.drawn import barabasi_albert
from siena.sim.topologies.regular import chain
from siena.sim.workload import SSBG

NETWORK = barabasi_albert(12, seed=5)
# Few and short filters: the shapes are those of the full workload, and come sooner.
WORKLOAD = SSBG(filters=range(1, 4), constraints=range(1, 3))


def plan(**changes: object) -> CbcbPlan:
    values: dict[str, object] = {
        "topology": NETWORK,
        "duration_s": 1200.0,
        "sample_s": 200.0,
        "publication_s": 20.0,
        "change_s": 60.0,
        "workload": WORKLOAD,
        **changes,
    }
    return CbcbPlan(**values)  # type: ignore[arg-type]


@cache
def without() -> list[Sample]:
    return run(plan())


@cache
def with_requests() -> list[Sample]:
    return run(plan(request_s=100.0))


def test_a_run_is_decided_by_its_plan() -> None:
    assert run(plan()) == without()
    assert run(plan(seed=2)) != without()


def test_false_negatives_end_when_advertisements_have_spread() -> None:
    """The first curve: predicates at the beginning, many publications."""
    samples = run(plan(duration_s=5, sample_s=0.5, publication_s=0.05, change_s=None))
    assert len(samples) == 10
    assert samples[0].false_negatives > 0.3
    assert samples[0].false_negatives >= samples[1].false_negatives
    # The longest way in the network takes less than three seconds.
    assert all(sample.missing == 0 for sample in samples[6:])
    assert sum(sample.expected for sample in samples[6:]) > 0


def test_memory_grows_without_requests_and_is_bounded_with_them() -> None:
    grown = [sample.table_bytes for sample in without()]
    assert grown == sorted(grown)
    assert grown[-1] > 1.5 * grown[0]
    assert max(sample.table_bytes for sample in with_requests()) < 0.7 * grown[-1]


def test_requests_spare_useless_messages() -> None:
    useless = [
        fmean(s.useless_share for s in samples[3:])
        for samples in (without(), with_requests())
    ]
    assert useless[0] > useless[1]


def test_what_requests_cost() -> None:
    assert all(sample.packets["SR"] == 0 for sample in without())
    replies = sum(sample.packets["UR"] for sample in with_requests())
    requests = sum(sample.packets["SR"] for sample in with_requests())
    # One for one, but for those still on their way at the end.
    assert requests - 22 <= replies <= requests
    # Twelve brokers, each twelve times, on all eleven links of its tree.
    assert requests == 12 * 12 * 11
    assert 0 < with_requests()[0].control_share < 1


def test_busy_interfaces_only_means_fewer_requests() -> None:
    busy = run(plan(request_s=100.0, options=Options(messages_min=5)))
    requests = [
        sum(s.packets["SR"] for s in samples) for samples in (busy, with_requests())
    ]
    assert requests[0] < requests[1]


def test_a_batch_is_one_advertisement() -> None:
    batched = run(plan(batch_s=200.0))
    packets = [
        sum(s.packets["RA"] for s in samples) for samples in (batched, without())
    ]
    assert packets[0] < packets[1]


def test_requests_grow_with_the_network() -> None:
    small = run(plan(topology=barabasi_albert(6, seed=5), request_s=100.0))
    requests = [
        sum(s.packets["SR"] for s in samples) for samples in (small, with_requests())
    ]
    assert requests[0] < requests[1]


@pytest.mark.parametrize(
    "changes",
    [
        {"duration_s": 0.0},
        {"request_s": -1.0},
        {"publishers": 0.0},
        {"subscribers": 2.0},
    ],
)
def test_a_plan_makes_sense(changes: dict[str, float]) -> None:
    with pytest.raises(SienaError):
        plan(topology=chain(2), **changes)
