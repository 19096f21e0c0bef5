"""Writers by name, and the one question that they all ask: whether a rule is exact."""

from collections.abc import Callable
from functools import partial

from siena.dialects.writing.eventbridge import write_eventbridge
from siena.dialects.writing.sql import write_sql
from siena.errors import FilterError
from siena.model import Predicate
from siena.model.expression import Expression, all_of, any_of, spell_expression
from siena.model.expression.rule import Rule


def _write_expression(rule: Rule) -> str:
    said: Expression = any_of(all_of(f.constraints) for f in rule.predicate)
    parts = [said] if rule.residual is None else [said, rule.residual]
    return spell_expression(all_of(parts))


WRITERS: dict[str, Callable[[Predicate], str]] = {
    "siena": str,
    "sql": write_sql,
    "amqp": partial(write_sql, variant="amqp"),
    "azure": partial(write_sql, variant="azure"),
    "eventbridge": write_eventbridge,
    "sns": write_eventbridge,
}


def write_rule(rule: Rule, language: str) -> str:
    """The text of a rule in a language.

    Raises:
        FilterError: if the rule has a residual, which only ``expression`` can say, or
            if the language cannot say its predicate.
    """
    if language == "expression":
        return _write_expression(rule)
    if language not in WRITERS:
        hint = "languages are expression, " + ", ".join(WRITERS)
        raise FilterError(f'"{language[:40]}" is not written', hint=hint)
    if rule.residual is not None:
        raise FilterError(
            f"this rule has a residual, which {language} cannot say",
            hint=f"it is: {spell_expression(rule.residual)[:200]}",
        )
    return WRITERS[language](rule.predicate)
