"""Event patterns: objects of fields, each with a list of what its value may be.

All fields must match.  ``"$or"`` is followed by objects of which one must match; it is
the name of a field where it is not a list of two objects or more, or where one of them
has a field that is called like a way to match.  A field that is named twice on the way
to an alternative counts where it was named last, as their own matcher has it.
"""

from siena.dialects.aws.conditions import RESERVED, EntryError, read_entries
from siena.dialects.json_places import placed
from siena.errors import InvalidFormError, LimitError, SienaError
from siena.lang.json_text import Json, read_json
from siena.model.expression import Expression, all_of, any_of
from siena.model.limits import ARGUMENTS_MAX, NESTING_MAX

OR = "$or"
Fields = dict[str, Expression]


def read_eventbridge(text: str) -> Expression:
    """The expression of an event pattern of EventBridge.

    >>> from siena.dialects.factoring import factor
    >>> pattern = '{"detail": {"state": ["on", {"prefix": "of"}]}}'
    >>> print(factor(read_eventbridge(pattern)))
    detail.state = on or detail.state >* of

    A name is the path to it, with dots between.
    """
    return _read(text, "an event pattern")


def read_sns(text: str) -> Expression:
    """The expression of a filter policy of SNS: the same language, of attributes."""
    return _read(text, "a filter policy")


def _read(text: str, what: str) -> Expression:
    try:
        form = read_json(text)
        if not isinstance(form, dict):
            raise InvalidFormError(f"{what} is a JSON object")
        alternatives = _Pattern().object([{}], (), form)
    except EntryError as error:
        raise placed(error, text, error.path) from None
    except SienaError as error:
        raise error.at(text, 0) from None
    return any_of(all_of(fields.values()) for fields in alternatives)


class _Pattern:
    """The walk over a pattern, which keeps the alternatives of ``$or`` apart."""

    def __init__(self) -> None:
        self.depth = 0
        # How many `$or` the walk is inside of.
        self.ors = 0

    def object(
        self, found: list[Fields], path: tuple[str | int, ...], form: dict[str, Json]
    ) -> list[Fields]:
        """The alternatives with the fields of an object added to each."""
        if not form:
            raise EntryError("an empty object matches nothing", *path)
        if self.depth == NESTING_MAX:
            raise LimitError("NESTING_MAX", NESTING_MAX, "objects inside each other")
        self.depth += 1
        for key, value in form.items():
            if self.ors and key in RESERVED:
                message = f'no field inside {OR} is called "{key}"'
                raise EntryError(message, *path, key)
            if key == OR and _is_or(value):
                assert isinstance(value, list)
                found = self.alternatives(found, (*path, key), value)
            elif isinstance(value, dict):
                found = self.object(found, (*path, key), value)
            elif isinstance(value, list):
                found = self.field(found, (*path, key), value)
            else:
                message = f'"{key[:40]}" is followed by a list or an object'
                raise EntryError(message, *path, key)
        self.depth -= 1
        return found

    def field(
        self, found: list[Fields], path: tuple[str | int, ...], entries: list[Json]
    ) -> list[Fields]:
        name = _name(path)
        try:
            condition = read_entries(name, entries)
        except EntryError as error:
            error.path = (*path, *error.path)
            raise
        return [{**fields, name: condition} for fields in found]

    def alternatives(
        self, found: list[Fields], path: tuple[str | int, ...], forms: list[Json]
    ) -> list[Fields]:
        if len(found) * len(forms) > ARGUMENTS_MAX:
            what = "alternatives of $or, multiplied out"
            raise LimitError("ARGUMENTS_MAX", ARGUMENTS_MAX, what)
        self.ors += 1
        alternatives = [
            fields
            for i, form in enumerate(forms)
            if isinstance(form, dict)
            for fields in self.object(found, (*path, i), form)
        ]
        self.ors -= 1
        return alternatives


def _name(path: tuple[str | int, ...]) -> str:
    """The steps that are names: not ``$or`` before the number of an alternative."""
    behind = (*path[1:], "")
    return ".".join(
        step
        for step, following in zip(path, behind, strict=True)
        if isinstance(step, str) and not isinstance(following, int)
    )


def _is_or(value: Json) -> bool:
    return (
        isinstance(value, list)
        and len(value) >= 2
        and all(isinstance(each, dict) and not RESERVED & each.keys() for each in value)
    )
