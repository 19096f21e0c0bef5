"""Sets of rules: read, reviewed, compared, tried, and asked why.

``entry`` (a rule as it is kept, and a set of them) → ``rows``, ``sigma_files``,
``files`` (where they come from) → ``reading`` (what they mean) and ``correlation``
(rules about several events) → the room ``review`` (what is wrong with a set, proved),
whose ``report`` is a page, and ``comparing`` (two versions of a set); ``events`` →
``firing`` (why), ``fixtures`` (what has to fire), ``several`` (attributes with several
values) and the room ``residuals`` (many rules at many events).  ``pieces`` lets the
work on a large set be shared.

A *rule* is :class:`siena.model.expression.rule.Rule`; here it has an id, a dialect, a
severity and a version, and stands among others.
"""

from siena.rules.entry import RuleEntry, RuleSet, SetAside
from siena.rules.files import load_rules
from siena.rules.reading import ReadRule, RuleSettings, read_rules

__all__ = [
    "ReadRule",
    "RuleEntry",
    "RuleSet",
    "RuleSettings",
    "SetAside",
    "load_rules",
    "read_rules",
]
