"""Files of subscriptions: who wants what, a line each."""

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from siena.errors import InvalidFormError, SienaError
from siena.lang.interest_form import interest_from_json
from siena.lang.json_text import Json, read_json
from siena.model import Filter, Pattern, Predicate


class Subscription(NamedTuple):
    """A subscriber and an interest; one subscriber may have many."""

    subscriber: str
    interest: Filter | Predicate


def read_subscriptions(path: Path) -> Iterator[Subscription]:
    """The subscriptions of a file: CSV with a header, or a JSON object on each line.

    Both have a ``subscriber`` and a ``filter``; the filter is text, or in JSON also the
    JSON form of one.  A line that cannot be read is an error with its number: a
    subscription that is lost in silence would never be missed.
    """
    text = path.read_text(encoding="utf-8-sig")
    rows = _csv_rows(text) if path.suffix.lower() == ".csv" else _json_rows(text)
    for number, row in rows:
        try:
            yield _subscription(row if isinstance(row, dict) else read_json(row))
        except SienaError as error:
            raise SienaError(f"{path}, line {number}: {error}") from None


def _csv_rows(text: str) -> Iterator[tuple[int, dict[str, Json] | str]]:
    reader = csv.DictReader(io.StringIO(text))
    for row in reader:
        yield reader.line_num, {name: row[name] for name in row if name is not None}


def _json_rows(text: str) -> Iterator[tuple[int, dict[str, Json] | str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            yield number, line


def _subscription(row: Json) -> Subscription:
    if not isinstance(row, dict):
        raise InvalidFormError("a subscription is an object")
    subscriber, wanted = row.get("subscriber"), row.get("filter")
    if not isinstance(subscriber, (str, int)) or isinstance(subscriber, bool):
        raise InvalidFormError('a subscription needs a "subscriber"')
    if wanted is None:
        raise InvalidFormError('a subscription needs a "filter"')
    interest = interest_from_json(wanted)
    if isinstance(interest, Pattern):
        raise InvalidFormError("a pattern cannot be a filter here")
    return Subscription(str(subscriber), interest)
