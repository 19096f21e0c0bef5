"""The papers' own tests: constraint against constraint, one pair at a time.

Sound and quick, and not complete: two constraints on one attribute are never
taken together, so a true covering can be missed.  A missed covering costs
messages and memory, never a notification.  The exact procedures use this table
as their first test; the routers offer it as a mode for comparison.

Reference:
    CU-CS-888-99, sections 3.6 and 3.7, and 5.1 for the cost, ``O(n m)``.
"""

import operator as python
from collections.abc import Callable, Mapping
from typing import Any

from siena.algebra.keys import key_around
from siena.algebra.points import NotShownError
from siena.algebra.sat import sat
from siena.model import Advertisement, Constraint, Filter, Kind, Operator, Predicate
from siena.model.folding import fold
from siena.model.operators import NEGATED, WITHOUT_OPERAND

Rule = Callable[[Any, Any], bool]

# Those that say of a value no more than its kind.
_OF_KINDS = frozenset({Operator.ANY, Operator.OTHER})


def covers_constraint(general: Constraint, specific: Constraint) -> bool:
    """Whether the table shows that ``specific`` implies ``general``, on one attribute.

    >>> from siena.lang.parser import parse_filter as parse
    >>> (prefix,), (order,) = parse("s >* a"), parse("s >= a")
    >>> covers_constraint(order, prefix), covers_constraint(prefix, order)
    (True, False)

    Away from the ends of a domain the table is exact for two single constraints of
    the papers' operators; what it misses there (``s >= ""`` holds of every string) is
    left to ``sat``.
    """
    if general.operator in _OF_KINDS:
        return specific.operator is not Operator.ABSENT and (
            specific.kinds <= general.kinds
        )
    if specific.operator in _OF_KINDS or not general.kind.admits(specific.kind):
        return False
    pair = general.operator, specific.operator
    rule = _RULES.get(pair)
    if rule is None:
        # Of the others only what is said in the same words; `sat` knows more.
        return pair[0] is pair[1] and general.value == specific.value
    wide, narrow = general.value, specific.value
    if specific.kind is Kind.STRING:
        # U+0000 makes the next string.
        low, high = (wide, narrow) if pair == _TOUCHING_ABOVE else (narrow, wide)
        return rule(wide, narrow) or (pair in _TOUCHING and high == f"{low}\0")
    if specific.kind is Kind.NUMBER:
        return rule(wide, narrow)
    return _covers_ordered(general, specific, rule)


def covers_pairwise(general: Filter, specific: Filter) -> bool:
    """Whether every constraint of ``general`` is implied by one of ``specific``."""
    return all(
        any(covers_constraint(c, s) for s in specific.by_name.get(c.name, ()))
        for c in general
    )


def covers_advertisement_pairwise(
    general: Advertisement, specific: Advertisement
) -> bool:
    """Whether every constraint of ``specific`` implies one of ``general``."""
    return all(
        any(covers_constraint(g, c) for g in general.by_name.get(c.name, ()))
        for c in specific
    )


def overlaps_pairwise(
    advertisement: Advertisement, interest: Filter | Predicate
) -> bool:
    """Whether each constraint of a filter, alone, overlaps one of the advertisement.

    Complete and not sound: it may say yes where the constraints of the filter on
    one attribute exclude each other.  That costs a subscription forwarded in vain.
    """
    filters = interest if isinstance(interest, Predicate) else (interest,)
    return any(
        all(
            c.operator is Operator.ABSENT
            or any(_meet(c, a) for a in advertisement.by_name.get(c.name, ()))
            for c in f
        )
        for f in filters
    )


def _meet(one: Constraint, other: Constraint) -> bool:
    try:
        return sat((one, other)) is not None
    except NotShownError:
        return True


def _covers_ordered(general: Constraint, specific: Constraint, rule: Rule) -> bool:
    """The rows for one discrete kind, where a strict bound has a next value."""
    kind = specific.kind
    assert general.value is not None
    assert specific.value is not None
    below, above = key_around(general.value, kind)
    if below != above and general.operator in {Operator.EQ, Operator.NE}:
        # No value of this kind equals the operand, so all of them differ from it.
        return general.operator is Operator.NE
    # `< 3.5` is `< 4` among integers, and `> 3.5` is `> 3`.
    is_from_above = general.operator in {Operator.LT, Operator.GE}
    wide = above if is_from_above else below
    narrow, _ = key_around(specific.value, kind)
    if rule(wide, narrow):
        return True
    pair = general.operator, specific.operator
    step = 1 if pair == _TOUCHING_ABOVE else -1
    return pair in _TOUCHING and narrow == wide + step


