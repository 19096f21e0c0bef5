"""The conformance kit, and the one place where its tests meet the product.

The cases are data, in ``conformance/*.json``; each test module runs one area of
them.  What a case calls ``left`` or ``notification`` is text, and becomes a value
here; everything the tests ask of the product is imported from here.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import pytest

from compound_form import compound_from_json
from repository import ROOT
from siena import (
    parse_advertisement,
    parse_filter,
    parse_interest,
    parse_notification,
    parse_pattern,
    parse_predicate,
)
from siena.algebra import merging
from siena.algebra.covering import advertisement_counterexample, covers_advertisement
from siena.algebra.merging import merge_imperfect
from siena.algebra.overlap import common_notification, overlaps
from siena.algebra.pairwise import (
    covers_advertisement_pairwise,
    covers_pairwise,
    overlaps_pairwise,
)
from siena.algebra.poset.poset import Poset
from siena.algebra.relations import counterexample, covers, equivalent
from siena.algebra.sat import sat, satisfiable, witness
from siena.algebra.text.strings import Cylinder, decompose
from siena.errors import LimitError, SienaError
from siena.lang import (
    advertisement_from_json,
    advertisement_to_json,
    interest_from_json,
    interest_to_json,
    notification_from_json,
    notification_to_json,
)
from siena.lang.addressing import channel, multicast, subject, unicast
from siena.lang.json_text import Json, read_json
from siena.matching.compound import CompoundMatcher
from siena.matching.matcher import Matcher
from siena.matching.pattern import PatternMatcher
from siena.matching.reference import ReferenceMatcher
from siena.matching.table import ForwardingTable
from siena.model import (
    Advertisement,
    Constraint,
    Filter,
    Notification,
    Pattern,
    Predicate,
)
from siena.model.compound import Compound
from siena.research.matchers.counting import CountingMatcher
from siena.research.matchers.link_matching import LinkMatcher
from siena.research.matchers.poset_matcher import PosetMatcher
from siena.research.matchers.tree import TreeMatcher
from subnets import next_hops, reduce_table

__all__ = [
    "ADDRESSING",
    "FOLDER",
    "MATCHERS",
    "READERS",
    "Advertisement",
    "Case",
    "CompoundMatcher",
    "Constraint",
    "Cylinder",
    "Filter",
    "LimitError",
    "LinkMatcher",
    "Matcher",
    "Notification",
    "Pattern",
    "PatternMatcher",
    "Poset",
    "Predicate",
    "SienaError",
    "TreeMatcher",
    "advertisement_counterexample",
    "areas",
    "case_of",
    "common_notification",
    "counterexample",
    "counting_of",
    "covers",
    "covers_advertisement",
    "covers_advertisement_pairwise",
    "covers_pairwise",
    "decompose",
    "each",
    "equivalent",
    "load",
    "merge_imperfect",
    "merge_perfect",
    "new_poset",
    "next_hops",
    "overlaps",
    "overlaps_pairwise",
    "parse_advertisement",
    "parse_compound",
    "parse_constraint",
    "parse_filter",
    "parse_interest",
    "parse_notification",
    "parse_pattern",
    "parse_predicate",
    "read_form",
    "reduce_table",
    "sat",
    "satisfiable",
    "witness",
    "write_form",
]

FOLDER = ROOT / "conformance"

# Fields differ from relation to relation; each file describes its own.
Case = dict[str, Any]

READERS: dict[str, Callable[[str], object]] = {
    "filter": parse_filter,
    "predicate": parse_predicate,
    "pattern": parse_pattern,
    "advertisement": parse_advertisement,
    "notification": parse_notification,
}

ADDRESSING: dict[str, Callable[[Any], Filter]] = {
    "channel": channel,
    "subject": subject,
    "unicast": unicast,
    "multicast": multicast,
}

MATCHERS: dict[str, Callable[[], Matcher]] = {
    "engine": ForwardingTable,
    "counting": CountingMatcher,
    "tree": TreeMatcher,
    "links": LinkMatcher,
    "poset": PosetMatcher,
    "reference": ReferenceMatcher,
}


def areas() -> list[str]:
    """The names of the kit's files, without their ending."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


def load(area: str) -> Case:
    """One file of the kit, as it stands there."""
    contents: Case = json.loads((FOLDER / f"{area}.json").read_text(encoding="ascii"))
    return contents


def case_of(area: str, name: str) -> Case:
    """One case of a file, by its id."""
    (found,) = (case for case in load(area)["cases"] if case["id"] == name)
    return dict(found)


def each(
    area: str | tuple[str, ...],
    *relations: str,
    where: Callable[[Case], bool] = lambda _case: True,
) -> pytest.MarkDecorator:
    """Run a test once per case of the relations; ``-k T_A39`` finds T-A39."""
    chosen = [
        case
        for name in (area if isinstance(area, tuple) else (area,))
        for case in load(name)["cases"]
        if case["relation"] in relations and where(case)
    ]
    # A misspelt relation would otherwise be a test that never runs.
    assert chosen, f"{area}.json has no such case of {relations}"
    return pytest.mark.parametrize(
        "case", [pytest.param(case, id=case["id"].replace("-", "_")) for case in chosen]
    )


def parse_constraint(text: str) -> Constraint:
    """The only constraint of a filter."""
    (constraint,) = parse_filter(text).constraints
    return constraint


def parse_compound(text: str) -> Compound:
    """A compound, of which only a JSON form exists."""
    return compound_from_json(read_json(text))


def new_poset() -> Poset[Filter]:
    """An empty poset of filters, in the reading of subscriptions."""
    return Poset.of_filters()


def counting_of(table: Mapping[int, Iterable[Filter]]) -> CountingMatcher:
    """The papers' own matcher, with the filters of each interface."""
    matcher = CountingMatcher()
    for interface, filters in table.items():
        for filter_ in filters:
            matcher.add(interface, filter_)
    return matcher


def merge_perfect(filters: Iterable[Filter]) -> list[Filter]:
    """The filters of a perfect merge, without what each was made of."""
    return [merge.filter for merge in merging.merge_perfect(filters)]


def read_form(form: str, text: str) -> object:
    """The value of a JSON text that is the form of something."""
    value = read_json(text)
    match form:
        case "notification":
            return notification_from_json(value)
        case "advertisement":
            return advertisement_from_json(value)
        case _:
            return interest_from_json(value)


def write_form(form: str, value: Any) -> Json:  # noqa: ANN401 -- as `form` says
    """The JSON form of a value."""
    match form:
        case "notification":
            return notification_to_json(value)
        case "advertisement":
            return advertisement_to_json(value)
        case _:
            return interest_to_json(value)
