"""Options about what events are: nested JSON, and attributes with several values."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

NestedOption = Annotated[
    str | None,
    typer.Option(
        metavar="[windows]",
        help="Events are JSON with objects in objects: attributes by path, a.b.c, with "
        "several values where there are arrays; or, with windows, events of Windows' "
        "log under the names that rules use.",
        show_default=False,
    ),
]
ManyOption = Annotated[
    list[str] | None,
    typer.Option(
        help="An attribute that may have several values; as often as needed.",
        show_default=False,
    ),
]
_NESTED, _WAYS = "--nested", ("path", "windows")


class CommandOnEvents(TyperCommand):
    """A command whose ``--nested`` may stand alone: Typer has no such options."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 -- Typer's
        """The arguments that are left."""
        return super().parse_args(ctx, with_values(args))


def with_values(words: Sequence[str]) -> list[str]:
    """The words of a command line, with the value that ``--nested`` may leave out.

    >>> with_values(["sift", "--nested", "events.ndjson"])
    ['sift', '--nested=path', 'events.ndjson']
    >>> with_values(["sift", "--nested", "windows", "events.ndjson"])
    ['sift', '--nested=windows', 'events.ndjson']
    """
    found: list[str] = []
    for place, word in enumerate(words):
        if word == "--":
            return found + list(words[place:])
        if word == _NESTED:
            found.append(f"{_NESTED}=path")
        elif found and word in _WAYS and words[place - 1] == _NESTED:
            found[-1] = f"{_NESTED}={word}"
        else:
            found.append(word)
    return found
