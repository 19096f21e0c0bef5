"""The JSON forms of expressions and rules.

===============  ==============================================================
literal          a string, a number, a boolean, or ``{"time": "…"}``
attribute        ``{"attribute": "level"}``
constraint       ``{"name": "level", "operator": ">", "value": 3}``, as in filters
call             ``{"length": [argument]}``, ``{"+": [argument, argument]}``
rule             the form of its predicate or, with a residual,
                 ``{"where": predicate, "if": expression}``
===============  ==============================================================
"""

from siena.errors import InvalidFormError
from siena.lang.interest_form import interest_from_json, interest_to_json
from siena.lang.json_text import Json
from siena.lang.notification_form import value_from_json, value_to_json
from siena.model import Constraint, Filter, Pattern, Predicate
from siena.model.expression import Attribute, Call, Expression, Literal, Operation, call
from siena.model.expression.rule import Rule
from siena.model.limits import EXPRESSION_DEPTH_MAX

_OPERATIONS = {operation.value: operation for operation in Operation}
_HINT = 'forms are a value, {"attribute": …}, a constraint, {"operation": [arguments]}'


def expression_to_json(expression: Expression) -> Json:
    """The form of an expression.

    >>> from siena.lang.expression.parser import parse_expression
    >>> expression_to_json(parse_expression("length(name) > 3"))
    {'>': [{'length': [{'attribute': 'name'}]}, 3]}
    """
    match expression:
        case Literal(value):
            return value_to_json(value)
        case Attribute(name):
            return {"attribute": name}
        case Constraint():
            forms = interest_to_json(Filter([expression]))
            assert isinstance(forms, list)
            return forms[0]
        case Call(operation, arguments):
            return {operation.value: [expression_to_json(a) for a in arguments]}


def expression_from_json(form: Json) -> Expression:
    """The expression of a form."""
    return _from_json(form, EXPRESSION_DEPTH_MAX)


def rule_to_json(rule: Rule) -> Json:
    """The form of a rule."""
    predicate = interest_to_json(rule.predicate)
    if rule.residual is None:
        return predicate
    return {"where": predicate, "if": expression_to_json(rule.residual)}


def rule_from_json(form: Json) -> Rule:
    """The rule of a form.

    >>> print(rule_from_json({"where": "name any", "if": {"=": ["a", "b"]}}))
    name any, if "a" = "b"
    """
    residual = None
    if isinstance(form, dict) and form.keys() == {"where", "if"}:
        residual = expression_from_json(form["if"])
        form = form["where"]
    interest = interest_from_json(form)
    if isinstance(interest, Pattern):
        raise InvalidFormError(
            "a rule is about one notification, and this is a pattern"
        )
    if isinstance(interest, Filter):
        interest = Predicate([interest])
    return Rule(interest, residual)


def _from_json(form: Json, depth: int) -> Expression:
    if isinstance(form, dict):
        if depth == 0:
            raise InvalidFormError(
                f"more than {EXPRESSION_DEPTH_MAX} levels in an expression",
                hint="limit EXPRESSION_DEPTH_MAX",
            )
        if "operator" in form:
            interest = interest_from_json([form])
            assert isinstance(interest, Filter)
            return interest.constraints[0]
        if len(form) == 1:
            return _from_pair(*next(iter(form.items())), depth)
    if form is None or isinstance(form, (list, dict)):
        raise InvalidFormError("this is not the form of an expression", hint=_HINT)
    return Literal(value_from_json(form))


def _from_pair(word: str, form: Json, depth: int) -> Expression:
    if word == "attribute" and isinstance(form, str):
        return Attribute(form)
    if word == "time":
        return Literal(value_from_json({word: form}))
    if word in _OPERATIONS and isinstance(form, list):
        return call(_OPERATIONS[word], *(_from_json(part, depth - 1) for part in form))
    raise InvalidFormError(f'"{word[:40]}" is not an operation', hint=_HINT)
