"""Expressions: what filters cannot say, evaluated on one notification.

A filter compares one attribute with one value.  An expression may compute: compare two
attributes, cut and join strings, ask a regular expression or a network of addresses.
It is the *residual* of a rule (:mod:`siena.model.expression.rule`), evaluated only on
what the rule's covering predicate lets through.

From the ground up: ``operations`` → ``tree`` → ``spelling``; ``regular``, ``networks``,
``numbers``, ``strings`` → ``cloudevents`` → ``functions`` → ``alternatives`` →
``evaluation``; ``residual`` has them behind filters.  Text and
JSON are read in :mod:`siena.lang.expression.parser`.

Every expression is a boolean, a string, a number or a time, or it is *unknown*: an
attribute that is absent is unknown, and so is what is computed from it.  ``and``,
``or`` and ``not`` are those of SQL.  An operation that a dialect calls an error reports
a *failure* as well; what failed does not hold, whatever its value.
"""

from siena.model.expression.cloudevents import Failure
from siena.model.expression.evaluation import compile_expression, holds
from siena.model.expression.operations import Operation
from siena.model.expression.spelling import spell_expression
from siena.model.expression.tree import (
    FALSE,
    TRUE,
    Attribute,
    Call,
    Expression,
    Literal,
    all_of,
    any_of,
    call,
    names_of,
)

__all__ = [
    "FALSE",
    "TRUE",
    "Attribute",
    "Call",
    "Expression",
    "Failure",
    "Literal",
    "Operation",
    "all_of",
    "any_of",
    "call",
    "compile_expression",
    "holds",
    "names_of",
    "spell_expression",
]
