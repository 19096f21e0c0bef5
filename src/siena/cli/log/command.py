"""``siena log``: the commands about logs; without the name of one, reading."""

from typing import Any

import typer
from typer.core import TyperGroup

from siena.cli.log.read import read
from siena.cli.service.log import check, compact, export, repair

_DEFAULT = "read"


class ReadByDefault(TyperGroup):
    """A group of which ``siena log 'level > 3'`` means ``siena log read …``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # noqa: ANN401 -- private to Typer
        """Put in the command that is meant, unless one is named or help is wanted."""
        is_help = args[:1] in (["--help"], ["-h"])
        if not is_help and (not args or args[0] not in self.commands):
            args = [_DEFAULT, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=ReadByDefault,
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback()
def log() -> None:
    """Read what a broker keeps on its disk (siena serve --log DIR).

    Without the name of a command, read: siena log --from 0 'level > 3'.

    \b
    Examples:
      siena log read --from 0 'level > 3'
      siena log read --count 10 --json
    """  # noqa: D301 -- Typer needs the backspace itself


app.command(_DEFAULT)(read)
for _command in (check, repair, export, compact):
    app.command()(_command)
