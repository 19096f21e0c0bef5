"""Predicates as other languages write them: name by name, and what is excluded.

Filters that differ in one name only are one *product*, in which that name has several
alternatives: ``x = 1 and z = 3 or x = 2 and z = 3`` is ``z = 3`` with two ways for
``x``.  Languages in which a comparison of unlike values is false, and its negation
true, say ``x <> 'a'`` for two alternatives of ours, ``x != a`` and ``not string x
any``: these are told by what they *exclude*.
"""

import math
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from siena.model import Constraint, Filter, Kind, Operator, Predicate
from siena.model.operators import NEGATIONS

# Into how many conjunctions what is excluded may be multiplied out.
EXCLUDED_MAX = 256

Conjunction = tuple[Constraint, ...]
Ways = frozenset[Conjunction]
Product = dict[str, Ways]


class Choice(NamedTuple):
    """What one attribute may be, of a product."""

    name: str
    # Each satisfies the choice.
    alternatives: list[Conjunction]
    # What is excluded of anything that is there: in disjunctive normal form, by kind;
    # None if nothing is told so.
    excluded: dict[Kind, list[Conjunction]] | None

    @property
    def example(self) -> Constraint:
        """One of its constraints, to be shown where it is refused."""
        ways = self.alternatives or [
            w for e in (self.excluded or {}).values() for w in e
        ]
        return ways[0][0]


def products_of(predicate: Predicate) -> list[list[Choice]]:
    """The products of a predicate, of which one must be satisfied.

    >>> from siena.lang.parser import parse_predicate as parse
    >>> for choices in products_of(parse("x = 1 and z = 3 or x = 2 and z = 3")):
    ...     for choice in choices:
    ...         print(choice.name, choice.alternatives)
    x [(<Constraint x = 1>,), (<Constraint x = 2>,)]
    z [(<Constraint z = 3>,)]
    """
    found = list(map(_product_of, predicate))
    names = sorted({name for product in found for name in product})
    count = 0
    while count != len(found):
        count = len(found)
        for name in names:
            found = _joined(found, name)
    ordered = sorted(
        [(name, sorted(ways)) for name, ways in sorted(product.items())]
        for product in found
    )
    return [[_choice(name, ways) for name, ways in product] for product in ordered]


def _product_of(filter_: Filter) -> Product:
    return {name: frozenset([tuple(cs)]) for name, cs in filter_.by_name.items()}


def _joined(products: Iterable[Product], name: str) -> list[Product]:
    """The products, those that differ in this name only being one."""
    ways: dict[frozenset[tuple[str, Ways]], set[Conjunction]] = defaultdict(set)
    others = []
    for product in products:
        if name in product:
            rest = {other: w for other, w in product.items() if other != name}
            ways[frozenset(rest.items())] |= product[name]
        else:
            others.append(product)
    return others + [{**dict(rest), name: frozenset(w)} for rest, w in ways.items()]


def _choice(name: str, left: list[Conjunction]) -> Choice:
    kinds_of = {w: {c.kind for c in w} for w in left}
    for others in left:
        kinds = kinds_of[others]
        if any(c.operator is not Operator.OTHER for c in others) or not all(
            kind in {Kind.STRING, Kind.NUMBER, Kind.BOOLEAN} for kind in kinds
        ):
            continue
        inside: dict[Kind, list[Conjunction]] = {
            kind: [w for w in left if kinds_of[w] == {kind} and _has_values(w)]
            for kind in kinds
        }
        if math.prod(len(w) for ways in inside.values() for w in ways) > EXCLUDED_MAX:
            break  # it is shorter to say what is wanted
        told = [others, *(w for ways_of in inside.values() for w in ways_of)]
        excluded = {kind: _complement(name, kind, w) for kind, w in inside.items()}
        return Choice(name, [w for w in left if w not in told], excluded)
    return Choice(name, left, None)


def _has_values(way: Conjunction) -> bool:
    return all(c.value is not None for c in way)


def _complement(name: str, kind: Kind, ways: list[Conjunction]) -> list[Conjunction]:
    """The values of a kind that satisfy none of the conjunctions."""
    found: list[Conjunction] = [()]
    for way in ways:
        opposite = [
            Constraint(name, NEGATIONS[c.operator], c.value, c.kind) for c in way
        ]
        found = [(*before, c) for before in found for c in opposite]
    return found if ways else [(Constraint(name, Operator.ANY, None, kind),)]