def _build_rules() -> dict[tuple[Operator, Operator], Rule]:
    """The table: for each pair of operators, what the two operands must satisfy."""
    eq, ne, lt, le, gt, ge = (
        Operator.EQ,
        Operator.NE,
        Operator.LT,
        Operator.LE,
        Operator.GT,
        Operator.GE,
    )
    prefix, suffix, substring = Operator.PREFIX, Operator.SUFFIX, Operator.SUBSTRING
    found: dict[tuple[Operator, Operator], Rule] = {
        # A single value satisfies whatever it satisfies.
        **{
            (wide, eq): _holds_of(wide)
            for wide in Operator
            if wide not in WITHOUT_OPERAND
        },
        # Ranges within ranges.
        (lt, lt): python.ge,
        (lt, le): python.gt,
        (le, lt): python.ge,
        (le, le): python.ge,
        (gt, gt): python.le,
        (gt, ge): python.lt,
        (ge, gt): python.le,
        (ge, ge): python.le,
        # Everything but one value, and what avoids that value.
        (ne, ne): python.eq,
        (ne, lt): python.ge,
        (ne, le): python.gt,
        (ne, gt): python.le,
        (ne, ge): python.lt,
        (ne, prefix): lambda a, b: not a.startswith(b),
        (ne, suffix): lambda a, b: not a.endswith(b),
        (ne, substring): lambda a, b: b not in a,
        # Strings inside strings.
        (prefix, prefix): lambda a, b: b.startswith(a),
        (suffix, suffix): lambda a, b: b.endswith(a),
        (substring, prefix): lambda a, b: a in b,
        (substring, suffix): lambda a, b: a in b,
        (substring, substring): lambda a, b: a in b,
        # What begins with b lies from b on, and ends before a unless a begins with b.
        (lt, prefix): lambda a, b: b < a and not a.startswith(b),
        (le, prefix): lambda a, b: b < a and not a.startswith(b),
        (gt, prefix): python.lt,
        (ge, prefix): python.le,
        **_negated_rules(),
    }
    return found | _folded_rules(found)


def _negated_rules() -> dict[tuple[Operator, Operator], Rule]:
    """What excludes b excludes what has b, at the beginning, the end or inside."""
    ne, not_prefix = Operator.NE, Operator.NOT_PREFIX
    not_suffix, not_substring = Operator.NOT_SUFFIX, Operator.NOT_SUBSTRING
    return {
        (ne, not_prefix): lambda a, b: a.startswith(b),
        (ne, not_suffix): lambda a, b: a.endswith(b),
        (ne, not_substring): lambda a, b: b in a,
        (not_prefix, not_prefix): lambda a, b: a.startswith(b),
        (not_prefix, not_substring): lambda a, b: b in a,
        (not_suffix, not_suffix): lambda a, b: a.endswith(b),
        (not_suffix, not_substring): lambda a, b: b in a,
        (not_substring, not_substring): lambda a, b: b in a,
        # What begins with b does not begin with a, if neither begins with the other.
        (not_prefix, Operator.PREFIX): lambda a, b: (
            not a.startswith(b) and not b.startswith(a)
        ),
        (not_suffix, Operator.SUFFIX): lambda a, b: (
            not a.endswith(b) and not b.endswith(a)
        ),
    }


def _folded_rules(
    exact: Mapping[tuple[Operator, Operator], Rule],
) -> dict[tuple[Operator, Operator], Rule]:
    """The same between folded strings, and where one side alone ignores case.

    What says that something is there says so of its folded form; and that something is
    not there is said by what says so of its folded form.
    """
    found: dict[tuple[Operator, Operator], Rule] = {}
    for (wide, narrow), rule in exact.items():
        wide_folded, narrow_folded = wide.folded, narrow.folded
        if wide_folded is None or narrow_folded is None:
            continue
        found[wide_folded, narrow_folded] = rule
        if narrow not in NEGATED and narrow is not Operator.EQ:
            found[wide_folded, narrow] = _with_folded(rule, narrow=True)
        if wide in NEGATED:
            found[wide, narrow_folded] = _with_folded(rule, narrow=False)
    return found


def _with_folded(rule: Rule, *, narrow: bool) -> Rule:
    if narrow:
        return lambda a, b: rule(a, fold(b))
    return lambda a, b: rule(fold(a), b)


def _holds_of(wide: Operator) -> Rule:
    return lambda a, b: wide.holds(b, a)


_RULES = _build_rules()
# `<= 3` covers `< 4`, and `>= 4` covers `> 3`, where no value lies between.
_TOUCHING_ABOVE = (Operator.LE, Operator.LT)
_TOUCHING = frozenset({_TOUCHING_ABOVE, (Operator.GE, Operator.GT)})
