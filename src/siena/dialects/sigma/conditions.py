"""The conditions of a Sigma rule, as pySigma resolves them.

Logic is two-valued: what is not true, for whatever reason, is false.  ``a and not b``
is ``a except b``, so that what filters can take away is taken away.
"""

from sigma.conditions import (
    ConditionAND,
    ConditionFieldEqualsValueExpression,
    ConditionNOT,
    ConditionOR,
    ConditionValueExpression,
)

from siena.dialects.sigma.values import NameOf, read_keyword, read_value
from siena.errors import FilterError
from siena.model.expression import TRUE, Expression, Operation, all_of, any_of, call


def read_condition(condition: object, name_of: NameOf) -> Expression:
    """The expression of a condition; ``name_of`` a field is the attribute it is in."""
    match condition:
        case ConditionOR():
            return any_of(read_condition(part, name_of) for part in condition.args)
        case ConditionAND():
            return _conjunction(condition, name_of)
        case ConditionNOT():
            inner = read_condition(condition.args[0], name_of)
            return call(Operation.EXCEPT, TRUE, inner)
        case ConditionFieldEqualsValueExpression():
            return read_value(name_of(condition.field), condition.value, name_of)
        case ConditionValueExpression():
            return read_keyword(condition.value)
        case _:
            raise FilterError("the condition of this rule is empty")


def _conjunction(condition: ConditionAND, name_of: NameOf) -> Expression:
    wanted, unwanted = [], []
    for part in condition.args:
        if isinstance(part, ConditionNOT):
            unwanted.append(read_condition(part.args[0], name_of))
        else:
            wanted.append(read_condition(part, name_of))
    found = all_of(wanted)
    if not unwanted:
        return found
    return call(Operation.EXCEPT, found, any_of(unwanted))
