"""What filters ask of a table, and what they ask in vain.

A filter on what a table cannot have is no error: others may ask for it elsewhere.  But
it matches nothing, and its author would like to know.
"""

import difflib
import itertools
import warnings
from collections.abc import Collection, Mapping

from siena.model import Kind
from siena.spark.batch.attributes import Attribute

# Names that a warning spells out.
NAMES_SHOWN_MAX = 5
_PLURALS = {Kind.STRING: "strings", Kind.NUMBER: "numbers", Kind.TIME: "times"}
_REMEDIES = {
    Kind.STRING: "cast them; spark.read.csv(…, header=True, inferSchema=True) does",
    Kind.NUMBER: "cast one or the other; in a filter, what is in quotes is a string",
    Kind.TIME: "in a filter, a time is written as 2026-11-15T00:00:00Z",
}


class MissingAttributesWarning(UserWarning):
    """Filters name attributes that the notifications cannot have."""


class MismatchedKindsWarning(UserWarning):
    """Filters compare a column with what it never holds, and so match nothing."""


def wanted_of(
    attributes: dict[str, Attribute], asked: Mapping[str, frozenset[Kind]] | None
) -> list[Attribute]:
    """The attributes that filters name; warnings say what cannot match anything."""
    if asked is None:
        return [attribute for attribute in attributes.values() if attribute.means]
    missing = [name for name in asked if name not in attributes]
    if missing:
        warnings.warn(
            "filters name attributes that the notifications lack: "
            + _shown([_with_near_miss(name, attributes) for name in missing]),
            MissingAttributesWarning,
            stacklevel=4,
        )
    wanted = [attributes[name] for name in asked if name in attributes]
    for column, value in itertools.permutations(_PLURALS, 2):
        found = [a.name for a in wanted if _never(a, asked[a.name], column, value)]
        if found:
            warnings.warn(
                f"filters compare {_shown(found)} with {_PLURALS[value]}, but "
                f"{'these columns hold' if len(found) > 1 else 'the column holds'} "
                f"{_PLURALS[column]}, and such filters match nothing"
                f" ({_REMEDIES[column]})",
                MismatchedKindsWarning,
                stacklevel=4,
            )
    return wanted


def _with_near_miss(name: str, attributes: Collection[str]) -> str:
    """The name, and what may have been meant by it."""
    near = difflib.get_close_matches(name, attributes, n=1, cutoff=0.75)
    return f"{name} ({near[0]}?)" if near else name


def _never(
    attribute: Attribute, asked: frozenset[Kind], column: Kind, value: Kind
) -> bool:
    """Whether a column of one kind is compared with values of another, in vain.

    One subscriber among many may well ask for something odd.  But files without types
    make strings of everything, and then it is no oddity.
    """
    if attribute.kind is not column or value not in asked:
        return False
    return column is Kind.STRING or column not in asked


def _shown(names: list[str]) -> str:
    more = len(names) - NAMES_SHOWN_MAX
    rest = f" and {more} more" if more > 0 else ""
    return ", ".join(names[:NAMES_SHOWN_MAX]) + rest
