"""``siena context``: names for servers, and the one that is in use."""

import json
import sys
from pathlib import Path
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
    read_token_file,
    save_contexts,
)
from siena.protocol.address import parse_address

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
        typer.Option(
            metavar="FILE",
            help="A file with the token that the broker wants to see; - for stdin.",
            show_default=False,
        ),
    ] = None,
    ca: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Certificates to believe, for sienas://; otherwise the system's.",
            show_default=False,
        ),
    ] = None,
    cert: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A certificate of yours.", show_default=False
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="And its key.", show_default=False),
    ] = None,
    use: Annotated[bool, typer.Option("--use", help="Use it from now on.")] = False,
) -> None:
    """Save a server under a name, in place of what had that name before.

    Its token is kept, too, for your eyes only; it is read from a file, because others
    can read what you type.

    \b
    Examples:
      siena context add work sienas://hub.example --ca ca.pem --token work.token
      siena token narrow 'symbol = DIS' < work.token | siena context add dis \\
        sienas://hub.example --ca ca.pem --token -
    """  # noqa: D301 -- Typer needs the backspace itself
    files = [None if path is None else str(path.absolute()) for path in (ca, cert, key)]
    server = Server(url, read_token_file(token) if token else None, *files)
    parse_address(url)
    _ = server.tls  # a file that is missing is said now
    saved = _load().add(name, server)
    _save(saved.use(name) if use else saved)
    print(f"siena: saved {name}: {url}", file=sys.stderr)


@app.command("use")
def use_context(name: SavedArgument) -> None:
    """Let commands talk to this server, if nothing else is said."""
    _save(_load().use(name))


@app.command("rm")
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
