"""Routers are asked all that is counted, and what is counted wrongly is noticed."""

import numpy as np
import pytest

from siena.research.studies.framework.rows import Row
from siena.research.studies.runs.large import routers
from siena.research.studies.runs.large.graph_arrays import ArrayTree, Integers
from siena.research.studies.runs.large.links import Links
from siena.research.studies.runs.large.tables import tables

# 0 has 1 and 4 below it, 1 has 2 and 3, and 4 has 5.
TREE = ArrayTree(0, np.array([0, 0, 1, 1, 0, 4]))


def asked() -> Row:
    return routers.compare(TREE, np.random.default_rng(2))


def test_all_agrees() -> None:
    assert set(asked().values()) == {True}


@pytest.mark.parametrize(
    ("function", "column"),
    [
        ("links_of_notification", "agrees_notifications"),
        ("links_of_subscriptions", "agrees_subscriptions"),
    ],
)
@pytest.mark.parametrize("wrong", [Links(1, 0), Links(0, 1)], ids=["as", "hs"])
def test_a_link_too_many_is_noticed(
    function: str, column: str, wrong: Links, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = getattr(routers, function)

    def more(tree: ArrayTree, ends: Integers) -> Links:
        acyclic, hierarchical = right(tree, ends)
        return Links(acyclic + wrong.acyclic, hierarchical + wrong.hierarchical)

    monkeypatch.setattr(routers, function, more)
    assert [name for name, agrees in asked().items() if not agrees] == [column]


@pytest.mark.parametrize(
    "table", ["acyclic", "hierarchical", "acyclic_plain", "hierarchical_plain"]
)
def test_an_interest_too_many_at_one_broker_is_noticed(
    table: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def more(*drawn: object) -> dict[str, Integers]:
        found = tables(*drawn)  # type: ignore[arg-type]
        found[table][3] += 1
        return found

    monkeypatch.setattr(routers, "tables", more)
    assert [name for name, agrees in asked().items() if not agrees] == ["agrees_held"]
