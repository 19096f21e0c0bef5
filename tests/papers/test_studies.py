"""Every study, small: its claims hold, it can be drawn, and its check can fail."""

from collections.abc import Callable, Mapping

import pytest

from siena.messages import Interface, Message, Outbox, Subscribe
from siena.model import Value
from siena.research.cbcb import world as cbcb_world
from siena.research.cbcb.messages import ReceiverAdvertisement, UpdateReply
from siena.research.cbcb.node import Node, Sends
from siena.research.matchers.tree import TreeMatcher
from siena.research.scenarios.fast_cost_oracle import QuickTally, _Event
from siena.research.schemes.pif import PIF
from siena.research.studies.framework.claim import Finding, Verdict
from siena.research.studies.framework.registry import NAMES, find
from siena.research.studies.framework.results import conclude, rows_of
from siena.research.studies.framework.rows import Row, number
from siena.research.studies.framework.runner import missing, run_here, tasks_of
from siena.research.studies.framework.store import Store
from siena.research.studies.runs import (
    architectures,
    matching as matching_runs,
    networks as network_runs,
)
from siena.routing.router import Router
from siena.routing.topology.topology import Broker
from siena.sim import world

Spoil = Callable[[Row], Row]


def rows(name: str, store: Store) -> list[Row]:
    """The rows of a small version."""
    study = find(name)
    run_here(missing(tasks_of([study], "test", None), store), store, lambda *_: None)
    return [kept.row for kept in rows_of(study, store, "test", None)]


def failures(name: str, found: list[Row]) -> set[str]:
    return {finding.claim for finding in find(name).check(found) if finding.is_failure}


