"""How to draw conditions in SQL's dialects and CloudEvents SQL, as texts.

Names, values and texts are few, so that they meet; conditions stand where values are
expected, too, which most of these languages allow.
"""

from functools import cache
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from siena.model import Value

DIALECTS = ("sql", "amqp", "azure", "cesql")
NAMES = ("a", "b", "subject")
LITERALS = ("0", "1", "2", "'x'", "'1'", "'true'", "TRUE", "FALSE")
_VALUES: SearchStrategy[Value] = st.sampled_from(
    [1, 2, 0, -1, 1.0, 2.5, "x", "1", "true", "", True, False]
)
Events = SearchStrategy[dict[str, Any]]
events: Events = st.dictionaries(st.sampled_from(NAMES), _VALUES)
# Some names have several values, or none.
many_events: Events = st.dictionaries(
    st.sampled_from(NAMES), _VALUES | st.lists(_VALUES, max_size=2).map(tuple)
)

_Texts = SearchStrategy[str]
_FUNCTIONS = (
    *("LENGTH({})", "INT({})", "STRING({})", "BOOL({})", "UPPER({})", "TRIM({})"),
    *("LEFT({}, 1)", "CONCAT({}, 'x')", "ABS({})"),
)


def _filled(forms: tuple[str, ...], *parts: _Texts) -> _Texts:
    """One of the forms, with these parts in its gaps."""
    return st.builds(str.format, st.sampled_from(forms), *parts)


def _computed(dialect: str, inner: _Texts) -> _Texts:
    """Values made of values."""
    found = _filled(tuple(f"({{}} {sign} {{}})" for sign in "+-*/%"), inner, inner)
    if dialect == "cesql":
        found |= _filled(_FUNCTIONS, inner)
    return found


def _tests(dialect: str, values: _Texts, names: _Texts) -> _Texts:
    """Conditions on values."""
    signs = ("=", "<>", "<", "<=", ">", ">=")
    found = _filled(tuple(f"({{}} {sign} {{}})" for sign in signs), values, values)
    members = ("({} IN ({}, {}))", "({} NOT IN ({}, {}))")
    found |= _filled(members, values, values, values)
    patterns = st.sampled_from(["x%", "%", "_", "1"])
    found |= _filled(("({} LIKE '{}')", "({} NOT LIKE '{}')"), values, patterns)
    presence = (
        ("EXISTS {}",) if dialect == "cesql" else ("({} IS NULL)", "({} IS NOT NULL)")
    )
    return found | _filled(presence, names)


@cache
def selectors(dialect: str) -> _Texts:
    """Conditions in a dialect; some of them are refused there."""
    names = st.sampled_from(NAMES)
    leaves = names | st.sampled_from(LITERALS)
    signs = ("AND", "OR", "XOR") if dialect == "cesql" else ("AND", "OR")

    def wider(inner: _Texts) -> _Texts:
        joined = tuple(f"({{}} {sign} {{}})" for sign in signs)
        return (
            _tests(dialect, inner | leaves | _computed(dialect, leaves), names)
            | _filled(joined, inner, inner)
            | _filled(("(NOT {})",), inner)
        )

    conditions = _tests(dialect, leaves | _computed(dialect, leaves), names)
    return st.recursive(conditions, wider, max_leaves=4)
