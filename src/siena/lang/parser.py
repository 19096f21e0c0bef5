"""From text to filters, predicates, patterns, advertisements and notifications.

Written by hand, because a million filters must be read in well under a minute,
which the parser libraries for Python do not reach.  Printing is ``str(value)``,
and what is printed reads back as an equal value.
"""

import re

from siena.errors import FilterError, SienaError
from siena.lang.fast_path import read_plain
from siena.lang.interests import Alternatives, InterestReader
from siena.lang.lists import ListReader
from siena.lang.notification_form import notification_from_text
from siena.model import Advertisement, Filter, Notification, Pattern, Predicate
from siena.model.expression.residual import ResidualPredicate

_IF = re.compile(r",\s*if\s", re.IGNORECASE)


def parse_filter(text: str) -> Filter:
    """Read one filter: a conjunction of constraints.

    >>> print(parse_filter('class >* "finance/" and exchange = NYSE, change < 0'))
    change < 0 and class >* finance/ and exchange = NYSE
    >>> parse_filter("price < 100 or volume > 3")
    Traceback (most recent call last):
    siena.errors.FilterSyntaxError: column 1: one filter is wanted, and this makes 2
    (parse_predicate reads several)

    Raises:
        FilterSyntaxError: with the place, if the text is not a filter.
        LimitError: with the limit's name, if it is too large for one.
    """
    plain = read_plain(text)
    if plain is not None:
        return Filter(plain)
    reader = InterestReader(text)
    alternatives = reader.pattern(steps_max=1)[0]
    if len(alternatives) != 1:
        message = f"one filter is wanted, and this makes {len(alternatives)}"
        hint = "parse_predicate reads several"
        reader.scanner.fail(message, hint=hint, position=0)
    return Filter(alternatives[0])


def parse_predicate(text: str) -> Predicate:
    """Read a predicate: filters joined by ``or``, with ``not``, ``in``, parentheses.

    >>> print(parse_predicate("not (x > 3 and s starts with ab)"))
    s < ab or s >= ac or x <= 3
    """
    return _predicate(InterestReader(text).pattern(steps_max=1)[0])


def parse_pattern(text: str) -> Pattern:
    """Read a pattern: predicates joined by ``then``.

    >>> len(parse_pattern("what = login then what = alarm or what = alert"))
    2
    """
    return Pattern(map(_predicate, InterestReader(text).pattern()))


def parse_interest(
    text: str, *, residuals: bool = False
) -> Filter | Predicate | Pattern:
    """Read whatever a subscriber may say, as the simplest value that says it.

    >>> for text in ("x > 3", "x in (1, 2)", "x any then y any"):
    ...     parse_interest(text)
    <Filter x > 3>
    <Predicate x = 1 or x = 2>
    <Pattern x any then y any>

    With ``residuals`` a predicate may have one, an expression that has to hold, too;
    this is for those who ask it:

    >>> parse_interest("x any and y any, if x < y", residuals=True)
    <ResidualPredicate x any and y any, if x < y>
    """
    plain = read_plain(text)
    if plain is not None:
        return Filter(plain)
    try:
        steps = [_predicate(step) for step in InterestReader(text).pattern()]
    except FilterError:
        # A name may be "if"; so this is what cannot be read otherwise.
        found = _with_residual(text) if residuals else None
        if found is None:
            raise
        return found
    if len(steps) > 1:
        return Pattern(steps)
    return steps[0].filters[0] if len(steps[0]) == 1 else steps[0]


def _with_residual(text: str) -> Predicate | None:
    """The predicate before ``, if`` with the expression behind it, if there is one."""
    from siena.lang.expression.parser import (  # noqa: PLC0415 -- stands on this module
        parse_expression,
    )

    for joint in _IF.finditer(text):
        try:
            predicate = parse_predicate(text[: joint.start()])
        except FilterError:
            continue  # it stands in quotes
        start = joint.end()
        try:
            residual = parse_expression(text[start:])
        except SienaError as error:
            place = error.place
            error.place = None
            raise error.at(text, start + (place.position if place else 0)) from None
        return ResidualPredicate(predicate.filters, residual)
    return None


def parse_advertisement(text: str) -> Advertisement:
    """Read an advertisement: like a filter, with one or more constraints a name.

    >>> print(parse_advertisement("what in (login, logout), string user any"))
    string user any and what = login and what = logout
    """
    plain = read_plain(text)
    if plain is not None:
        return Advertisement(plain)
    return Advertisement(ListReader(text).advertisement())


def parse_notification(text: str) -> Notification:
    """Read a notification: ``name = value`` pairs, or a JSON object.

    >>> print(parse_notification("what = alarm, level = 5, float load = 1"))
    level = 5 and load = 1.0 and what = alarm
    >>> parse_notification('{"level": 5}') == parse_notification("level = 5")
    True
    """
    if text.lstrip().startswith("{"):
        return notification_from_text(text)
    return ListReader(text).notification()


def _predicate(alternatives: Alternatives) -> Predicate:
    return Predicate(map(Filter, alternatives))
