"""Files of subscriptions: who wants what, a line each."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from siena.client.interests import as_interest
from siena.errors import InvalidFormError, SienaError
from siena.lang.interest_form import interest_from_json
from siena.lang.json_text import Json, read_json
from siena.model import Filter, Pattern, Predicate
from siena.model.expression.residual import interest_of, rule_of
from siena.rules.several import seen_by_choices


class Subscription(NamedTuple):
    """A subscriber and an interest; one subscriber may have many."""

    subscriber: str
    interest: Filter | Predicate


def read_subscriptions(
    path: Path, dialect: str | None = None, many: frozenset[str] = frozenset()
) -> Iterator[Subscription]:
    """The subscriptions of a file: CSV with a header, or a JSON object on each line.

    Texts are in the ``dialect``, or in the one that a line names as ``dialect``; the
    attributes ``many`` may have several values.

    Both have a ``subscriber`` and a ``filter``; the filter is text, or in JSON also the
    JSON form of one.  A line that cannot be read is an error with its number: a
    subscription that is lost in silence would never be missed.
    """
    text = _text_of(path)
    rows = _csv_rows(path, text) if _is_csv(path, text) else _json_rows(text)
    for number, row in rows:
        try:
            form = row if isinstance(row, dict) else read_json(row)
            yield _subscription(form, dialect, many)
        except SienaError as error:
            raise _at(path, number, str(error)) from None


def _at(path: Path, line: int, what: str) -> SienaError:
    return SienaError(f"{path}, line {line}: {what}")


# A comma means "and" in a filter, and the next column in a line of CSV.
COMMAS = "there are more columns than names; a filter with commas stands in quotes"


def _text_of(path: Path) -> str:
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise _at(path, line, "this is not UTF-8") from None


def _is_csv(path: Path, text: str) -> bool:
    """What the name says, or else the first character: a pipe has no name."""
    if path.suffix.lower() in {".csv", ".json", ".jsonl", ".ndjson"}:
        return path.suffix.lower() == ".csv"
    return not text.lstrip().startswith(("{", "["))


def _csv_rows(path: Path, text: str) -> Iterator[tuple[int, dict[str, Json] | str]]:
    reader = csv.DictReader(io.StringIO(text, newline=""))
    try:
        if not {"subscriber", "filter"} <= set(reader.fieldnames or ()):
            raise _at(path, 1, 'the columns "subscriber" and "filter" are wanted')
        for row in reader:
            # What is behind the last column is found under no name.
            if None in row:
                raise _at(path, reader.line_num, COMMAS)
            yield reader.line_num, dict(row)
    except csv.Error as error:  # a field that is far too long, in the line that follows
        raise _at(path, reader.line_num + 1, str(error)) from None


def _json_rows(text: str) -> Iterator[tuple[int, dict[str, Json] | str]]:
    # Not splitlines: a string may contain what else Unicode takes for the end of one.
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield number, line


def _subscription(row: Json, dialect: str | None, many: frozenset[str]) -> Subscription:
    if not isinstance(row, dict):
        raise InvalidFormError("a subscription is an object")
    subscriber, wanted = row.get("subscriber"), row.get("filter")
    if not isinstance(subscriber, (str, int)) or isinstance(subscriber, bool):
        raise InvalidFormError('a subscription needs a "subscriber"')
    if subscriber == "":
        raise InvalidFormError("a subscriber has a name")
    if wanted is None:
        raise InvalidFormError('a subscription needs a "filter"')
    dialect = str(row.get("dialect") or dialect or "")
    if dialect:
        if not isinstance(wanted, str):
            raise InvalidFormError("a filter in a dialect is a text")
        interest = as_interest(wanted, dialect, many=many)
    else:
        interest = interest_from_json(wanted)
    if isinstance(interest, Pattern):
        raise InvalidFormError("a pattern cannot be a filter here")
    if many:
        interest = interest_of(seen_by_choices(rule_of(interest), many))
    return Subscription(str(subscriber), interest)
