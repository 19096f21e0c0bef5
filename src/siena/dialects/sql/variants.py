"""Where the makers of SQL selectors differ."""

from typing import NamedTuple


class Variant(NamedTuple):
    """One maker's selectors."""

    # Whether "…" is a name, as in SQL; else it is a string.
    quoted_names: bool
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
    # What may stand before a dot, and the attribute's name begins with instead.
    sections: dict[str, str]


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
        escapes_anything=False,
        wants_conditions=True,
        is_strict=False,
        knows_members=True,
        sections={},
    ),
    "amqp": Variant(
        quoted_names=False,
        escapes_anything=True,
        wants_conditions=False,
        is_strict=True,
        knows_members=False,
        sections=_AMQP_SECTIONS,
    ),
    "azure": Variant(
        quoted_names=True,
        escapes_anything=True,
        wants_conditions=True,
        is_strict=False,
        knows_members=True,
        sections={"user": "", "sys": "sys."},
    ),
}
