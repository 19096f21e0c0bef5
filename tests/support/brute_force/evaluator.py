"""The relations of A.4 and A.5, decided by trying every notification that could matter.

The notifications of a finite universe that satisfy an expression form a union of
*boxes*; a box gives each name the mask of its allowed values, absence included.  All
relations then ask one thing: is something left of a box when others are taken away?
Nothing here knows how an operator works, or that A.5.1 treats names one by one.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from brute_force.language import (
    All,
    Constraint,
    Either,
    Except,
    Expression,
    Negation,
    Notification,
    OneOf,
    Value,
    admits,
    constraints_in,
    matches,
)
from brute_force.universe import ABSENT, EXHAUSTIVE, Values, constructed

Universe = Mapping[str, Values]
Box = dict[str, int]  # a name that is not there is free: any value, or none

# Where a witness speaks for yes; for the other relations it speaks for no.
WITNESS_MEANS_YES = {"overlaps", "satisfiable"}
# Answered by looking at one given notification: there is nothing to witness.
LOOKED_UP = {"matches", "admits"}


@dataclass(frozen=True, slots=True)
class Question:
    """A relation and what it is asked of; ``notification`` only for the looked up."""

    relation: str
    expressions: tuple[Expression, ...]
    notification: Notification | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """The answer, and the notification that proves it where one can."""

    answer: bool
    witness: Notification | None = None


def decide(question: Question) -> Verdict:
    """The answer by brute force.

    >>> x = Constraint("x", "integer", "=", 4)
    >>> between = Constraint("x", "integer", ">", 3), Constraint("x", "integer", "<", 5)
    >>> decide(Question("covers", (All((x,)), All(between)))).answer
    True
    """
    if question.notification is not None:
        holds = matches if question.relation == "matches" else admits
        return Verdict(holds(question.expressions[0], question.notification))
    witness = find_witness(question)
    return Verdict((witness is None) is not _yes_by_witness(question), witness)


def is_witness(question: Question, notification: Notification) -> bool:
    """Whether the notification proves its side, by the definitions alone."""
    left, *others = question.expressions
    right = others[0] if others else left
    match question.relation:
        case "covers":
            return matches(right, notification) and not matches(left, notification)
        case "covers-advertisement":
            return admits(right, notification) and not admits(left, notification)
        case "equivalent":
            return matches(left, notification) is not matches(right, notification)
        case "overlaps":
            return admits(left, notification) and matches(right, notification)
        case "satisfiable":
            return matches(left, notification)
        case _:
            raise ValueError(question.relation)


def find_witness(question: Question) -> Notification | None:
    """A notification that proves no (or yes, where that is what is proved), if any.

    The exhaustive universe comes first because its masks are ready; only the
    constructed one is complete.
    """
    by_name: dict[str, list[Constraint]] = defaultdict(list)
    for expression in question.expressions:
        for constraint in constraints_in(expression):
            by_name[constraint.name].append(constraint)
    quick = dict.fromkeys(by_name, EXHAUSTIVE)
    box = _search(question, quick)
    if box is not None:
        return _notification(box, quick)
    complete = {name: constructed(on_name) for name, on_name in by_name.items()}
    box = _search(question, complete)
    return None if box is None else _notification(box, complete)


def _yes_by_witness(question: Question) -> bool:
    return question.relation in WITNESS_MEANS_YES


def _search(question: Question, universe: Universe) -> Box | None:
    for boxes, removed in _differences(question, universe):
        for box in boxes:
            left_over = _remainder(box, removed, universe)
            if left_over is not None:
                return left_over
    return None


def _differences(
    question: Question, universe: Universe
) -> Sequence[tuple[Sequence[Box], Sequence[Box]]]:
    """Pairs of (boxes, boxes to remove); whatever is left over is a witness."""
    left, *others = question.expressions
    right = others[0] if others else left
    match question.relation:
        case "covers":
            return [(region(right, universe), region(left, universe))]
        case "covers-advertisement":
            return [([promised(right, universe)], [promised(left, universe)])]
        case "equivalent":
            ours, theirs = region(left, universe), region(right, universe)
            return [(ours, theirs), (theirs, ours)]
        case "overlaps":
            both = [promised(left, universe)], region(right, universe)
            return [(_meet(both), ())]
        case "satisfiable":
            return [(region(left, universe), ())]
        case _:
            raise ValueError(question.relation)


def region(
    expression: Expression, universe: Universe, *, negated: bool = False
) -> list[Box]:
    """The notifications that satisfy the expression (or its negation), as boxes."""
    match expression:
        case Constraint(name=name, operator="any" | "absent"):
            mask = universe[name].mask(expression)
            if negated:
                # Of `any` with a type, what is there and of another kind.
                everything = universe[name].everything
                is_typed = expression.wanted != "untyped"
                mask = everything & ~mask & ~(ABSENT if is_typed else 0)
            return [{name: mask}] if mask else []
        case Constraint(name=name, wanted=wanted):
            mask = universe[name].mask(expression)
            if negated:
                present = universe[name].mask(Constraint(name, wanted, "any"))
                mask = present & ~mask
            return [{name: mask}] if mask else []
        case Negation(part=part):
            return region(part, universe, negated=not negated)
        case Except(wanted=kept, unwanted=taken):
            if negated:
                return region(kept, universe, negated=True) + region(taken, universe)
            removed = region(taken, universe)
            return [
                left_over
                for box in region(kept, universe)
                for left_over in _without(box, removed, universe)
            ]
        case All(parts=parts) | Either(parts=parts) | OneOf(options=parts):
            regions = [region(part, universe, negated=negated) for part in parts]
            if isinstance(expression, All) is not negated:
                return _meet(regions)
            return [box for boxes in regions for box in boxes]


def promised(advertisement: Expression, universe: Universe) -> Box:
    """The notifications that the advertisement admits: always a single box.

    Every name may be absent, and a name that is not advertised must be.
    """
    box = dict.fromkeys(universe, ABSENT)
    for constraint in constraints_in(advertisement):
        box[constraint.name] |= universe[constraint.name].mask(constraint)
    return box


def _meet(regions: Iterable[Sequence[Box]]) -> list[Box]:
    """The intersection of several unions of boxes."""
    boxes: list[Box] = [{}]
    for others in regions:
        met = (_intersection(box, other) for box, other in product(boxes, others))
        boxes = [box for box in met if box is not None]
    return boxes


def _intersection(box: Box, other: Box) -> Box | None:
    both = dict(box)
    for name, mask in other.items():
        both[name] = both.get(name, mask) & mask
        if not both[name]:
            return None
    return both


def _without(box: Box, removed: Sequence[Box], universe: Universe) -> list[Box]:
    """All that is inside ``box`` and outside what is removed, cut as below."""
    boxes = [box]
    for first in removed:
        boxes = [slab for one in boxes for slab in _slabs(one, first, universe)]
    return boxes


def _slabs(box: Box, first: Box, universe: Universe) -> Iterable[Box]:
    agreeing = dict(box)
    for name, mask in first.items():
        allowed = agreeing.get(name, universe[name].everything)
        if allowed & ~mask:
            yield {**agreeing, name: allowed & ~mask}
        if not allowed & mask:
            return
        agreeing[name] = allowed & mask


def _remainder(box: Box, removed: Sequence[Box], universe: Universe) -> Box | None:
    """A box inside ``box`` and outside all that is removed, or None if none is.

    The part of ``box`` outside the first removed box is cut into disjoint slabs: it
    differs in the first name, or agrees there and differs in the second, and so on.
    """
    if not removed:
        return box
    first, *rest = removed
    agreeing = dict(box)
    for name, mask in first.items():
        allowed = agreeing.get(name, universe[name].everything)
        if allowed & ~mask:
            slab = {**agreeing, name: allowed & ~mask}
            left_over = _remainder(slab, rest, universe)
            if left_over is not None:
                return left_over
        if not allowed & mask:
            return None
        agreeing[name] = allowed & mask
    return None


def _notification(box: Box, universe: Universe) -> dict[str, Value]:
    """The simplest notification in the box: absent where it may be."""
    lowest = {name: (mask & -mask).bit_length() - 1 for name, mask in box.items()}
    return {name: universe[name][bit] for name, bit in lowest.items() if bit}
