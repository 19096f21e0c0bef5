"""Where the makers of SQL selectors differ."""

from typing import NamedTuple

from siena.model.expression import Operation


class Variant(NamedTuple):
    """One maker's selectors."""

    # Whether "…" is a name, as in SQL; else it is a string.
    quoted_names: bool
    # Whether numbers and names are Java's: 017 is octal, 0x1F, 5L, 1.5F; names may
    # have a $ in them and begin with _.
    is_java: bool
    # Whether there is `between`.
    has_between: bool
    # Whether NULL is a constant, and patterns may be computed of constants; else NULL
    # stands behind `is` only, and patterns are literals.
    computes_constants: bool
    # Whether an escape makes any character plain, and must stand before one; else it is
    # an escape only before a wildcard or itself.
    escapes_anything: bool
    # Whether what is no condition is refused; else it just never holds.
    wants_conditions: bool
    # Whether what other makers let pass is refused (``strictness``).
    is_strict: bool
    # Whether `in` is unknown if a member is absent and no other is equal, as in SQL;
    # else it is about the other members.
    knows_members: bool
    # Whether strings and booleans have an order; else they are equal or not.
    orders_anything: bool
    # Whether strings are added to each other, one behind the other.
    adds_strings: bool
    # What `/` and `%` are: of integers an integer or not, and of floats at all or not.
    quotient: Operation
    remainder: Operation
    # Whether `like` is false of what is no string; else it is unknown.
    settles_like: bool
    # What may stand before a dot, and the attribute's name begins with instead.
    sections: dict[str, str]
    # Whether sections are written in any case, and names behind them also in quotes.
    delimits_fields: bool
    # Fields that a message has even if it does not say so.
    defaults: dict[str, int]


_AMQP_SECTIONS = {
    "header": "header.",
    "h": "header.",
    "properties": "properties.",
    "p": "properties.",
    "application_properties": "",
    "a": "",
}

VARIANTS = {
    "sql": Variant(
        quoted_names=True,
        is_java=True,
        has_between=True,
        computes_constants=False,
        escapes_anything=False,
        wants_conditions=True,
        is_strict=False,
        knows_members=True,
        orders_anything=False,
        adds_strings=True,
        quotient=Operation.QUOTIENT,
        remainder=Operation.REMAINDER,
        settles_like=True,
        sections={},
        delimits_fields=False,
        defaults={},
    ),
    "amqp": Variant(
        quoted_names=False,
        is_java=False,
        has_between=False,
        computes_constants=False,
        escapes_anything=True,
        wants_conditions=False,
        is_strict=True,
        knows_members=False,
        orders_anything=True,
        adds_strings=False,
        quotient=Operation.DIVIDE,
        remainder=Operation.MODULO,
        settles_like=False,
        sections=_AMQP_SECTIONS,
        delimits_fields=False,
        defaults={"header.priority": 4},
    ),
    "azure": Variant(
        quoted_names=True,
        is_java=False,
        has_between=False,
        computes_constants=True,
        escapes_anything=True,
        wants_conditions=True,
        is_strict=False,
        knows_members=True,
        orders_anything=True,
        adds_strings=True,
        quotient=Operation.QUOTIENT,
        remainder=Operation.REMAINDER,
        settles_like=False,
        sections={"user": "", "sys": "sys."},
        delimits_fields=True,
        defaults={},
    ),
}
