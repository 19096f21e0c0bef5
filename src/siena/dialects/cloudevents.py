"""The filters of CloudEvents subscriptions: exact, prefix, suffix, all, any, not, sql.

A subscription has a list of filters, all of which must hold; one may stand alone, and
an empty list is true.
Logic is two-valued: a filter on an attribute that is absent does not hold, and ``not``
of it does.

Reference:
    CloudEvents Subscriptions API 1.0, sections 3.2.1 ("filters") and 3.2.4.
"""

from collections.abc import Callable

from siena.dialects.cesql.reader import read_cesql_filter
from siena.dialects.cesql.types import STRING_ATTRIBUTES, Type, attribute, cast
from siena.dialects.json_places import placed
from siena.errors import FilterError, LimitError, Place, SienaError
from siena.lang.json_text import Json, read_json
from siena.model import Constraint, Operator
from siena.model.expression import (
    TRUE,
    Expression,
    Literal,
    Operation,
    all_of,
    any_of,
    call,
)
from siena.model.limits import NESTING_MAX
from siena.model.wildcards import escape

Path = tuple[str | int, ...]


class _FormError(FilterError):
    """Something wrong in a filter, and the way to it."""

    def __init__(self, message: str, path: Path, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.path = path


def read_cloudevents(text: str) -> Expression:
    """The expression of the filters of a subscription, as JSON.

    >>> from siena.dialects.factoring import factor
    >>> filters = '[{"prefix": {"type": "com."}}, {"not": {"exact": {"subject": "a"}}}]'
    >>> print(factor(read_cloudevents(filters)))
    subject != a and type >* com. or subject absent and type >* com. or
    not string subject any and type >* com.
    """
    try:
        form = read_json(text)
        if isinstance(form, list):
            # Without a filter there is nothing that could be false.
            return _all(form, ()) if form else TRUE
        return _filter(form, ())
    except _FormError as error:
        raise placed(error, text, error.path) from None
    except SienaError as error:
        raise error.at(text, 0) from None


def _filter(form: Json, path: Path) -> Expression:
    if len(path) > 2 * NESTING_MAX:
        raise LimitError("NESTING_MAX", NESTING_MAX, "filters inside each other")
    if not isinstance(form, dict) or len(form) != 1:
        raise _FormError("a filter is an object with one key, its dialect", path)
    ((dialect, inner),) = form.items()
    if dialect not in _DIALECTS:
        hint = "dialects are " + ", ".join(_DIALECTS)
        message = f'"{dialect[:40]}" is not a dialect of filters'
        raise _FormError(message, (*path, dialect), hint=hint)
    return _DIALECTS[dialect](inner, (*path, dialect))


def _compared(
    operator: Operator, pattern: Callable[[str], str]
) -> Callable[[Json, Path], Expression]:
    def read(form: Json, path: Path) -> Expression:
        if not isinstance(form, dict) or not form:
            raise _FormError("attributes and the texts they are compared with", path)
        return all_of(
            _attribute(name, value, (*path, name), operator, pattern)
            for name, value in form.items()
        )

    return read


def _attribute(
    name: str,
    value: Json,
    path: Path,
    operator: Operator,
    pattern: Callable[[str], str],
) -> Expression:
    if not isinstance(value, str) or not value or not name:
        raise _FormError("an attribute is compared with a text that is not empty", path)
    if name in STRING_ATTRIBUTES:
        return Constraint(name, operator, value)
    # An extension may be a number or a boolean, and is compared as it is written.
    text = cast(attribute(name), Type.STRING)
    if operator is Operator.EQ:
        return call(Operation.HOLDS, call(Operation.EQ, text, Literal(value)))
    return call(Operation.HOLDS, call(Operation.LIKE, text, Literal(pattern(value))))


def _parts(form: Json, path: Path) -> list[Expression]:
    if not isinstance(form, list) or not form:
        raise _FormError("a list of filters, at least one", path)
    return [_filter(part, (*path, i)) for i, part in enumerate(form)]


def _all(form: Json, path: Path) -> Expression:
    return all_of(_parts(form, path))


def _any(form: Json, path: Path) -> Expression:
    return any_of(_parts(form, path))


def _not(form: Json, path: Path) -> Expression:
    return call(Operation.EXCEPT, TRUE, _filter(form, path))


def _sql(form: Json, path: Path) -> Expression:
    if not isinstance(form, str):
        raise _FormError("sql is followed by a text", path)
    try:
        return call(Operation.HOLDS, read_cesql_filter(form))
    except SienaError as error:
        # The caret shows the place inside the SQL, which has one column less to count.
        error.place = error.place or Place(form, 0)
        raise


_DIALECTS: dict[str, Callable[[Json, Path], Expression]] = {
    "exact": _compared(Operator.EQ, escape),
    "prefix": _compared(Operator.PREFIX, lambda text: escape(text) + "*"),
    "suffix": _compared(Operator.SUFFIX, lambda text: "*" + escape(text)),
    "all": _all,
    "any": _any,
    "not": _not,
    "sql": _sql,
}
