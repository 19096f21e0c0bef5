"""The JSON forms of compound interests.

=========  ==================================================================
either     ``{"either": [part, part, …]}``
then       ``{"then": [part, part, …]}``
both       ``{"both": [part, part, …]}``, with ``"same_occurrence_allowed": true``
           where one notification may play a part on both sides
part       one of these, or the form of a filter, predicate or pattern
           (:mod:`siena.lang.interest_form`), which may be a text
=========  ==================================================================

Compounds have two sides.  A longer list is read from the left, so that ``[a, b, c]``
is ``[[a, b], c]``; what is written always has two parts.  A pattern is read as the
chain of ``then`` that finds the same.
"""

from collections.abc import Callable, Iterable
from functools import partial, reduce

from siena.errors import InvalidFormError, LimitError
from siena.lang.interest_form import interest_from_json, interest_to_json
from siena.lang.json_text import Json
from siena.model import Pattern
from siena.model.compound import PARTS_MAX, Both, Compound, Either, Part, Then

_SWITCH = "same_occurrence_allowed"
_HINT = 'forms are {"either": [parts]}, {"both": [parts]}, {"then": [parts]}'


def compound_to_json(compound: Compound) -> Json:
    """The form of a compound.

    >>> from siena.lang.parser import parse_filter as parse
    >>> compound_to_json(Either(parse("x any"), parse("[]")))
    {'either': [[{'name': 'x', 'operator': 'any'}], []]}
    """
    sides: Json = [_part_to_json(compound.left), _part_to_json(compound.right)]
    match compound:
        case Either():
            return {"either": sides}
        case Then():
            return {"then": sides}
        case Both(same_occurrence_allowed=True):
            return {"both": sides, _SWITCH: True}
        case Both():
            return {"both": sides}


def compound_from_json(form: Json) -> Compound:
    """The compound of a form.

    >>> both = compound_from_json({"both": ["x > 3", "y > 3"]})
    >>> both.left, both.right, both.same_occurrence_allowed
    (<Filter x > 3>, <Filter y > 3>, False)
    """
    part = _part_from_json(form, depth=0)
    if isinstance(part, Compound):
        return part
    raise InvalidFormError("this is not the form of a compound", hint=_HINT)


def _part_to_json(part: Part) -> Json:
    return (
        compound_to_json(part) if isinstance(part, Compound) else interest_to_json(part)
    )


def _part_from_json(form: Json, depth: int) -> Part:
    if not isinstance(form, dict) or "or" in form or "except" in form:
        interest = interest_from_json(form)
        return _chain(interest) if isinstance(interest, Pattern) else interest
    if depth == PARTS_MAX:
        # Every level has a part of its own beside the next one.
        raise LimitError("PARTS_MAX", PARTS_MAX, "parts in a compound")
    join, forms = _read_operator(form)
    if not isinstance(forms, list) or len(forms) < 2:
        raise InvalidFormError("a compound has two parts or more", hint=_HINT)
    return _fold(join, (_part_from_json(part, depth + 1) for part in forms))


def _read_operator(
    form: dict[str, Json],
) -> tuple[Callable[[Part, Part], Compound], Json]:
    """What joins the parts, and the parts."""
    if form.keys() == {"either"}:
        return Either, form["either"]
    if form.keys() == {"then"}:
        return Then, form["then"]
    shares = form.get(_SWITCH, False)
    if form.keys() - {_SWITCH} == {"both"} and isinstance(shares, bool):
        return partial(Both, same_occurrence_allowed=shares), form["both"]
    raise InvalidFormError("this is not the form of a compound", hint=_HINT)


def _fold(join: Callable[[Part, Part], Compound], parts: Iterable[Part]) -> Part:
    return reduce(join, parts)


def _chain(pattern: Pattern) -> Part:
    steps = (step.filters[0] if len(step) == 1 else step for step in pattern)
    return _fold(Then, steps)
