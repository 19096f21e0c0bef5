"""Workloads: the shape of what is drawn, and that it is drawn the same every time.

Shares are compared with what C.7 of the specification says, within a point of a
hundred: five standard deviations or more of the samples here.
"""

from collections import Counter
from collections.abc import Iterable

import pytest

from siena.errors import SienaError
from siena.lang.parser import parse_filter
from siena.model import Constraint, Filter, Kind, Operator
from siena.model.spelling import spell_string
from siena.sim.words import WORDS
from siena.sim.workload import SSBG, TR0605

COUNT = 20_000
POINT = 0.01

FILTERS = list(TR0605(seed=1).filters(COUNT))
CONSTRAINTS = [constraint for f in FILTERS for constraint in f]


def shares(things: Iterable[object]) -> dict[object, float]:
    counts = Counter(things)
    return {thing: count / counts.total() for thing, count in counts.items()}


# --- W-TR0605 -------------------------------------------------------------------


def test_sizes_are_as_the_paper_has_them() -> None:
    expected = {1: 0.10, 2: 0.40, 3: 0.30, 4: 0.10, 5: 0.05, 6: 0.05}
    assert shares(map(len, FILTERS)) == pytest.approx(expected, abs=POINT * 2)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (
            Kind.STRING,
            {
                Operator.EQ: 0.4,
                Operator.PREFIX: 0.1,
                Operator.SUFFIX: 0.1,
                Operator.SUBSTRING: 0.1,
                Operator.NE: 0.1,
                Operator.LT: 0.1,
                Operator.GT: 0.1,
            },
        ),
        (
            Kind.INTEGER,
            {
                Operator.EQ: 0.4,
                Operator.LT: 0.25,
                Operator.GT: 0.25,
                Operator.NE: 0.1,
            },
        ),
    ],
)
def test_operators_are_as_the_paper_has_them(
    kind: Kind, expected: dict[Operator, float]
) -> None:
    drawn = shares(c.operator for c in CONSTRAINTS if c.kind is kind)
    assert drawn == pytest.approx(expected, abs=POINT * 2)


def test_names_are_distinct_within_a_filter_and_within_a_notification() -> None:
    assert all(len(f.by_name) == len(f) for f in FILTERS)
    assert {len(n) for n in TR0605().notifications(200)} == {10}


def test_ten_names_are_enough_and_nine_are_not() -> None:
    (notification,) = TR0605(names=10).notifications(1)
    assert len(notification) == 10
    with pytest.raises(SienaError, match="10 names"):
        TR0605(names=9)


def test_popular_names_are_as_popular_as_zipf_says() -> None:
    # Filters of one constraint: in larger ones a name cannot be drawn twice.
    drawn = shares(f.constraints[0].name for f in FILTERS if len(f) == 1)
    total = sum(1 / rank for rank in range(1, 501))
    for rank, name in enumerate(("s1", "i2", "s3"), start=1):
        assert drawn[name] == pytest.approx(1 / rank / total, abs=POINT * 3)


def test_uniform_names_are_equally_popular() -> None:
    filters = TR0605(names=50, distribution="uniform").filters(COUNT)
    drawn = shares(c.name for f in filters for c in f)
    assert len(drawn) == 50
    assert all(
        share == pytest.approx(1 / 50, abs=POINT / 2) for share in drawn.values()
    )


def test_half_of_the_names_are_strings() -> None:
    filters = TR0605(names=50, distribution="uniform").filters(2_000)
    kinds = {c.name: c.kind for f in filters for c in f}
    assert Counter(kinds.values()) == {Kind.STRING: 25, Kind.INTEGER: 25}


def test_a_word_of_rank_r_has_the_weight_1_over_r() -> None:
    drawn = shares(c.value for c in CONSTRAINTS if c.kind is Kind.STRING)
    total = sum(1 / rank for rank in range(1, 201))
    for rank, word in enumerate(WORDS[:5], start=1):
        assert drawn[word] == pytest.approx(1 / rank / total, abs=POINT)


