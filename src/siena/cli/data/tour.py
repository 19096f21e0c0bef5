"""``siena tour``: the language and its algebra, on the papers' own examples."""

import os
import shutil
import sys
from collections.abc import Iterable, Iterator

from rich.console import Console
from rich.table import Table
from rich.text import Text

from siena.algebra.merging import excess, merge_imperfect, merge_perfect
from siena.algebra.poset.poset import Poset
from siena.algebra.relations import decide_covers, decide_overlaps
from siena.lang import (
    parse_advertisement,
    parse_filter,
    parse_interest,
    parse_notification,
    parse_pattern,
    parse_predicate,
)
from siena.matching.pattern import PatternMatcher
from siena.model import Filter

QUOTE = (
    'class = "finance/exchanges/stock", date = 1998-03-04T18:43:37Z, exchange = NYSE, '
    "symbol = DIS, prior = 105.25, float change = -4, earn = 2.04"
)

# One line for each operator, and one for each thing that surprises people.
OPERATORS = (
    ("symbol = DIS", "equal"),
    ("exchange != NASDAQ", "not equal, and present"),
    ("change < 0", "less; an untyped number is about integers and floats"),
    ("integer change < 0", "a type is exact: the change is a float"),
    ("earn <= 2.04", "less or equal"),
    ("prior > 100", "greater"),
    ("date >= 1998-03-04T00:00:00Z", "times, too"),
    ('class >* "finance/"', "starts with"),
    ('class *< "/stock"', "ends with"),
    ("class contains exchanges", "contains; words stand for symbols"),
    ("earn any", "present, whatever it is"),
    ("volume != 3", "absent: no constraint holds, not even !="),
    ("symbol in (DIS, MSFT) and not prior < 100", "in, not, and, or, parentheses"),
)

COVERS = (
    ("airline any", "airline = UA"),
    ("price < 500", "price < 300 and airline = UA"),
    ("integer level = 4", "integer level > 3 and integer level < 5"),
    ("level = 4", "level > 3 and level < 5"),
    ('s <= "az"', 's >* "a"'),
    ('s >* "ab"', 's >= "abc" and s <= "abd"'),
    ("x < 5 or x >= 5", "number x any"),
    ("x < 5 or x > 5", "number x any"),
)

OVERLAPS = (
    ("what in (alarm, login), string user any", "what = login and user >* adm"),
    ("integer x = 3, integer x = 7", "x > 3 and x < 5"),
)

TICKS = (
    "symbol = NSCP, change = 1",
    "symbol = MSFT, change = 2",
    "symbol = MSFT, change = 3",
    "symbol = NSCP, change = 4",
)


def tour() -> None:
    """Show the language and its algebra on the papers' own examples.

    \b
    Example:
      siena tour
    """  # noqa: D301 -- Typer needs the backspace itself
    console = Console(highlight=False)
    for title, table in (
        ("A notification, and every operator applied to it", _operators()),
        ("Covering is exact: every no comes with a witness", _covers()),
        ("An advertisement overlaps what its publisher could satisfy", _overlaps()),
        ("Many filters, few roots: what a broker tells its neighbours", _poset()),
        ("Merging, perfect and imperfect", _merges()),
        ("A pattern: MSFT rises, then NSCP rises", _pattern()),
    ):
        console.print(f"\n[bold]{title}[/bold]")
        console.print(table)
    command = "siena" if shutil.which("siena") else os.path.relpath(sys.argv[0])
    question = "explain covers 'price < 500' 'price < 300'"
    console.print(f"\nAsk your own:  {command} {question}")


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 2), header_style="dim")
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _rows(table: Table, rows: Iterable[tuple[str | Text, ...]]) -> Table:
    for row in rows:
        # As text: brackets are part of the language, not of Rich's markup.
        table.add_row(*(Text(c) if isinstance(c, str) else c for c in row))
    return table


def _answer(*, holds: bool) -> Text:
    return Text("yes", "green") if holds else Text("no", "red")


def _operators() -> Table:
    quote = parse_notification(QUOTE)
    table = _table("filter", "matches", "")
    table.title = f"{quote}"
    table.title_justify = "left"
    table.title_style = "cyan"
    return _rows(
        table,
        (
            (text, _answer(holds=parse_predicate(text).matches(quote)), note)
            for text, note in OPERATORS
        ),
    )


def _covers() -> Table:
    def rows() -> Iterator[tuple[str | Text, ...]]:
        for general, specific in COVERS:
            verdict = decide_covers(parse_interest(general), parse_interest(specific))
            witness = str(verdict.witness) if verdict.witness is not None else ""
            yield general, specific, _answer(holds=verdict.holds), witness

    table = _table("general", "specific", "covers", "only the specific one selects")
    return _rows(table, rows())


def _overlaps() -> Table:
    def rows() -> Iterator[tuple[str | Text, ...]]:
        for advertised, wanted in OVERLAPS:
            verdict = decide_overlaps(
                parse_advertisement(advertised), parse_filter(wanted)
            )
            witness = str(verdict.witness) if verdict.witness is not None else ""
            yield advertised, wanted, _answer(holds=verdict.holds), witness

    return _rows(_table("advertisement", "filter", "overlaps", "in common"), rows())


def _poset() -> Table:
    poset = Poset.of_filters()
    for text in (
        "airline = UA and dest = DEN",
        "airline any",
        "airline = UA",
        "price < 500",
        "airline = UA and price < 500",
        "airline = UA and dest = DEN and price < 300",
    ):
        poset.add(parse_filter(text))

    def rows() -> Iterator[tuple[str | Text, ...]]:
        for f in sorted(poset, key=lambda f: (f not in poset.roots, len(f), str(f))):
            below = ";  ".join(sorted(map(str, poset.successors(f))))
            yield "root" if f in poset.roots else "", str(f), below

    return _rows(_table("", "filter", "covers directly"), rows())


def _merges() -> Table:
    alarms = [parse_filter(f"integer alarm {rest}") for rest in ("= 1", "> 2", "= 2")]
    sides = [parse_filter("x > 200"), parse_filter("x < 100")]
    (perfect,) = merge_perfect(alarms)
    imperfect = merge_imperfect(sides)
    let_in = excess(imperfect, sides, ({"x": x} for x in range(400)))

    def joined(filters: Iterable[Filter]) -> str:
        return ";  ".join(map(str, filters))

    share = f"lets in {let_in.share:.0%} of x = 0 … 399, such as {let_in.example}"
    return _rows(
        _table("filters", "one filter instead", ""),
        (
            (joined(alarms), str(perfect.filter), "the same notifications"),
            (joined(sides), str(imperfect), share),
        ),
    )


def _pattern() -> Table:
    matcher = PatternMatcher(
        parse_pattern("symbol = MSFT and change > 0 then symbol = NSCP and change > 0")
    )

    def rows() -> Iterator[tuple[str | Text, ...]]:
        for time, text in enumerate(TICKS, start=1):
            sequence = matcher.offer(parse_notification(text), time)
            found = "  then  ".join(map(str, sequence)) if sequence else ""
            yield str(time), text, found

    return _rows(
        _table("time", "notification", "the sequence that is reported"), rows()
    )
