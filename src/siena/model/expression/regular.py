"""Regular expressions, by an automaton: linear in the value, whatever the pattern.

Python's own matcher tries again and again, and a pattern of twenty characters can keep
it busy for a year.  RE2 does not, and for that gives up look-around and references to
what was found before: such patterns are refused.
"""

from collections.abc import Callable
from functools import lru_cache

from siena.errors import FilterError, LimitError
from siena.extras import how_to_get
from siena.model.limits import REGULAR_BYTES_MAX, REGULAR_CHARACTERS_MAX

# Compiled patterns that are remembered.
REMEMBERED_MAX = 1_024
# Answers that are remembered, of all patterns together, and how long their texts are:
# the values of events repeat.
ANSWERS_MAX = 32_768
ANSWER_CHARACTERS_MAX = 512
# What would take in the patterns that follow it, and the end of a group around it.
QUOTING = r"\Q"


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
            hint=how_to_get("regex"),
        ) from None
    options = re2.Options()
    options.log_errors = False
    options.max_mem = REGULAR_BYTES_MAX
    # Whether it occurs is all that is asked, and costs less than what is where.
    options.never_capture = True
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
    # Of bytes the package need not count characters.
    return remembering(lambda text: search(text.encode()) is not None)


@lru_cache(REMEMBERED_MAX)
def compile_regulars(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """The test whether one of the patterns occurs: by one automaton, if it may be.

    >>> occurs = compile_regulars(("^a+b", "(?i)X|y"))
    >>> occurs("aab!"), occurs("cabY"), occurs("cab")
    (True, True, False)
    """
    tests = [compile_regular(pattern) for pattern in patterns]
    if len(tests) == 1:
        return tests[0]
    if not any(QUOTING in pattern for pattern in patterns):
        # A flag ends with its group.
        try:
            return compile_regular("|".join(f"(?:{p})" for p in patterns))
        except (FilterError, LimitError):
            pass  # together they are too large, or name the same group
    return lambda text: any(test(text) for test in tests)


def remembering(test: Callable[[str], bool]) -> Callable[[str], bool]:
    """The same test, which is not asked again of texts that it was asked of lately."""

    def remembered(text: str) -> bool:
        if len(text) > ANSWER_CHARACTERS_MAX:
            return test(text)
        return _answer(test, text)

    return remembered


@lru_cache(ANSWERS_MAX)
def _answer(test: Callable[[str], bool], text: str) -> bool:
    return test(text)
