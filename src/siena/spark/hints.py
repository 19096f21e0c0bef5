"""Hints about tables: what a program writes, and what is typed with a command.

An error is made in a task of Spark, which does not know who waits for it; so it speaks
to programs, and commands put their own words in place of that (:func:`for_commands`).
"""

from typing import NamedTuple


class Hint(NamedTuple):
    """What to do, in two ways to say it."""

    program: str
    command: str


NAN_ABSENT = Hint(
    'nan="absent" takes NaN for a null', "--nan absent takes NaN for a null"
)
BAD_ROWS = Hint(
    'on_error="set_aside" passes over such rows; siena.spark.unreadable shows them',
    "--set-aside passes over such rows",
)
BAD_SUBSCRIPTIONS = Hint(
    'on_error="set_aside" puts such rows aside', "--set-aside puts such rows aside"
)
WHOLE_COLUMN = Hint(
    "name it as column= if it is the whole notification",
    "name it with --column if it is the whole notification",
)
ARRAY = Hint(
    "explode it, or pick an element; or declare its name multi-valued: many=",
    "a column with one element of it can be compared; or declare its name "
    "multi-valued: --many",
)
TIME_COLUMN = Hint("name the column with time=", "name the column with --time")
TIME_OF_RULES = Hint(
    "name the column of their times: time=", "name the column of their times: --time"
)
HINTS = (
    *(NAN_ABSENT, BAD_ROWS, BAD_SUBSCRIPTIONS, WHOLE_COLUMN, ARRAY),
    *(TIME_COLUMN, TIME_OF_RULES),
)


def for_commands(text: str) -> str:
    """A message with its hints as those want them who type commands.

    >>> for_commands("the column m is map (name it as column= if it is the whole "
    ... "notification)")
    'the column m is map (name it with --column if it is the whole notification)'
    """
    for hint in HINTS:
        text = text.replace(hint.program, hint.command)
    return text