@pytest.mark.paper
@pytest.mark.parametrize("name", NAMES)
def test_a_small_version_agrees_with_the_paper(name: str, store: Store) -> None:
    known, study = rows(name, store), find(name)
    assert known
    result = conclude(study, store, "test", None)
    assert not result.failures
    # One seed confirms nothing of chance; what its rows say must hold somewhere.
    answers = [claim.answer(known) for claim in study.claims]
    assert any(answer.verdict is Verdict.HOLDS for answer in answers)
    files = {path.name for path in store.of(name).iterdir()}
    assert files == {
        *("rows.csv", "rows.parquet", "figure.svg", "figure.png", "result.json")
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_plan_begins_with_the_seeds_of_a_shorter_one(name: str) -> None:
    study = find(name)
    few, more = study.rows("quick", 1), study.rows("quick", 2)
    assert [row for row in more if row["seed"] == study.first_seed] == few
    assert len({str(row) for row in more}) == len(more)


def times(column: str, factor: float) -> Spoil:
    return lambda row: {**row, column: number(row, column) * factor}


@pytest.mark.parametrize(
    ("name", "spoil", "claim"),
    [
        ("fig5", times("alpha", 1.05), "T-E20"),
        ("fig5", lambda row: {**row, "alpha": 0.9}, "T-E22"),
        ("fig6", lambda row: {**row, "alpha": number(row, "predicates")}, "T-E23"),
        ("fig7", lambda row: {**row, "alpha": 0.9}, "T-E24"),
        ("fig26", lambda row: {**row, "cost": number(row, "parties")}, "F26a"),
        ("fig27", lambda row: {**row, "cost": number(row, "parties") ** 2}, "F27a"),
        ("fig28", lambda row: {**row, "cost": 1.0}, "F28a"),
        ("fig29", lambda row: {**row, "cost": 1.0}, "F29a"),
        ("fig31", times("subscription_cost", 1.01), "F31d"),
        ("fig32", times("object_way", 1.2), "F32b"),
        ("fig33", lambda row: {**row, "notification_cost": 7.0}, "F33a"),
        ("schemes", lambda row: {**row, "copies": 7}, "T-E8"),
        ("schemes", lambda row: {**row, "is_correct": False}, "E.3"),
        ("gryphon", lambda row: {**row, "agrees": False}, "T-D2"),
        ("covering", times("exact", 9), "exact"),
        ("covering", lambda row: {**row, "agrees": False}, "sound"),
        ("forwarding", lambda row: {**row, "matched": len(str(row))}, "agree"),
        ("brokers", lambda row: {**row, "agrees": False}, "T-F2"),
        ("choices", lambda row: {**row, "subscription_cost": 7.0}, "lone"),
        ("scale", lambda row: {**row, "agrees_held": False}, "agree"),
        ("memory", lambda row: {**row, "PSF_copies": 7}, "T-E8"),
        ("advantage", times("PIF_left", 10), "E.6"),
        ("headers", times("part", 2), "E.7"),
        ("hybrid", lambda row: {**row, "twice": 1}, "right"),
        ("poset", lambda row: {**row, "agrees": False}, "agree"),
        ("schemes", times("bits", 1.1), "E.4"),
        ("memory", times("PIF_vertices", 0.1), "E.6"),
        ("cbcb", lambda row: {**row, "requests": 9, "replies": 9}, "C.6 size"),
        ("pruning", lambda row: {**row, "missing": 2}, "T-C20"),
        ("merging", lambda row: {**row, "is_right": False}, "right"),
        ("merging", times("told", -1), "order"),
        ("changes", times("messages_per_change", 0.5), "O(N)"),
    ],
)
def test_wrong_numbers_are_noticed(
    name: str, spoil: Spoil, claim: str, store: Store
) -> None:
    assert claim in failures(name, [spoil(row) for row in rows(name, store)])


class FloodingTally(QuickTally):
    """A network that sends every notification over every link."""

    def _notification(self, event: _Event, site: int) -> tuple[int, float]:  # noqa: ARG002
        return len(self._weights), sum(self._weights.values())


class ForgetfulTally(QuickTally):
    """A network that tells its neighbours of every subscription, covered or not."""

    def _change_parties(self, event: _Event, site: int, by: int) -> None:
        super()._change_parties(event, site, by)
        self._pay("subscribe", len(self._weights), sum(self._weights.values()))


@pytest.mark.parametrize(
    ("name", "wrong", "claim", "enough"),
    [
        ("fig33", FloodingTally, "F33a", 1),
        ("fig32", FloodingTally, "F32a", 10),
        ("fig27", FloodingTally, "F27c", 10),
        ("fig31", ForgetfulTally, "F31d", 1),
        ("fig26", ForgetfulTally, "F26c", 1000),
        ("choices", FloodingTally, "order", 10),
    ],
)
def test_a_wrong_router_is_noticed(
    name: str,
    wrong: type[QuickTally],
    claim: str,
    enough: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(architectures, "QuickTally", wrong)
    study = find(name)
    plan = [row for row in study.rows("test", 1) if number(row, "parties") <= enough]
    found = [{**row, **study.run(row)} for row in plan]
    assert claim in failures(name, found)


class DeafRouter(Router):
    """A router that forgets what every other neighbour wants."""

    def handle(self, message: Message, source: Interface) -> Outbox:
        if isinstance(message, Subscribe) and isinstance(source, int) and source % 2:
            return []
        return super().handle(message, source)


@pytest.mark.parametrize(
    ("name", "claim"),
    [
        ("brokers", "T-F2"),
        ("hybrid", "right"),
        ("scale", "agree"),
        ("merging", "right"),
        ("changes", "right"),
    ],
)
def test_a_wrong_broker_is_noticed(
    name: str, claim: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world, "Router", DeafRouter)
    study = find(name)
    found = [{**row, **study.run(row)} for row in study.rows("test", 1)]
    assert claim in failures(name, found)


class ShyNode(Node):
    """A broker of CBCB that keeps the advertisements of others to itself."""

    def _handle_advertisement(
        self, message: ReceiverAdvertisement, source: Broker
    ) -> Sends:
        super()._handle_advertisement(message, source)
        return []


class StubbornNode(Node):
    """A broker of CBCB that never forgets what somebody wanted."""

    def _handle_reply(self, message: UpdateReply, source: Broker) -> Sends:
        before = self.table.wanted(source)
        sends = super()._handle_reply(message, source)
        self.table.widen(source, before)
        return sends


@pytest.mark.parametrize(
    ("name", "part", "wrong", "claim"),
    [
        ("pruning", None, ShyNode, "T-C21"),
        ("cbcb", "spreading", ShyNode, "C.6 FN"),
        ("cbcb", "changing", StubbornNode, "C.6 FP"),
    ],
)
def test_a_wrong_node_is_noticed(
    name: str,
    part: str | None,
    wrong: type[Node],
    claim: str,
    store: Store,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    right = [row for row in rows(name, store) if row.get("part") != part]
    monkeypatch.setattr(cbcb_world, "Node", wrong)
    study = find(name)
    plan = [row for row in study.rows("test") if row.get("part") == part]
    found = [{**row, **study.run(row)} for row in plan]
    assert claim in failures(name, found if part is None else [*right, *found])


class BlindScheme(PIF):
    """A scheme that never sends anything to the neighbour with the highest number."""

    def forward(
        self, broker: Broker, header: Broker, notification: Mapping[str, Value]
    ) -> list[Broker]:
        return list(super().forward(broker, header, notification))[:-1]


def test_a_wrong_scheme_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(network_runs.SCHEMES, "PIF", BlindScheme)
    study = find("schemes")
    found = [{**row, **study.run(row)} for row in study.rows("test", 1)]
    assert "E.3" in failures("schemes", found)


class DeafMatcher(TreeMatcher):
    """A matcher that misses what matches last."""

    def match_filters(self, notification: Mapping[str, Value]) -> list[int]:
        return super().match_filters(notification)[:-1]


def test_a_wrong_matcher_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_runs, "TreeMatcher", DeafMatcher)
    monkeypatch.setattr(matching_runs, "TreeMatcher", DeafMatcher)
    for name, claim in (("gryphon", "T-D2"), ("forwarding", "agree")):
        study = find(name)
        found = [{**row, **study.run(row)} for row in study.rows("test", 1)]
        assert claim in failures(name, found)


def test_what_rows_cannot_tell_is_no_failure() -> None:
    assert not Finding("F1", "says", Verdict.UNDECIDED, "no rows").is_failure
    assert not Finding("F1", "says", Verdict.OPEN, "found").is_failure
    assert Finding("F1", "says", Verdict.DIFFERS, "found").is_failure
    assert not Finding(
        "F1", "says", Verdict.DIFFERS, "found", is_gating=False
    ).is_failure
