"""Regular expressions, by an automaton: linear in the value, whatever the pattern.

Python's own matcher tries again and again, and a pattern of twenty characters can keep
it busy for a year.  RE2 does not, and for that gives up look-around and references to
what was found before: such patterns are refused.
"""

from collections.abc import Callable
from functools import lru_cache

from siena.errors import FilterError, LimitError
from siena.model.limits import REGULAR_BYTES_MAX, REGULAR_CHARACTERS_MAX

# Compiled patterns that are remembered.
REMEMBERED_MAX = 1_024


@lru_cache(REMEMBERED_MAX)
def compile_regular(pattern: str) -> Callable[[str], bool]:
    """The test whether the pattern occurs in a string.

    >>> occurs = compile_regular("^a+b")
    >>> occurs("aab!"), occurs("cab")
    (True, False)
    """
    if len(pattern) > REGULAR_CHARACTERS_MAX:
        what = "characters in a regular expression"
        raise LimitError("REGULAR_CHARACTERS_MAX", REGULAR_CHARACTERS_MAX, what)
    try:
        import re2  # noqa: PLC0415 -- an extra, and only this module needs it
    except ImportError:
        raise FilterError(
            "regular expressions need the package google-re2",
            hint="pip install 'siena-pubsub[regex]'",
        ) from None
    options = re2.Options()
    options.log_errors = False
    options.max_mem = REGULAR_BYTES_MAX
    try:
        found = re2.compile(pattern, options)
    except re2.error as error:
        reason = error.args[0] if error.args else "unknown"
        reason = (
            reason.decode(errors="replace") if isinstance(reason, bytes) else reason
        )
        raise FilterError(
            f"not a regular expression that is matched in linear time: {reason}"
        ) from None
    search = found.search
    return lambda text: search(text) is not None
