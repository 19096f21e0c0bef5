"""What a shell completes behind an option that takes one of a few words."""

from collections.abc import Callable

Complete = Callable[[str], list[str]]

PERIODS = ("hour", "day", "week", "month")
LOG_SOURCES = ("attributes", "windows", "none")
# In which rules are written, where that is exact; or as an expression, always.
WRITTEN = ("siena", "sql", "amqp", "azure", "eventbridge", "sns", "expression")


def one_of(*words: str) -> Complete:
    """Completes any of these.

    >>> one_of("hour", "day")("d"), one_of("hour", "day")("")
    (['day'], ['hour', 'day'])
    """

    def complete(incomplete: str) -> list[str]:
        return [word for word in words if word.startswith(incomplete)]

    return complete


def dialects(incomplete: str) -> list[str]:
    """Completes the name of a language in which rules are written."""
    # All readers; not for every command that has such an option.
    from siena.dialects.registry import DIALECTS

    return one_of(*DIALECTS)(incomplete)
