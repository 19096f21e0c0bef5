"""The walk over a rule set: who covers whom, and what follows from it."""

from collections.abc import Callable, Iterable, Iterator

from siena.algebra.points import NotShownError
from siena.algebra.text.allowance import asked
from siena.errors import LimitError
from siena.model import Filter, Notification
from siena.model.expression import spell_expression
from siena.rules.entry import SetAside
from siena.rules.pieces import Share
from siena.rules.reading import ReadRule
from siena.rules.review.covers import Proof, RuleCovers
from siena.rules.review.findings import Finding, FindingKind, Review
from siena.rules.review.index import RuleIndex, example_of
from siena.rules.review.side_by_side import all_covers

# Pairs of filters that are tried for two rules that may overlap.
PAIRS_MAX = 4_096
# A residual that is shown in a finding.
RESIDUAL_CHARACTERS_MAX = 2_000


def review_rules(
    rules: Iterable[ReadRule],
    set_aside: Iterable[SetAside] = (),
    *,
    overlaps_of: Iterable[str] = (),
    share: Share | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Review:
    """Everything that is found about rules; ``set_aside`` are those without a meaning.

    >>> from siena.rules.entry import RuleEntry
    >>> from siena.rules.reading import read_entry
    >>> texts = {"a": "x > 3", "b": "x > 5 and y = 1", "c": "x > 5 and x < 4"}
    >>> found = review_rules(read_entry(RuleEntry(*item)) for item in texts.items())
    >>> for finding in found.findings:
    ...     print(finding.kind, finding.rule, *finding.others)
    dead c
    shadowed b a

    ``overlaps_of`` are the ids of rules whose overlaps are wanted: with most others
    most rules have an event in common.  ``share`` lets others
    compare the rules; what is found is the same.
    """
    index = RuleIndex(rules)
    aside = tuple(set_aside)
    found: list[RuleCovers] = []
    for known in all_covers(index, share):
        found.append(known)
        if on_progress is not None:
            on_progress(len(found), len(index.rules))
    return _Conclusions(index, found).review(aside, overlaps_of)


class _Conclusions:
    """What follows from who covers whom."""

    def __init__(self, index: RuleIndex, found: list[RuleCovers]) -> None:
        self.index = index
        self.found = found
        self.ids = [read.id for read in index.rules]
        self.above: list[dict[int, Proof]] = [
            {proof.covering[0]: proof for proof in known.single} for known in found
        ]

    def review(self, aside: tuple[SetAside, ...], overlaps_of: Iterable[str]) -> Review:
        findings = [
            *self.unreadable(aside),
            *self.dead(),
            *self.equal(),
            *self.shadowed(),
            *self.overlaps(overlaps_of),
            *self.residuals(),
            *self.undecided(),
        ]
        pairs = [(i, j) for j, above in enumerate(self.above) for i in sorted(above)]
        needed = sum(known.alone is not None for known in self.found)
        entries = tuple(read.entry for read in self.index.rules)
        return Review(entries, tuple(findings), tuple(pairs), aside, needed)

    def unreadable(self, aside: tuple[SetAside, ...]) -> Iterator[Finding]:
        for place, reason, rule in aside:
            yield Finding(FindingKind.UNREADABLE, rule or place, text=reason)

    def dead(self) -> Iterator[Finding]:
        for number, known in enumerate(self.found):
            if not known.live_filters and not known.undecided:
                text = "nothing satisfies it"
                if known.dead_filters:
                    text += f": {known.dead_filters[0]}"
                yield Finding(FindingKind.DEAD, self.ids[number], text=text)

    def equals(self, number: int) -> list[int]:
        """The other rules that select the same."""
        return [i for i in self.above[number] if number in self.above[i]]

    def equal(self) -> Iterator[Finding]:
        for number in range(len(self.ids)):
            others = sorted(self.equals(number))
            if others and number < others[0]:
                proof = self.above[number][others[0]]
                yield Finding(
                    FindingKind.EQUAL,
                    self.ids[number],
                    tuple(self.ids[i] for i in others),
                    proof=proof.parts,
                    example=proof.example,
                )

    def shadowed(self) -> Iterator[Finding]:
        for number, known in enumerate(self.found):
            equal = set(self.equals(number))
            for other, proof in self.above[number].items():
                if other not in equal:
                    yield self.shadow(number, proof, self.only(other, number))
            if known.together is not None:
                yield self.shadow(number, known.together, None)

    def shadow(
        self, number: int, proof: Proof, difference: Notification | None
    ) -> Finding:
        return Finding(
            FindingKind.SHADOWED,
            self.ids[number],
            tuple(self.ids[i] for i in proof.covering),
            proof=proof.parts,
            example=proof.example,
            difference=difference,
        )

    def only(self, wide: int, narrow: int) -> Notification | None:
        """An event at which one rule fires and another does not, of those at hand."""
        narrow_rule = self.index.rules[narrow].rule
        for filter_ in self.found[wide].live_filters:
            event = example_of(filter_)
            if event is None:
                continue
            if self.index.fires(wide, event) and not narrow_rule.matches(event):
                return event
        return None

    def overlaps(self, wanted: Iterable[str]) -> Iterator[Finding]:
        numbers = {rule_id: number for number, rule_id in enumerate(self.ids)}
        for rule_id in wanted:
            number = numbers[rule_id]
            for other, event in _overlapping(self.index, number):
                yield Finding(
                    FindingKind.OVERLAPS, rule_id, (self.ids[other],), example=event
                )

    def residuals(self) -> Iterator[Finding]:
        for read in self.index.rules:
            if read.rule.residual is not None:
                text = spell_expression(read.rule.residual)
                if len(text) > RESIDUAL_CHARACTERS_MAX:
                    text = text[:RESIDUAL_CHARACTERS_MAX] + " …"
                yield Finding(FindingKind.RESIDUAL, read.id, text=text)

    def undecided(self) -> Iterator[Finding]:
        for number, known in enumerate(self.found):
            is_shown = known.alone is not None or self.above[number] or known.together
            if known.undecided and not is_shown:
                text = "whether others cover it was not decided within the allowed work"
                yield Finding(FindingKind.UNDECIDED, self.ids[number], text=text)


def _overlapping(index: RuleIndex, number: int) -> Iterator[tuple[int, Notification]]:
    """The other rules that fire at some event of a rule, each with such an event.

    Rules with a residual are named only if the event satisfies it.
    """
    for other in range(len(index.rules)):
        if other != number:
            event = _common_event(index, number, other)
            if event is not None:
                yield other, event


@asked
def _common_event(index: RuleIndex, one: int, other: int) -> Notification | None:
    """An event at which two rules fire, if one is found."""
    tried = 0
    for f in index.rules[one].rule.predicate:
        for g in index.rules[other].rule.predicate:
            tried += 1
            if tried > PAIRS_MAX:
                return None
            event = _common(f, g)
            if (
                event is not None
                and index.fires(one, event)
                and index.fires(other, event)
            ):
                return event
    return None


def _common(f: Filter, g: Filter) -> Notification | None:
    try:
        return example_of(Filter((*f, *g)))
    except (LimitError, NotShownError):
        return None
