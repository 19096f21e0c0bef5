"""The review against its slow twin: every rule compared with every other."""

from hypothesis import given, strategies as st

from siena.algebra.relations import covers, decide_covers
from siena.algebra.sat import satisfiable
from siena.model import Kind, Predicate
from siena.model.expression.rule import Rule
from siena.rules import ReadRule, RuleEntry
from siena.rules.comparing import ChangeKind, compare_rules
from siena.rules.review import FindingKind, review_rules
from siena.rules.review.covers import find_covers
from siena.rules.review.index import RuleIndex
from strategies import filters_cut_in_pieces, predicates

SMALL = (Kind.INTEGER, Kind.STRING)
few_rules = st.lists(predicates(SMALL), min_size=1, max_size=6)


def rules_of(found: list[Predicate]) -> list[ReadRule]:
    return [
        ReadRule(RuleEntry(f"r{number}", str(predicate)), Rule(predicate))
        for number, predicate in enumerate(found)
    ]


@given(few_rules)
def test_the_index_finds_the_pairs_that_all_comparisons_find(
    found: list[Predicate],
) -> None:
    review = review_rules(rules_of(found))
    slow = {
        (i, j)
        for i, general in enumerate(found)
        for j, specific in enumerate(found)
        if i != j and satisfiable(specific) and covers(general, specific)
    }
    assert set(review.pairs) == slow
    dead = {f.rule for f in review.findings if f.kind is FindingKind.DEAD}
    assert dead == {f"r{i}" for i, each in enumerate(found) if not satisfiable(each)}


@given(few_rules)
def test_every_event_of_a_review_shows_what_it_is_said_to_show(
    found: list[Predicate],
) -> None:
    rules = rules_of(found)
    by_id = {read.id: read.rule for read in rules}
    index = RuleIndex(rules)
    for number, read in enumerate(rules):
        alone = find_covers(index, number).alone
        if alone is not None:
            assert [r.id for r in rules if r.rule.matches(alone)] == [read.id]
    for finding in review_rules(rules, overlaps_of=["r0"]).findings:
        if finding.example is not None:
            assert by_id[finding.rule].matches(finding.example)
            assert any(
                by_id[other].matches(finding.example) for other in finding.others
            )
        if finding.difference is not None:
            assert not by_id[finding.rule].matches(finding.difference)
            assert by_id[finding.others[0]].matches(finding.difference)


@given(filters_cut_in_pieces())
def test_several_rules_that_cover_one_together_are_found(
    cut: tuple[Predicate, Predicate],
) -> None:
    pieces, whole = cut
    rules = rules_of([whole, *(Predicate([piece]) for piece in pieces)])
    verdict = decide_covers(pieces, whole)
    review = review_rules(rules)
    shadowed = {f.rule for f in review.findings if f.kind is FindingKind.SHADOWED}
    equal = {f.rule for f in review.findings if f.kind is FindingKind.EQUAL}
    if verdict.shown and satisfiable(whole):
        assert ("r0" in shadowed | equal) is verdict.holds


@given(predicates(SMALL), predicates(SMALL))
def test_a_change_is_what_the_relations_say_and_its_events_show_it(
    old: Predicate, new: Predicate
) -> None:
    change = compare_rules("r", Rule(old), Rule(new))
    forth, back = covers(new, old), covers(old, new)
    expected = {
        (True, True): {ChangeKind.EQUAL},
        (True, False): {ChangeKind.WIDER},
        (False, True): {ChangeKind.NARROWER},
        (False, False): {ChangeKind.INCOMPARABLE, ChangeKind.DISJOINT},
    }[forth, back]
    assert change.kind in expected
    if change.gained is not None:
        assert new.matches(change.gained)
        assert not old.matches(change.gained)
    if change.lost is not None:
        assert old.matches(change.lost)
        assert not new.matches(change.lost)
