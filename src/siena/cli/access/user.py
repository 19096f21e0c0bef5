"""``siena user``: users with passwords, for people."""

import json
import sys
from getpass import getpass
from pathlib import Path
from typing import Annotated

import typer

from siena.broker.access.credentials import (
    UserRecord,
    load_credentials,
    save_credentials,
)
from siena.broker.access.passwords import PASSWORD_CHARACTERS_MAX, hash_password
from siena.cli.access.options import AFTERWARDS, FileOption, RolesOption, file_of
from siena.cli.common.client_options import JsonOption
from siena.errors import SienaError

PASSWORD_CHARACTERS_MIN = 8

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.callback()
def users() -> None:
    """Users with passwords; they connect with NAME:PASSWORD, or HTTP Basic.

    \b
    Examples:
      siena user add bob --role screen
      siena user list
    """  # noqa: D301 -- Typer needs the backspace itself


NameArgument = Annotated[str, typer.Argument(metavar="NAME")]


@app.command("add")
def add(
    name: NameArgument,
    *,
    role: RolesOption = None,
    password: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A file with the password; otherwise it is asked for.",
            show_default=False,
        ),
    ] = None,
    file: FileOption = None,
) -> None:
    """Add a user, or give one another password and roles.

    \b
    Examples:
      siena user add ann --role trader
    """  # noqa: D301 -- Typer needs the backspace itself
    if not name or ":" in name or not name.isprintable():
        raise SienaError(f"{name!r} cannot be the name of a user")
    said = _ask() if password is None else password.read_text(encoding="utf-8").strip()
    if not PASSWORD_CHARACTERS_MIN <= len(said) <= PASSWORD_CHARACTERS_MAX:
        least, most = PASSWORD_CHARACTERS_MIN, PASSWORD_CHARACTERS_MAX
        raise SienaError(f"a password has {least} to {most} characters")
    path = file_of(file)
    record = UserRecord(password=hash_password(said), roles=tuple(role or ()))
    save_credentials(path, load_credentials(path, is_new=True).with_user(name, record))
    print(f"siena: user {name} is in {path}; {AFTERWARDS}", file=sys.stderr)


@app.command("list")
def list_users(*, file: FileOption = None, as_json: JsonOption = False) -> None:
    """List users, and their roles.

    \b
    Example:
      siena user list
    """  # noqa: D301 -- Typer needs the backspace itself
    for name, record in load_credentials(file_of(file)).users.items():
        if as_json:
            print(json.dumps({"name": name, "roles": record.roles}))
        else:
            print(f"{name}  {', '.join(record.roles) or 'no role'}")


@app.command("remove")
def remove(name: NameArgument, *, file: FileOption = None) -> None:
    """Remove a user.

    \b
    Example:
      siena user remove bob
    """  # noqa: D301 -- Typer needs the backspace itself
    path = file_of(file)
    save_credentials(path, load_credentials(path).without_user(name))
    print(f"siena: removed; {AFTERWARDS}", file=sys.stderr)


def _ask() -> str:
    first = getpass("Password: ")
    if getpass("Once more: ") != first:
        raise SienaError("these are two passwords")
    return first