def test_integers_are_uniform_from_minus_100_to_100() -> None:
    drawn = shares(c.value for c in CONSTRAINTS if c.kind is Kind.INTEGER)
    assert set(drawn) == set(range(-100, 101))
    assert all(
        share == pytest.approx(1 / 201, abs=POINT / 4) for share in drawn.values()
    )


def test_integer_constraints_name_their_kind() -> None:
    assert {c.kind for c in CONSTRAINTS} == {Kind.STRING, Kind.INTEGER}
    assert all(Kind.of(c.value) is c.kind for c in CONSTRAINTS if c.value is not None)


def test_notifications_agree_with_filters_on_the_kinds_of_names() -> None:
    kinds = {c.name: c.kind for c in CONSTRAINTS}
    for notification in TR0605().notifications(200):
        for name, value in notification.items():
            assert kinds.get(name, Kind.of(value)) is Kind.of(value)


def test_some_notifications_match_some_filters() -> None:
    found = sum(
        f.matches(n) for n in TR0605().notifications(20) for f in FILTERS[:1_000]
    )
    assert found > 20  # about 1 in 100 pairs


def test_the_texts_are_the_filters() -> None:
    read = [parse_filter(text) for text in TR0605().texts(500)]
    assert read == FILTERS[:500]
    # The generator skips the checks of the constructor; nothing would fail them.
    assert read == [Filter(map(checked, f)) for f in FILTERS[:500]]


# --- W-SSBG ---------------------------------------------------------------------


def test_an_interface_has_between_1_and_19_filters() -> None:
    sizes = [len(predicate) for predicate in SSBG().predicates(2_000)]
    assert min(sizes) == 1
    assert max(sizes) == 19
    assert sum(sizes) / len(sizes) == pytest.approx(10, abs=0.5)


def test_a_filter_has_between_1_and_4_constraints_with_distinct_names() -> None:
    filters = [f for predicate in SSBG().predicates(500) for f in predicate]
    assert set(map(len, filters)) == {1, 2, 3, 4}
    assert all(len(f.by_name) == len(f) for f in filters)


def test_a_notification_has_between_1_and_9_attributes() -> None:
    assert {len(n) for n in SSBG().notifications(500)} == set(range(1, 10))


def test_a_name_keeps_its_kind() -> None:
    constraints = [c for p in SSBG().predicates(200) for f in p for c in f]
    kinds = {c.name: c.kind for c in constraints}
    assert all(kinds[c.name] is c.kind for c in constraints)
    for notification in SSBG().notifications(200):
        for name, value in notification.items():
            assert kinds.get(name, Kind.of(value)) is Kind.of(value)


def test_the_variants_of_the_simulator_are_ranges() -> None:
    assert {len(p) for p in SSBG(filters=range(1, 2)).predicates(50)} == {1}
    assert min(len(p) for p in SSBG(filters=range(20)).predicates(200)) == 0


def test_uniform_words_are_equally_popular() -> None:
    predicates = SSBG(distribution="uniform").predicates(1_000)
    drawn = shares(c.name for p in predicates for f in p for c in f)
    assert set(drawn) == set(WORDS)
    assert max(drawn.values()) < 2 * min(drawn.values())


def test_impossible_ranges_are_refused() -> None:
    with pytest.raises(SienaError, match="at least one number"):
        SSBG(filters=range(0))
    with pytest.raises(SienaError, match="200 names"):
        SSBG(constraints=range(1, 300))


# --- Both -----------------------------------------------------------------------


def test_the_same_seed_gives_the_same_and_another_gives_another() -> None:
    assert list(TR0605(seed=1).filters(100)) == FILTERS[:100]
    assert list(TR0605(seed=2).filters(100)) != FILTERS[:100]
    predicates = list(SSBG(seed=1).predicates(100))
    assert list(SSBG(seed=1).predicates(10)) == predicates[:10]
    assert list(SSBG(seed=2).predicates(10)) != predicates[:10]


def test_there_are_200_words_that_need_no_quotes() -> None:
    assert len(set(WORDS)) == len(WORDS) == 200
    assert all(spell_string(word) == word.lower() for word in WORDS)


def checked(constraint: Constraint) -> Constraint:
    name, operator, kind, value = constraint
    return Constraint(name, operator, value, kind)
