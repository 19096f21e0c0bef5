"""What texts mean, which are refused, and that what is printed can be read back."""

import json
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from conformance.kit import (
    READERS,
    Case,
    Filter,
    LimitError,
    Predicate,
    SienaError,
    areas,
    each,
    load,
    parse_filter,
    parse_interest,
    parse_predicate,
    read_form,
    write_form,
)
from conformance.scripts import AREAS as SCRIPTED

LANGUAGE = ("language", "closed-language")
JSON = ("forms", "closed-forms")


@each(LANGUAGE, "means")
def test_two_texts_mean_the_same(case: Case) -> None:
    read = READERS[case["form"]]
    assert read(case["text"]) == read(case["same_as"])
    assert hash(read(case["text"])) == hash(read(case["same_as"]))


@each("language", "differs")
def test_two_texts_differ(case: Case) -> None:
    read = READERS[case["form"]]
    assert read(case["text"]) != read(case["from"])


@each(LANGUAGE, "normalises")
def test_a_predicate_becomes_these_filters(case: Case) -> None:
    predicate = parse_predicate(case["text"])
    assert isinstance(predicate, Predicate)
    assert set(predicate) == {parse_filter(text) for text in case["filters"]}


@each(LANGUAGE, "normalises")
def test_an_interest_is_as_narrow_as_it_can_be(case: Case) -> None:
    interest = parse_interest(case["text"])
    assert isinstance(interest, Filter if len(case["filters"]) == 1 else Predicate)


@each(LANGUAGE, "refused")
def test_a_text_is_refused(case: Case) -> None:
    text = case["text"] if "text" in case else case["repeat"] * case["times"]
    error_type = LimitError if case.get("error") == "limit" else SienaError
    with pytest.raises(error_type) as caught:
        READERS[case["form"]](text)
    message = str(caught.value).lower()
    assert "\n" not in message
    for word in case.get("mentions", []):
        assert word.lower() in message


# --- JSON -------------------------------------------------------------------------


@each(JSON, "written-as")
def test_a_form_and_a_text_mean_the_same(case: Case) -> None:
    value = READERS[case["form"]](case["text"])
    assert read_form(case["form"], case["json"]) == value
    # Through text, because Python finds [1] and [1.0] and [true] equal.
    written = json.dumps(write_form(case["form"], value), sort_keys=True)
    assert written == json.dumps(json.loads(case["json"]), sort_keys=True)


@each(JSON, "refused")
def test_a_form_is_refused(case: Case) -> None:
    with pytest.raises(SienaError):
        read_form(case["form"], case["json"])


# --- Round trip -------------------------------------------------------------------

# Where a file has texts of the language, and of which form; `x/y` is y inside x.
SCRIPT = {
    "steps/subscribe": "pattern",
    "steps/unsubscribe": "pattern",
    "steps/advertise": "advertisement",
    "steps/unadvertise": "advertisement",
    "steps/publish": "notification",
}
FORMS: dict[str, dict[str, str]] = {
    **dict.fromkeys(SCRIPTED, SCRIPT),
    "cbcb": {"steps/want": "predicate", "steps/publish": "notification"},
    "addressing": {
        "same_as": "filter",
        "matches": "notification",
        "differs": "notification",
    },
    "admits": {"left": "advertisement", "notification": "notification"},
    "covers": {"left": "filter", "right": "filter", "witness": "notification"},
    "covers-advertisement": {
        "left": "advertisement",
        "right": "advertisement",
        "witness": "notification",
    },
    **{
        f"dialect-{name}": {"matches": "notification", "misses": "notification"}
        for name in ("sql", "cesql", "cloudevents", "sigma")
    },
    "forwarding": {"notification": "notification"},
    "matches": {"left": "predicate", "notification": "notification"},
    "merging": {"filters": "filter", "merged": "filter", "admits": "notification"},
    "overlaps": {"left": "advertisement", "right": "filter", "witness": "notification"},
    "pairwise": {"left": "filter", "right": "filter"},
    "patterns": {"pattern": "pattern", "inputs/notification": "notification"},
    "poset": {"filters": "filter", "matches/notification": "notification"},
    "predicates": {
        "left": "predicate",
        "right": "predicate",
        "witness": "notification",
    },
    "routing-table": {"table/filter": "filter", "routes/notification": "notification"},
    "satisfiable": {"left": "filter", "witness": "notification"},
    "strings": {
        "positive": "filter",
        "negative": "filter",
        "witness": "notification",
    },
    "unsubscription": {
        "subscriptions": "pattern",
        "unsubscribe": "pattern",
        "delivered": "notification",
        "not_delivered": "notification",
    },
}


def texts_of(area: str) -> Iterator[tuple[str, str]]:
    """The texts of one file, each with its form."""
    for case in load(area)["cases"]:
        for path, form in FORMS[area].items():
            field, _, inner = path.partition("/")
            found = case.get(field, [])
            for item in found if isinstance(found, list) else [found]:
                if not inner:
                    yield form, item
                elif inner in item:
                    yield form, item[inner]


def language_texts(area: str) -> Iterator[tuple[str, str]]:
    """The texts of language.json that are not refused, each with its form."""
    for case in load(area)["cases"]:
        if case["relation"] != "refused":
            form = case.get("form", "predicate")
            yield form, case["text"]
            yield from ((form, case[key]) for key in ("same_as", "from") if key in case)
            yield from (("filter", text) for text in case.get("filters", []))


def form_texts(area: str) -> Iterator[tuple[str, str]]:
    """The texts of forms.json, each with its form."""
    for case in load(area)["cases"]:
        if "text" in case:
            yield case["form"], case["text"]


def tree_texts() -> Iterator[tuple[str, str]]:
    """The subscriptions of search-tree.json."""
    for case in load("search-tree")["cases"]:
        if case["relation"] in {"searches", "saves"}:
            some = case["subscriptions"]
            texts = some.values() if isinstance(some, dict) else some
            yield from (("filter", text) for text in texts)


def link_texts() -> Iterator[tuple[str, str]]:
    """The subscriptions of link-matching.json."""
    for case in load("link-matching")["cases"]:
        if case["relation"] == "annotates":
            yield from (("filter", text) for _, text in case["subscriptions"])
        if case["relation"] == "chooses-links":
            for texts in case["subscriptions"].values():
                yield from (("filter", text) for text in texts)


def index_texts() -> Iterator[tuple[str, str]]:
    """The constraints of string-index.json."""
    yield from (("filter", t) for t in load("string-index")["constraints"].values())


# Files whose texts are not where FORMS could say.
READ: dict[str, Callable[[], Iterator[tuple[str, str]]]] = {
    **{area: partial(language_texts, area) for area in LANGUAGE},
    **{area: partial(form_texts, area) for area in JSON},
    "link-matching": link_texts,
    "search-tree": tree_texts,
    "string-index": index_texts,
}


# Files without any text of the language.
WITHOUT = {
    *("dialect-eventbridge", "dialect-sns", "disjunction", "scenarios", "schemes"),
}


@pytest.mark.parametrize("area", sorted({*areas()} - WITHOUT))
def test_what_is_printed_is_read_back(area: str) -> None:
    texts = set(READ[area]() if area in READ else texts_of(area))
    assert texts
    changed = [
        (form, text)
        for form, text in sorted(texts)
        if not survives(READERS[form], text)
    ]
    assert changed == []


def survives(read: Callable[[str], object], text: str) -> bool:
    """Whether a text, read and printed, is read back as the same value."""
    value = read(text)
    return read(str(value)) == value and str(read(str(value))) == str(value)
