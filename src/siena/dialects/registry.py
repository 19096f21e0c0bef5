"""Dialects by name: the one place that knows them all.

A dialect is loaded when it is asked for, because one of them needs a package that is
not always there.
"""

from collections.abc import Callable, Mapping
from functools import partial

from siena.dialects.aws import read_eventbridge, read_sns
from siena.dialects.cesql import read_cesql_filter
from siena.dialects.cloudevents import read_cloudevents
from siena.dialects.factoring import factor
from siena.dialects.sql import read_sql
from siena.errors import FilterError
from siena.extras import how_to_get
from siena.lang.expression import parse_expression
from siena.lang.parser import parse_predicate
from siena.model.expression import Expression, all_of, any_of
from siena.model.expression.rule import Rule


def _read_siena(text: str) -> Expression:
    return any_of(all_of(f.constraints) for f in parse_predicate(text))


def _read_sigma(
    text: str,
    logsource: str = "attributes",
    fields: Mapping[str, str] | None = None,
    pipeline: str | None = None,
) -> Expression:
    try:
        from siena.dialects.sigma.reader import (  # noqa: PLC0415 -- an extra
            SigmaSettings,
            read_pipeline,
            read_sigma,
        )
    except ImportError:
        raise _no_sigma() from None
    found = None if pipeline is None else read_pipeline(pipeline)
    return read_sigma(text, SigmaSettings(fields or {}, logsource, found))


def check_pipeline(text: str) -> None:
    """Refuse what is no processing pipeline of pySigma's.

    Raises:
        FilterError: if it is none.
    """
    try:
        from siena.dialects.sigma.reader import (  # noqa: PLC0415 -- an extra
            read_pipeline,
        )
    except ImportError:
        raise _no_sigma() from None
    read_pipeline(text)


def _no_sigma() -> FilterError:
    hint = how_to_get("sigma")
    return FilterError("Sigma rules need the package pysigma", hint=hint)


DIALECTS: dict[str, Callable[[str], Expression]] = {
    "siena": _read_siena,
    "expression": parse_expression,
    "cesql": read_cesql_filter,
    "cloudevents": read_cloudevents,
    "sql": partial(read_sql, variant="sql"),
    "amqp": partial(read_sql, variant="amqp"),
    "azure": partial(read_sql, variant="azure"),
    "eventbridge": read_eventbridge,
    "sns": read_sns,
    "sigma": _read_sigma,
}


def read_expression(
    dialect: str,
    text: str,
    *,
    logsource: str = "attributes",
    fields: Mapping[str, str] | None = None,
    pipeline: str | None = None,
) -> Expression:
    """The expression of a text in a dialect.

    ``logsource``, ``fields``, the attributes of fields that are called otherwise, and
    ``pipeline``, one of pySigma's in YAML, matter to Sigma's only.

    Raises:
        FilterError: with the place, if the text is not in the dialect, or says what is
            not read.
        LimitError: with the limit's name, if it is too large.
    """
    if dialect not in DIALECTS:
        hint = "dialects are " + ", ".join(DIALECTS)
        raise FilterError(f'"{dialect[:40]}" is not a dialect', hint=hint)
    if dialect == "sigma":
        return _read_sigma(text, logsource, fields, pipeline)
    return DIALECTS[dialect](text)


def read_rule(
    dialect: str,
    text: str,
    *,
    many: frozenset[str] = frozenset(),
    logsource: str = "attributes",
    fields: Mapping[str, str] | None = None,
    pipeline: str | None = None,
) -> Rule:
    """The rule of a text in a dialect; ``many`` are the multi-valued attributes.

    >>> rule = read_rule("sql", "quantity * price > 1000 AND side = 'sell'")
    >>> print(rule.predicate)
    number price any and number quantity any and side = sell
    >>> rule.is_exact
    False
    """
    expression = read_expression(
        dialect, text, logsource=logsource, fields=fields, pipeline=pipeline
    )
    return factor(expression, many=many)
