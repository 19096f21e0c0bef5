"""What changed between two versions of a rule set, rule by rule, with events."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from siena.algebra.disjunction import decide_covers_predicate
from siena.algebra.points import NotShownError
from siena.algebra.sat import satisfiable
from siena.algebra.text.allowance import asked
from siena.errors import LimitError
from siena.model import Filter, Notification, Predicate
from siena.model.expression.rule import Rule
from siena.rules.reading import ReadRule
from siena.rules.review.covers import conditions
from siena.rules.review.index import example_of

# Work for one comparison of two predicates: about a second.
STEPS_MAX = 200_000
# Pairs of filters that are tried for an event that both versions match.
PAIRS_MAX = 16_384


class ChangeKind(StrEnum):
    """How the new version of a rule stands to the old one."""

    ADDED = "added"
    REMOVED = "removed"
    EQUAL = "equal"
    WIDER = "wider"
    NARROWER = "narrower"
    DISJOINT = "disjoint"
    INCOMPARABLE = "incomparable"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Change:
    """One rule in two versions, and events that show what changed.

    ``gained`` is matched by the new version only, ``lost`` by the old one only.
    """

    rule: str
    kind: ChangeKind
    gained: Notification | None = None
    lost: Notification | None = None


def compare_sets(
    old: Iterable[ReadRule],
    new: Iterable[ReadRule],
    on_progress: Callable[[int, int], None] | None = None,
    *,
    many: frozenset[str] = frozenset(),
) -> Iterator[Change]:
    """Every rule of two sets, in the order of the new one, then those that are gone.

    ``many`` are the multi-valued attributes with which the rules were read.
    """
    before: Mapping[str, ReadRule] = {read.id: read for read in old}
    after = {read.id: read for read in new}
    for number, (rule_id, read) in enumerate(after.items(), start=1):
        if on_progress is not None:
            on_progress(number, len(after))
        if rule_id in before:
            yield compare_rules(rule_id, before[rule_id].rule, read.rule, many=many)
        else:
            yield Change(rule_id, ChangeKind.ADDED, gained=_example(read.rule))
    for rule_id, read in before.items():
        if rule_id not in after:
            yield Change(rule_id, ChangeKind.REMOVED, lost=_example(read.rule))


@asked
def compare_rules(
    rule_id: str, old: Rule, new: Rule, *, many: frozenset[str] = frozenset()
) -> Change:
    """How one version of a rule stands to the other.

    >>> from siena.dialects import read_rule
    >>> def compare(old, new):
    ...     return compare_rules("r", read_rule("siena", old), read_rule("siena", new))
    >>> found = compare("x > 3", "x > 1")
    >>> print(found.kind, "gained:", found.gained)
    wider gained: x = 2
    """
    if old == new:
        return Change(rule_id, ChangeKind.EQUAL)
    lost, is_narrower_shown = _missed(old, new)
    gained, is_wider_shown = _missed(new, old)
    kind = _kind(
        covers_old=is_narrower_shown and lost is None,
        covered_by_old=is_wider_shown and gained is None,
        gained=gained,
        lost=lost,
    )
    if kind is ChangeKind.INCOMPARABLE and _is_shown_disjoint(old, new, many):
        kind = ChangeKind.DISJOINT
    return Change(rule_id, kind, gained, lost)


def _kind(
    *,
    covers_old: bool,
    covered_by_old: bool,
    gained: Notification | None,
    lost: Notification | None,
) -> ChangeKind:
    if covers_old and covered_by_old:
        return ChangeKind.EQUAL
    if covers_old and gained is not None:
        return ChangeKind.WIDER
    if covered_by_old and lost is not None:
        return ChangeKind.NARROWER
    if gained is not None and lost is not None:
        return ChangeKind.INCOMPARABLE
    return ChangeKind.UNDECIDED


def _missed(specific: Rule, general: Rule) -> tuple[Notification | None, bool]:
    """What the specific rule matches and the general one does not, and whether the
    answer is certain.
    """  # noqa: D205 -- one sentence
    verdict = decide_covers_predicate(
        general.predicate, specific.predicate, steps_max=STEPS_MAX
    )
    if verdict.holds and conditions(general.residual) <= conditions(specific.residual):
        return None, True
    if verdict.witness is not None and specific.matches(verdict.witness):
        return verdict.witness, True
    # A residual has its say: an event of the rule itself may show it.
    for filter_ in specific.predicate:
        event = _of_filter(filter_)
        if event is not None and specific.matches(event) and not general.matches(event):
            return event, True
    return None, False


def _is_shown_disjoint(old: Rule, new: Rule, many: frozenset[str]) -> bool:
    """Whether no event satisfies both predicates.

    Of several values one may satisfy the one and another the other.
    """
    tried = 0
    for f in old.predicate:
        for g in new.predicate:
            tried += 1
            if tried > PAIRS_MAX:
                return False
            try:
                both = Filter(c for c in (*f, *g) if c.name not in many)
            except LimitError:
                return False
            if satisfiable(Predicate([both])):
                return False
    return True


def _example(rule: Rule) -> Notification | None:
    """An event that a rule matches, if one is at hand."""
    for filter_ in rule.predicate:
        event = _of_filter(filter_)
        if event is not None and rule.matches(event):
            return event
    return None


def _of_filter(filter_: Filter) -> Notification | None:
    try:
        return example_of(filter_)
    except NotShownError:
        return None
