"""Every check can fail: spoilt rows refute each claim, and mended ones make it hold.

Rows are those of the small versions, and each of them once more under another seed or
two, so that claims about several seeds can be decided.
"""

from collections.abc import Callable, Sequence
from functools import cache
from itertools import chain

import pytest

from siena.research.studies.architectures import choices
from siena.research.studies.claims import forwarding_claims
from siena.research.studies.covering import merging
from siena.research.studies.framework.claim import (
    CHANCE_SEEDS,
    Claim,
    Verdict,
)
from siena.research.studies.framework.registry import NAMES, find
from siena.research.studies.framework.results import rows_of
from siena.research.studies.framework.rows import Cell, Row, integer, where
from siena.research.studies.framework.runner import missing, run_here, tasks_of
from siena.research.studies.framework.store import Store

Fill = Callable[[Sequence[Row]], list[Row]]


def again_as(column: str, known: Cell, others: Sequence[Cell]) -> Fill:
    """The rows with a value stand for those with others, which would take too long."""
    return lambda rows: [
        *rows,
        *(
            {**row, column: other}
            for other in others
            for row in where(rows, **{column: known})
        ),
    ]


def as_large_as_the_papers(rows: Sequence[Row]) -> list[Row]:
    """Tables of forwarding, as if they had a decade, and the headline's 250,000."""
    large = {"filters": forwarding_claims.HEADLINE["full"], "size": 20}
    small = [{**row, "filters": 10} for row in where(rows, filters=100)]
    return [*small, *({**row, **(large if row["size"] == 5 else {})} for row in rows)]


ABSENT = [choice for choice in choices.CHOICES if choice not in choices.TINY]
FILLS: dict[str, Fill] = {
    "merging": again_as("workload", "W", list(merging.WORKLOADS)[1:]),
    "changes": again_as("workload", "W", list(merging.WORKLOADS)[1:]),
    "choices": again_as("choice", choices.TINY[1], ABSENT),
    "forwarding": as_large_as_the_papers,
    "scale": again_as("sites", 10_000, [1_000_000]),
}

# Of what compares findings, as many as a finding needs.
AGAIN = {"choices": CHANCE_SEEDS}

CLAIMS = list(
    chain.from_iterable(
        ((name, place) for place in range(len(find(name).claims))) for name in NAMES
    )
)


@cache
def rows(name: str, store: Store) -> list[Row]:
    """The rows of a small version, again under other seeds."""
    study = find(name)
    run_here(missing(tasks_of([study], "test", None), store), store, lambda *_: None)
    once = [kept.row for kept in rows_of(study, store, "test", None)]
    filled = FILLS.get(name, list)(once)
    again = range(0, 1000 * AGAIN.get(name, 2), 1000)
    return [
        {**row, "seed": integer(row, "seed") + more} for more in again for row in filled
    ]


def claim_of(name: str, place: int) -> Claim:
    return find(name).claims[place]


def ids(case: tuple[str, int]) -> str:
    name, place = case
    return f"{name}-{place}-{claim_of(name, place).name}"


@pytest.mark.parametrize("case", CLAIMS, ids=ids)
def test_spoilt_rows_refute_a_claim_that_others_do_not(
    case: tuple[str, int], store: Store
) -> None:
    assert claim_of(*case).blind_spots(rows(case[0], store)) == []


@pytest.mark.parametrize("case", CLAIMS, ids=ids)
def test_a_claim_says_how_it_is_decided_and_by_what(
    case: tuple[str, int], store: Store
) -> None:
    claim = claim_of(*case)
    finding = claim.finding(rows(case[0], store))
    assert claim.test
    assert "row" in finding.data
    assert "seed" in finding.data
    if finding.verdict in {Verdict.DIFFERS, Verdict.OPEN}:
        assert finding.why


@pytest.mark.parametrize("case", CLAIMS, ids=ids)
def test_without_rows_nothing_is_decided(case: tuple[str, int]) -> None:
    assert claim_of(*case).finding([]).verdict is Verdict.UNDECIDED
