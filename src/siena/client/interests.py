"""What may be asked for: text in the language, or values; all else is refused here."""

from collections.abc import Collection

from siena.errors import InvalidFormError, SienaError
from siena.lang.parser import parse_advertisement, parse_interest
from siena.model import Advertisement, Filter, Pattern, Predicate
from siena.model.expression.residual import ResidualPredicate, interest_of
from siena.protocol.handshake import RESIDUAL

Wanted = str | Filter | Predicate | Pattern
"""An interest, in the words of the language or as a value."""


def as_interest(
    wanted: Wanted,
    dialect: str | None = None,
    features: Collection[str] = (RESIDUAL,),
    many: frozenset[str] = frozenset(),
) -> Filter | Predicate | Pattern:
    """The interest that is meant; a text in another language, if that is named.

    ``features`` are the broker's: one that knows no residuals is not asked for any.
    ``many`` are attributes that may have several values, if a dialect is named.

    >>> as_interest("x > 3")
    <Filter x > 3>
    >>> as_interest("x BETWEEN 3 AND 5", "sql")
    <Predicate x <= 5 and x >= 3>
    >>> as_interest(None)
    Traceback (most recent call last):
    siena.errors.InvalidFormError: an interest is a text, a Filter, a Predicate or a
    Pattern, and not a NoneType ("[]" is everything)

    Raises:
        SienaError: if it is none.
    """
    interest = _read(wanted, dialect, many)
    if isinstance(interest, ResidualPredicate) and RESIDUAL not in features:
        raise SienaError(
            "this broker knows no residuals, and filters cannot say all of this",
            hint=f"a wider filter: {interest.cover}",
        )
    return interest


def _read(
    wanted: Wanted, dialect: str | None, many: frozenset[str]
) -> Filter | Predicate | Pattern:
    if dialect is not None:
        if not isinstance(wanted, str):
            raise InvalidFormError("a dialect is the language of a text")
        from siena.dialects import read_rule  # noqa: PLC0415 -- seldom asked for

        return interest_of(read_rule(dialect, wanted, many=many))
    if isinstance(wanted, str):
        return parse_interest(wanted, residuals=True)
    if isinstance(wanted, (Filter, Predicate, Pattern)):
        return wanted
    raise InvalidFormError(
        "an interest is a text, a Filter, a Predicate or a Pattern, and not a "
        f"{type(wanted).__name__}",
        hint='"[]" is everything',
    )


def as_pattern(wanted: Wanted) -> Pattern:
    """The pattern that is meant; what is none is its only step.

    >>> as_pattern("x = 1 then x = 2")
    <Pattern x = 1 then x = 2>
    >>> len(as_pattern("x = 1").steps)
    1
    """
    interest = as_interest(wanted)
    if isinstance(interest, ResidualPredicate):
        raise InvalidFormError("a step of a pattern is a predicate without a residual")
    return interest if isinstance(interest, Pattern) else Pattern((interest,))


def as_advertisement(offered: str | Advertisement) -> Advertisement:
    """The advertisement that is meant.

    Raises:
        SienaError: if it is none.
    """
    if isinstance(offered, str):
        return parse_advertisement(offered)
    if isinstance(offered, Advertisement):
        return offered
    raise InvalidFormError(
        "an advertisement is a text or an Advertisement, and not a "
        f"{type(offered).__name__}"
    )
