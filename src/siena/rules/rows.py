"""Entries from rows: CSV, a JSON object a line, and rows that a table hands over."""

import csv
import io
from collections.abc import Iterable, Iterator, Mapping

from siena.errors import InvalidFormError, SienaError
from siena.lang.json_text import read_json
from siena.rules.entry import COLUMNS, RuleEntry, SetAside

_YES = {"true", "1", "yes", "on", ""}
_NO = {"false", "0", "no", "off"}


def entry_of(
    row: Mapping[str, object], *, dialect: str = "siena", place: str = ""
) -> RuleEntry:
    """The entry of a row with the columns of rules; what is not there has a default.

    >>> entry_of({"id": 7, "text": "x = 1", "severity": "high", "enabled": "no"})
    RuleEntry(id='7', text='x = 1', dialect='siena', severity='high', enabled=False,
              version='', title='', place='')
    """
    text = row.get("text")
    if not isinstance(text, str) or not text.strip():
        raise InvalidFormError('a rule needs a "text"')
    return RuleEntry(
        id=_word(row, "id"),
        text=text,
        dialect=_word(row, "dialect") or dialect,
        severity=_word(row, "severity"),
        enabled=_is_enabled(row.get("enabled")),
        version=_word(row, "version"),
        title=_word(row, "title"),
        place=place,
    )


def entries_of(
    rows: Iterable[Mapping[str, object]], *, dialect: str = "siena", place: str = "row"
) -> Iterator[RuleEntry | SetAside]:
    """The entries of rows; what is no rule is put aside with its number, from 1."""
    for number, row in enumerate(rows, start=1):
        yield _entry(row, dialect, f"{place} {number}")


def csv_entries(
    text: str, *, dialect: str = "siena", place: str = "line"
) -> Iterator[RuleEntry | SetAside]:
    """The entries of CSV with a header.

    Raises:
        InvalidFormError: if the header lacks a column that every rule needs.
    """
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if not {"id", "text"} <= set(reader.fieldnames or ()):
        hint = f"the columns of rules are {', '.join(COLUMNS)}"
        raise InvalidFormError('the columns "id" and "text" are wanted', hint=hint)
    try:
        for row in reader:
            at = f"{place} {reader.line_num}"
            if None in row:
                reason = (
                    "there are more columns than names; a text with commas stands "
                    "in quotes"
                )
                yield SetAside(at, reason)
            else:
                yield _entry(row, dialect, at)
    except csv.Error as error:  # a field that is far too long, in the line that follows
        yield SetAside(f"{place} {reader.line_num + 1}", str(error))


def json_entries(
    text: str, *, dialect: str = "siena", place: str = "line"
) -> Iterator[RuleEntry | SetAside]:
    """The entries of JSON objects, one on each line."""
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            row = read_json(line)
        except SienaError as error:
            yield SetAside(f"{place} {number}", str(error))
            continue
        if isinstance(row, dict):
            yield _entry(row, dialect, f"{place} {number}")
        else:
            yield SetAside(f"{place} {number}", "a rule is a JSON object")


def _entry(row: Mapping[str, object], dialect: str, place: str) -> RuleEntry | SetAside:
    try:
        return entry_of(row, dialect=dialect, place=place)
    except SienaError as error:
        return SetAside(place, str(error), str(row.get("id") or "")[:100])


def _word(row: Mapping[str, object], column: str) -> str:
    value = row.get(column)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise InvalidFormError(f'the "{column}" of a rule is a text')
    return str(value).strip()


def _is_enabled(value: object) -> bool:
    if value is None or isinstance(value, bool):
        return value is not False
    word = str(value).strip().lower()
    if word not in _YES | _NO:
        raise InvalidFormError(f'"{word[:40]}" is neither true nor false')
    return word in _YES
