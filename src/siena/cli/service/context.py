"""``siena context``: names for servers, and the one that is in use."""

import json
import sys
from typing import Annotated

import typer

from siena.cli.common.client_options import JsonOption
from siena.cli.common.contexts import (
    Contexts,
    Server,
    context_names,
    contexts_path,
    find_server,
    load_contexts,
    save_contexts,
)

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
)

NameArgument = Annotated[str, typer.Argument(metavar="NAME")]
SavedArgument = Annotated[
    str, typer.Argument(metavar="NAME", autocompletion=context_names)
]


@app.callback(invoke_without_command=True)
def list_contexts(context: typer.Context, *, as_json: JsonOption = False) -> None:
    """Save servers under names, and choose the one that commands talk to.

    Without a command, list them; * marks the one in use.  What --server says, or the
    variable SIENA_URL, comes first.  They are kept in siena/contexts.json in the folder
    for configuration (XDG_CONFIG_HOME, or ~/.config), readable for you alone.

    \b
    Examples:
      siena context add work siena://hub.example:2606
      siena context use work
      siena context list
      siena sub 'level > 3' --server work
    """  # noqa: D301 -- Typer needs the backspace itself
    if context.invoked_subcommand is None:
        print_contexts(as_json=as_json)


@app.command("list")
def print_contexts(*, as_json: JsonOption = False) -> None:
    """List them; * marks the one in use."""
    saved = _load()
    if not saved.servers and sys.stderr.isatty():
        print("siena: none is saved (siena context add NAME URL)", file=sys.stderr)
    for name, server in saved.servers.items():
        is_used = name == saved.current
        if as_json:
            print(json.dumps({"name": name, "url": server.url, "current": is_used}))
        else:
            print(f"{'*' if is_used else ' '} {name}  {server.url}")


@app.command("add")
def add_context(
    name: NameArgument,
    url: Annotated[str, typer.Argument(metavar="URL", help="siena://HOST:PORT")],
    *,
    token: Annotated[
        str | None,
        typer.Option(help="What the broker wants to see.", show_default=False),
    ] = None,
    use: Annotated[bool, typer.Option("--use", help="Use it from now on.")] = False,
) -> None:
    """Save a server under a name, in place of what had that name before."""
    saved = _load().add(name, Server(url, token))
    _save(saved.use(name) if use else saved)


@app.command("use")
def use_context(name: SavedArgument) -> None:
    """Let commands talk to this server, if nothing else is said."""
    _save(_load().use(name))


@app.command("remove")
def remove_context(name: SavedArgument) -> None:
    """Forget a server."""
    _save(_load().remove(name))


@app.command("show")
def show_context(*, as_json: JsonOption = False) -> None:
    """Print the address that commands would talk to now."""
    server = find_server(None)
    print(json.dumps({"url": server.url}) if as_json else server.url)


def _load() -> Contexts:
    return load_contexts(contexts_path())


def _save(contexts: Contexts) -> None:
    save_contexts(contexts_path(), contexts)
