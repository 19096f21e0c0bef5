"""Which revision a micro-batch is given, without Spark."""

import os
from pathlib import Path
from threading import Barrier, Thread

import pytest

from siena.errors import SienaError
from siena.spark.rules import LiveRules, live
from siena.spark.rules.live import revision_for, revision_path


def rule(text: str) -> list[dict[str, object]]:
    return [{"id": "r", "text": text, "version": "1"}]


def test_a_micro_batch_is_given_one_revision_for_ever(tmp_path: Path) -> None:
    rules = LiveRules(tmp_path)
    with pytest.raises(SienaError, match="no rules were published"):
        rules.current()
    with pytest.raises(SienaError, match="no rules were published"):
        revision_for(tmp_path, "q", 0)
    assert rules.publish(rule("x = 1")).revision == 1
    assert revision_for(tmp_path, "q", 0) == 1
    assert rules.publish(rule("x = 2")).revision == 2
    assert [revision_for(tmp_path, "q", n) for n in (0, 1, 0)] == [1, 2, 1]
    assert revision_for(tmp_path, "another", 0) == 2
    assert rules.given("q") == {0: 1, 1: 2}


def test_all_tasks_of_a_micro_batch_are_given_the_same(tmp_path: Path) -> None:
    """They ask at the same time, and rules are published meanwhile."""
    rules = LiveRules(tmp_path)
    rules.publish(rule("x = 0"))
    tasks, batches = 4, 8
    barrier = Barrier(tasks + 1)
    given: list[list[int]] = [[] for _ in range(tasks)]

    def task(found: list[int]) -> None:
        for batch in range(batches):
            barrier.wait()
            found.append(revision_for(tmp_path, "q", batch))

    threads = [Thread(target=task, args=(found,)) for found in given]
    for thread in threads:
        thread.start()
    for batch in range(batches):
        barrier.wait()
        rules.publish(rule(f"x = {batch}"))
    for thread in threads:
        thread.join()
    assert given == [given[0]] * tasks


def test_old_revisions_go_but_for_those_that_may_be_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "REVISIONS_KEPT", 2)
    monkeypatch.setattr(live, "BATCHES_KEPT", 3)
    rules = LiveRules(tmp_path)
    rules.publish(rule("x = 1"))
    assert revision_for(tmp_path, "q", 0) == 1
    for i in range(2, 6):
        rules.publish(rule(f"x = {i}"))
    assert rules.revisions() == [1, 4, 5]
    for batch in range(1, 5):
        revision_for(tmp_path, "q", batch)
    assert sorted(rules.given("q")) == [2, 3, 4]
    rules.publish(rule("x = 6"))
    assert rules.revisions() == [5, 6]
    assert not revision_path(tmp_path, 1).exists()


def test_a_bad_rule_is_counted_or_changes_nothing(tmp_path: Path) -> None:
    rules = LiveRules(tmp_path)
    bad: list[dict[str, object]] = [
        *rule("x = 1"),
        {"id": "s", "text": "x ="},
        {"id": "", "text": "x = 1"},
    ]
    published = rules.publish(bad)
    assert (published.revision, published.rules) == (1, 1)
    assert [aside.id for aside in published.rejects] == ["", "s"]
    assert rules.current()[1].rejects == published.rejects
    with pytest.raises(SienaError, match="row 3: a rule has an id"):
        rules.publish(bad, on_error="raise")
    assert rules.revisions() == [1]


def test_a_query_that_is_given_up_is_forgotten(tmp_path: Path) -> None:
    rules = LiveRules(tmp_path)
    rules.publish(rule("x = 1"))
    for query in ("old", "new"):
        revision_for(tmp_path, query, 0)
    place = tmp_path / live.ASSIGNED / "old"
    long_ago = place.stat().st_mtime - (live.QUERY_DAYS_KEPT + 1) * 86_400
    os.utime(place, (long_ago, long_ago))
    rules.publish(rule("x = 2"))
    assert [path.name for path in (tmp_path / live.ASSIGNED).iterdir()] == ["new"]
    assert rules.given("new") == {0: 1}
