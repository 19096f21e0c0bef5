"""Text and JSON ⇄ expressions and rules.

``tokens`` → ``climbing`` → ``parser``; ``form``.  Printing is
:func:`siena.model.expression.spell_expression`.
"""

from siena.lang.expression.form import (
    expression_from_json,
    expression_to_json,
    rule_from_json,
    rule_to_json,
)
from siena.lang.expression.parser import parse_expression

__all__ = [
    "expression_from_json",
    "expression_to_json",
    "parse_expression",
    "rule_from_json",
    "rule_to_json",
]
