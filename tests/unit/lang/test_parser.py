"""The parser: what is printed reads back, and everything else is refused well."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import event, example, given

from siena.errors import FilterSyntaxError, LimitError, SienaError
from siena.lang import (
    parse_advertisement,
    parse_filter,
    parse_interest,
    parse_notification,
    parse_pattern,
    parse_predicate,
)
from siena.model import (
    Advertisement,
    Constraint,
    Filter,
    Kind,
    Notification,
    Operator,
    Pattern,
    Predicate,
)
from siena.model.limits import (
    ATTRIBUTES_MAX,
    CONSTRAINTS_MAX,
    FILTERS_MAX,
    NAME_CHARACTERS_MAX,
    NESTING_MAX,
    STEPS_MAX,
    TEXT_CHARACTERS_MAX,
)
from strategies import (
    any_advertisements,
    any_filters,
    any_notifications,
    any_patterns,
    any_predicates,
    texts,
)

PARSERS: list[Callable[[str], object]] = [
    parse_filter,
    parse_predicate,
    parse_pattern,
    parse_interest,
    parse_advertisement,
    parse_notification,
]
every_parser = pytest.mark.parametrize("parse", PARSERS, ids=lambda p: str(p.__name__))


# --- Round trips ------------------------------------------------------------------


@given(any_filters)
@example(Filter())
@example(Filter([Constraint("time", Operator.ANY, None, Kind.TIME)]))
@example(Filter([Constraint("", Operator.EQ, "")]))
@example(Filter([Constraint("x", Operator.EQ, -(2**63))]))
@example(Filter([Constraint("x", Operator.EQ, 5e-324, Kind.FLOAT)]))
@example(Filter([Constraint("x", Operator.EQ, "\ufeff\n")]))  # no byte order mark
def test_a_filter_that_is_printed_reads_back(f: Filter) -> None:
    assert parse_filter(str(f)) == f
    assert parse_interest(str(f)) == f
    assert parse_filter(f"[{f}]") == f
    assert str(parse_filter(str(f))) == str(f)


@given(any_predicates)
@example(Predicate([Filter(), Filter([Constraint("x", Operator.ANY)])]))
def test_a_predicate_that_is_printed_reads_back(predicate: Predicate) -> None:
    assert parse_predicate(str(predicate)) == predicate
    assert parse_predicate(f"({predicate})") == predicate


@given(any_patterns)
def test_a_pattern_that_is_printed_reads_back(pattern: Pattern) -> None:
    assert parse_pattern(str(pattern)) == pattern


@given(any_advertisements)
def test_an_advertisement_that_is_printed_reads_back(
    advertisement: Advertisement,
) -> None:
    assert parse_advertisement(str(advertisement)) == advertisement


@given(any_notifications)
@example(Notification({"x": 1.0, "y": 1, "z": True}))
def test_a_notification_that_is_printed_reads_back(notification: Notification) -> None:
    assert parse_notification(str(notification)) == notification
    if notification:
        assert parse_notification(f"[{notification}]") == notification


# --- Any text ---------------------------------------------------------------------


@every_parser
@given(text=texts)
@example(text='x = "\ud800"')  # half of a character
@example(text="\ud800")
@example(text='x = 1 "a\nb"')  # quotes may hold a line break, messages may not
@example(text='"\n" = 1, "\n" = 2')
@example(text='{"\\n": 1, "\\n": 2}')
@example(text="{" + "[" * 1000)
def test_any_text_is_read_or_refused_with_its_place(
    parse: Callable[[str], object], text: str
) -> None:
    error = refusal(parse, text)
    if error is None:
        event("read")
        return
    event(type(error).__name__)
    assert error.place is not None
    assert error.place.text == text
    assert 0 <= error.place.position <= len(text)
    assert len(str(error).splitlines()) == 1, "an error is one line"
    assert len(error.place.pointer().splitlines()) == 2
    f"{error}{error.place.pointer()}".encode()  # it can be printed


def refusal(parse: Callable[[str], object], text: str) -> SienaError | None:
    try:
        parse(text)
    except SienaError as error:
        return error
    return None


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        *((parse, "(" * TEXT_CHARACTERS_MAX) for parse in PARSERS),
        (parse_interest, "[" * TEXT_CHARACTERS_MAX),
        (parse_interest, "not " * (TEXT_CHARACTERS_MAX // 4)),
        (parse_interest, "x" * TEXT_CHARACTERS_MAX),
        (parse_interest, "x = " + "9" * 1_000_000),
        (parse_interest, 'x = "' + "\\" * 1_000_000),
        (parse_interest, "x" + " " * 1_000_000 + "!"),
        (parse_interest, "x=1," * (TEXT_CHARACTERS_MAX // 4)),
        (parse_interest, "x=1 or " * (TEXT_CHARACTERS_MAX // 7)),
        (parse_interest, "x=1 then " * (TEXT_CHARACTERS_MAX // 9)),
        (parse_interest, "x in (" + "1," * 500_000),
        (parse_advertisement, "x in (" + "1," * 500_000),
        (parse_advertisement, "x=1," * (TEXT_CHARACTERS_MAX // 4)),
        (parse_notification, '{"x":' + "[" * 1_000_000),
        (parse_notification, '{"x":' * 200_000),
        (parse_notification, '{"x":' + "9" * 1_000_000 + "}"),
    ],
    ids=lambda part: part[:8] if isinstance(part, str) else part.__name__,
)
def test_a_hostile_megabyte_is_refused_at_once(
    parse: Callable[[str], object], text: str
) -> None:
    started = time.process_time()
    error = refusal(parse, text)
    assert error is not None
    assert error.place is not None
    assert len(str(error)) < 200
    # Long before the end of the text: what is too much is refused where it is.
    assert time.process_time() - started < 1


# --- What is said -----------------------------------------------------------------

GOLDEN = Path(__file__).parent / "parse_errors.txt"


def golden_errors() -> Iterator[tuple[Callable[[str], object], str, str]]:
    parsers = {str(parse.__name__): parse for parse in PARSERS}
    parse: Callable[[str], object] = parse_filter
    text = ""
    for line in GOLDEN.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            parse = parsers["parse_" + line.removeprefix("## ")]
        elif line.startswith("    "):
            yield parse, text, line.strip()
        elif not line.startswith("# "):
            text = line


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    list(golden_errors()),
    ids=lambda part: part[:30] if isinstance(part, str) else part.__name__,
)
def test_an_error_says_what_was_found_and_what_to_write(
    parse: Callable[[str], object], text: str, message: str
) -> None:
    assert str(refusal(parse, text)) == message


def test_the_empty_text_is_told_how_to_write_the_empty_filter() -> None:
    for text in ("", " \n"):
        with pytest.raises(FilterSyntaxError, match="found the end") as caught:
            parse_filter(text)
        assert caught.value.hint == "write [] for the empty filter"


# --- Limits -----------------------------------------------------------------------


def many(part: str, joint: str, count: int) -> str:
    return joint.join(part.format(n) for n in range(count))


@pytest.mark.parametrize(
    ("parse", "text", "limit"),
    [
        (parse_filter, " " * (TEXT_CHARACTERS_MAX + 1), "TEXT_CHARACTERS_MAX"),
        (parse_notification, "{" + " " * TEXT_CHARACTERS_MAX, "TEXT_CHARACTERS_MAX"),
        (parse_filter, "x" * (NAME_CHARACTERS_MAX + 1) + " any", "NAME_CHARACTERS_MAX"),
        (parse_predicate, "(" * (NESTING_MAX + 1), "NESTING_MAX"),
        (parse_predicate, "not " * (NESTING_MAX + 1), "NESTING_MAX"),
        (parse_filter, many("x{}=1", ",", CONSTRAINTS_MAX + 1), "CONSTRAINTS_MAX"),
        (parse_predicate, many("x{}=1", ",", CONSTRAINTS_MAX + 1), "CONSTRAINTS_MAX"),
        (
            parse_advertisement,
            f"x in ({many('{}', ',', CONSTRAINTS_MAX + 1)})",
            "CONSTRAINTS_MAX",
        ),
        (
            parse_predicate,
            f"x not in ({many('{}', ',', CONSTRAINTS_MAX + 1)})",
            "CONSTRAINTS_MAX",
        ),
        (parse_predicate, many("x={}", " or ", FILTERS_MAX + 1), "FILTERS_MAX"),
        (parse_predicate, f"x in ({many('{}', ',', FILTERS_MAX + 1)})", "FILTERS_MAX"),
        (parse_pattern, many("x={}", " then ", STEPS_MAX + 1), "STEPS_MAX"),
        (parse_interest, many("x={}", " then ", STEPS_MAX + 1), "STEPS_MAX"),
        (parse_notification, many("x{}=1", ",", ATTRIBUTES_MAX + 1), "ATTRIBUTES_MAX"),
        (
            parse_notification,
            "{" + many('"x{}":1', ",", ATTRIBUTES_MAX + 1) + "}",
            "ATTRIBUTES_MAX",
        ),
        # Eleven choices of two make 2048 filters; a thousand make too many to count.
        (parse_predicate, many("(x{0}=1 or y{0}=1)", ",", 11), "FILTERS_MAX"),
        (
            parse_predicate,
            f"not ({many('x{0}=1 and y{0}=1', ' or ', 1000)})",
            "FILTERS_MAX",
        ),
        # Each alternative is short enough, and the product of the longest is not.
        (
            parse_predicate,
            f"({many('a{}=1', ',', 200)} or c=1) and ({many('b{}=1', ',', 99)} or c=1)",
            "CONSTRAINTS_MAX",
        ),
    ],
)
def test_a_limit_is_named_with_the_place(
    parse: Callable[[str], object], text: str, limit: str
) -> None:
    with pytest.raises(LimitError) as caught:
        parse(text)
    assert caught.value.limit == limit
    assert limit in str(caught.value)
    assert caught.value.place is not None


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (parse_filter, "[]" + " " * (TEXT_CHARACTERS_MAX - 2)),
        (parse_filter, "x" * NAME_CHARACTERS_MAX + " any"),
        (parse_predicate, "(" * NESTING_MAX + "x any" + ")" * NESTING_MAX),
        (parse_filter, many("x{}=1", ",", CONSTRAINTS_MAX)),
        (parse_predicate, many("x={}", " or ", FILTERS_MAX)),
        (parse_predicate, many("(x{0}=1 or y{0}=1)", ",", 10)),
        (parse_pattern, many("x={}", " then ", STEPS_MAX)),
        (parse_notification, many("x{}=1", ",", ATTRIBUTES_MAX)),
    ],
)
def test_what_just_reaches_a_limit_is_read(
    parse: Callable[[str], object], text: str
) -> None:
    parse(text)


# --- One fact each ----------------------------------------------------------------


def test_a_filter_is_one_conjunction() -> None:
    with pytest.raises(FilterSyntaxError, match="this makes 2"):
        parse_filter("x = 1 or x = 2")
    assert parse_filter("(x = 1) and ([y = 2])") == parse_filter("x = 1, y = 2")
    assert parse_filter("not (x > 3 or y > 3)") == parse_filter("x <= 3, y <= 3")


def test_an_interest_is_the_simplest_value_that_says_it() -> None:
    assert isinstance(parse_interest("x = 1"), Filter)
    assert isinstance(parse_interest("x in (1)"), Filter)
    assert isinstance(parse_interest("x = 1 or x = 1"), Filter)
    assert isinstance(parse_interest("x = 1 or x = 2"), Predicate)
    assert isinstance(parse_interest("x = 1 then x = 2"), Pattern)


def test_a_comma_binds_tighter_than_or_and_then_is_the_weakest() -> None:
    parsed = parse_pattern("a any, b any or c any then d any or e any")
    assert [len(step) for step in parsed] == [2, 2]
    assert str(parsed) == "a any and b any or c any then d any or e any"


@pytest.mark.parametrize(
    ("forgiving", "strict"),
    [
        ("x=1", "x = 1"),
        ("  x\n=\t1  ", "x = 1"),
        ("x = 1 AND y = 2", "x = 1 and y = 2"),
        ("[x = 1, y = 2]", "x = 1 and y = 2"),
        ("x Exists", "x any"),
        ("s STARTS WITH ab", "s >* ab"),
        ("s ends with ab", "s *< ab"),
        ("s contains ab", "s * ab"),
        ("Integer x = 1", "integer x = 1"),
        ("x = +5", "x = 5"),
        ("x = -0.0", "x = 0.0"),
        ("x = .5", "x = 0.5"),
        ("x = 1e3", "x = 1000.0"),
        ("'x' = 'it''", None),
        ("s = 'single \"quotes\"'", 's = "single \\"quotes\\""'),
        ("time = 3", '"time" = 3'),
        ("time any", '"time" any'),
        ("time time any", 'time "time" any'),
        ("string in (a)", '"string" = a'),
        ('s >* ""', "string s any"),
        ("float x = 3", "float x = 3.0"),
        ("x not in (1, 2)", "x != 1 and x != 2"),
        ("x = true", "x = TRUE"),
    ],
)
def test_the_language_forgives(forgiving: str, strict: str | None) -> None:
    if strict is None:
        with pytest.raises(FilterSyntaxError):
            parse_filter(forgiving)
    else:
        assert parse_filter(forgiving) == parse_filter(strict)


@pytest.mark.parametrize(
    "text",
    [
        "x = brand y = 2",  # not: x = br and y = 2
        "x = a-and y = 2",
        "x = 1and y = 2",
        "x anyand y = 1",
        "x = 1 y = 2",
        "x = 007",
        "x = 1.2.3",
        "x = 2026-11-31",
        "x = nan",
        "x = and",
        "x == 1",
        "x =",
        "x",
        "",
        "x any any",
        "number x = a",
    ],
)
@pytest.mark.parametrize("parse", [parse_filter, parse_predicate, parse_interest])
def test_what_is_not_in_the_language_is_refused_by_every_reader(
    parse: Callable[[str], object], text: str
) -> None:
    with pytest.raises(SienaError):
        parse(text)


def test_a_notification_names_each_attribute_once() -> None:
    for text in ("x = 1, x = 2", "x = 1 and x = 1", '{"x": 1, "x": 1}'):
        with pytest.raises(SienaError, match='"x"') as caught:
            parse_notification(text)
        assert caught.value.place is not None


def test_a_notification_is_text_or_json() -> None:
    text = parse_notification("what = alarm, float load = 1, at = 1998-03-04T18:43:37Z")
    form = parse_notification(
        ' {"what": "alarm", "load": 1.0, "at": {"time": "1998-03-04T11:43:37-07:00"}}'
    )
    assert text == form
    assert parse_notification("{}") == parse_notification("[]") == Notification()
