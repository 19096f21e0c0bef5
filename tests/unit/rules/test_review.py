"""What a review finds, and how it proves it."""

import pytest

from siena.dialects import read_rule
from siena.rules import ReadRule, RuleEntry, SetAside, read_rules
from siena.rules.comparing import ChangeKind, compare_rules
from siena.rules.events import Event
from siena.rules.report import review_page
from siena.rules.report.graph import draw
from siena.rules.review import FindingKind, Review, review_rules


def reviewed(
    *texts: str, dialect: str = "siena", overlaps: tuple[str, ...] = ()
) -> Review:
    entries = [
        RuleEntry(f"r{n}", text, dialect, title=f"Rule <{n}>")
        for n, text in enumerate(texts)
    ]
    rules = [r for r in read_rules(entries) if isinstance(r, ReadRule)]
    aside = [r for r in read_rules(entries) if isinstance(r, SetAside)]
    return review_rules(rules, aside, overlaps_of=overlaps)


def lines(review: Review) -> list[tuple[str, ...]]:
    return [(f.kind.value, f.rule, *f.others) for f in review.findings]


def test_a_rule_that_another_covers_is_shadowed_with_a_proof_for_each_constraint() -> (
    None
):
    review = reviewed("x > 3", "x > 5 and y = 1 or x = 4")
    assert lines(review) == [("shadowed", "r1", "r0")]
    (finding,) = review.findings
    form = finding.to_json(review.names)
    assert form["proof"] == [
        {
            "filter": "x = 4",
            "by": [{"rule": "r0", "filter": "x > 3"}],
            "because": ["x > 3: implied by x = 4"],
        },
        {
            "filter": "x > 5 and y = 1",
            "by": [{"rule": "r0", "filter": "x > 3"}],
            "because": ["x > 3: implied by x > 5"],
        },
    ]
    assert finding.difference is None or not finding.difference.get("y")


def test_several_rules_may_shadow_one_together() -> None:
    review = reviewed("integer x < 5", "integer x >= 5", "integer x any and y = 1")
    assert lines(review) == [("shadowed", "r2", "r0", "r1")]
    (part,) = review.findings[0].proof
    assert len(part.by) == 2


def test_what_a_first_event_does_not_show_a_later_one_does() -> None:
    # At x = 0 only the first fires; that the others are needed is found by events
    # that it misses.
    review = reviewed(
        "integer x < 5",
        "integer x >= 5 and integer x < 9",
        "integer x >= 9",
        "integer x any",
    )
    shadowed = [line for line in lines(review) if line[1] == "r3"]
    assert shadowed == [("shadowed", "r3", "r0", "r1", "r2")]


def test_equal_rules_in_other_words_are_found_once() -> None:
    review = reviewed("integer x = 4", "integer x > 3 and integer x < 5")
    assert lines(review) == [("equal", "r0", "r1")]


def test_nothing_satisfies_a_dead_rule_and_it_is_shadowed_by_none() -> None:
    review = reviewed("x > 3", "x > 5 and x < 4")
    assert lines(review) == [("dead", "r1")]


def test_a_residual_is_listed_and_covered_through_its_filters() -> None:
    review = reviewed("a any", "a < b AND c = 1", dialect="sql")
    # The first is no condition in SQL, and put aside.
    assert [line[0] for line in lines(review)] == ["unreadable", "residual"]
    review = reviewed("c = 1", "a < b AND c = 1", dialect="sql")
    assert lines(review) == [("shadowed", "r1", "r0"), ("residual", "r1")]


def test_a_rule_with_a_residual_covers_only_what_asks_for_the_same() -> None:
    review = reviewed(
        "a < b", "a < b AND c = 1", "c = 1 AND a IS NOT NULL", dialect="sql"
    )
    assert [line for line in lines(review) if line[0] == "shadowed"] == [
        ("shadowed", "r1", "r0"),
        ("shadowed", "r1", "r2"),
    ]


def test_overlaps_are_found_for_the_rule_that_is_asked_for() -> None:
    review = reviewed("x > 3", "y = 1", "x < 2", overlaps=("r0",))
    assert lines(review) == [("overlaps", "r0", "r1")]
    assert dict(review.findings[0].example or {}) == {"x": 4, "y": 1}


def test_faults_are_what_a_rule_set_should_not_have() -> None:
    review = reviewed("x >", "x > 3", "x > 4")
    assert [f.kind for f in review.faults()] == [
        FindingKind.UNREADABLE,
        FindingKind.SHADOWED,
    ]
    assert review.counts()["shadowed"] == 1
    assert review.to_json()["covering_pairs"] == [["r1", "r2"]]


def test_the_report_is_one_page_that_fetches_nothing_and_escapes_what_rules_say() -> (
    None
):
    page = review_page(reviewed("s = '<b>'", "s any", "x > 1 and x < 0"), "a & b")
    assert "Rule <0>" not in page
    assert "Rule &lt;0&gt;" in page
    assert "a &amp; b" in page
    assert "http" not in page
    assert page.count("<svg") == 1


def test_the_graph_has_no_arrow_where_there_is_a_way_over_others() -> None:
    drawing = draw(["a", "b", "c", "d"], [(0, 1), (1, 2), (0, 2), (2, 3), (3, 2)])
    assert drawing.boxes == 3
    assert drawing.svg.count('class="link"') == 2
    assert "(+1 equal)" in drawing.svg


@pytest.mark.parametrize("count", [1, 500])
def test_a_large_graph_is_drawn_in_part(count: int) -> None:
    drawing = draw(
        [f"rule {n}" for n in range(2 * count)], [(n, n + count) for n in range(count)]
    )
    assert drawing.boxes == 2 * count
    assert drawing.drawn == min(2 * count, 400)


def test_rules_on_several_values_are_not_disjoint() -> None:
    many = frozenset({"tags"})
    old, new = (
        read_rule("siena", text, many=many)
        for text in ("tags = a and y = 1", "tags = b and y = 1")
    )
    assert compare_rules("r", old, new).kind is ChangeKind.DISJOINT
    assert compare_rules("r", old, new, many=many).kind is ChangeKind.INCOMPARABLE
    other = read_rule("siena", "tags = b and y = 2", many=many)
    assert compare_rules("r", old, other, many=many).kind is ChangeKind.DISJOINT
    both: Event = {"tags": ("a", "b"), "y": 1}
    assert old.matches(both)
    assert new.matches(both)
