"""Texts of other languages into our own, whatever filters can say of them."""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import pyarrow as pa

from siena.dialects import read_rule
from siena.errors import SienaError
from siena.lang.expression import parse_expression
from siena.matching.input.filter_texts import read_interest
from siena.model.expression import Call, names_of
from siena.model.expression.operations import ANYWHERE
from siena.model.expression.residual import ResidualPredicate, rule_of
from siena.model.expression.spelling import spell_expression
from siena.model.expression.tree import walk
from siena.rules.several import seen_by_choices

DIALECT = "dialect"
# The language in which filters are written if nothing is said.
OURS = "siena"
# Every batch asks which names there are.
RESIDUALS_REMEMBERED = 16_384


class Translated(NamedTuple):
    """Rows whose filters are in our language, and why some have none."""

    rows: pa.Table
    reasons: dict[int, str]


def in_our_language(
    rows: pa.Table, dialect: str | None, many: frozenset[str] = frozenset()
) -> Translated:
    """The rows, their filters translated from the dialect that each row names.

    >>> rows = pa.table({"filter": ["x > 3", "bid < ask"], "dialect": [None, "sql"]})
    >>> in_our_language(rows, None).rows["filter"].to_pylist()
    ['x > 3', 'ask any and bid any, if bid < ask']

    A row that names none is in the ``dialect`` that is given, or in our own language.
    What filters of single values cannot say of the attributes ``many`` is a residual.
    """
    is_named = DIALECT in rows.schema.names
    if not is_named and dialect in {None, OURS} and not many:
        return Translated(rows, {})
    texts = rows["filter"].to_pylist()
    named = rows[DIALECT].to_pylist() if is_named else [None] * len(texts)
    known: dict[tuple[str, str], str | SienaError] = {}
    reasons: dict[int, str] = {}
    for place, (text, its) in enumerate(zip(texts, named, strict=True)):
        language = str(its or dialect or OURS)
        if text is None or (language == OURS and not many):
            continue
        if (language, text) not in known:
            known[language, text] = _translated(language, text, many)
        found = known[language, text]
        texts[place] = None if isinstance(found, SienaError) else found
        if isinstance(found, SienaError):
            reasons[place] = str(found)
    column = rows.schema.get_field_index("filter")
    translated = rows.set_column(column, "filter", pa.array(texts, pa.large_string()))
    return Translated(translated, reasons)


def _translated(dialect: str, text: str, many: frozenset[str]) -> str | SienaError:
    try:
        if dialect != OURS:
            rule = read_rule(dialect, text, many=many)
        else:
            rule = rule_of(read_interest(text, residuals=True))
        return str(seen_by_choices(rule, many))
    except SienaError as error:
        return error


def residual_of(text: str) -> str | None:
    """The residual of a good text in our language, if it has one.

    >>> residual_of("ask any and bid any, if bid < ask"), residual_of("x > 3")
    ('bid < ask', None)
    """
    if "if" not in text.lower():
        return None
    interest = read_interest(text, residuals=True)
    if isinstance(interest, ResidualPredicate):
        return spell_expression(interest.residual)
    return None


def names_in(residuals: Iterable[str]) -> frozenset[str] | None:
    """The attributes that residuals look at; none if that may be any.

    >>> sorted(names_in(["bid < ask", "length(name) > 3"]))
    ['ask', 'bid', 'name']
    >>> names_in(['anywhere_like("*a*")'])
    """
    found: set[str] = set()
    for residual in residuals:
        names = _names_in(residual)
        if names is None:
            return None
        found |= names
    return frozenset(found)


@lru_cache(RESIDUALS_REMEMBERED)
def _names_in(residual: str) -> frozenset[str] | None:
    expression = parse_expression(residual)
    for node in walk(expression):
        if isinstance(node, Call) and node.operation in ANYWHERE:
            return None
    return names_of(expression)
