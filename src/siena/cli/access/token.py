"""``siena token``: make tokens, list and revoke them; narrow one, without a broker."""

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from siena.broker.access.credentials import (
    TokenRecord,
    load_credentials,
    save_credentials,
)
from siena.cli.access.options import (
    AFTERWARDS,
    FileOption,
    RolesOption,
    SpanOption,
    file_of,
    seconds_of,
)
from siena.cli.common.client_options import JsonOption
from siena.cli.common.contexts import read_token_file
from siena.client.tokens import narrow_token, new_token
from siena.clock import SystemClock
from siena.errors import SienaError

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    no_args_is_help=True,
)


@app.callback()
def tokens() -> None:
    """Tokens, by which a broker knows who a client is.

    \b
    Examples:
      siena token new ann --role trader --out ann.token
      siena token narrow 'symbol = DIS' --for 1h --token ann.token
      siena token revoke ann
    """  # noqa: D301 -- Typer needs the backspace itself


OutOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Write it there instead, for your eyes only.",
        show_default=False,
    ),
]


@app.command("new")
def new(
    identity: Annotated[str, typer.Argument(metavar="IDENTITY", help="Whose it is.")],
    *,
    role: RolesOption = None,
    span: SpanOption = None,
    out: OutOption = None,
    file: FileOption = None,
) -> None:
    """Make a token, and print it: this once, for only a hash of it is kept.

    \b
    Examples:
      siena token new ann --role trader --out ann.token
      siena token new sensor-7 --role sensor --for 90d
    """  # noqa: D301 -- Typer needs the backspace itself
    if out is not None and out.is_file():
        hint = "a token is shown once: name another file, or remove that one"
        raise SienaError(f"{out} is there already", hint=hint)
    path, now = file_of(file), SystemClock().now()
    token = new_token()
    found = load_credentials(path, is_new=True).with_token(
        token,
        _name(identity),
        tuple(role or ()),
        made_at=now,
        expires_at=None if span is None else now + seconds_of(span),
    )
    save_credentials(path, found)
    _print(token.text, out)
    print(
        f"siena: token {token.number} of {identity} is in {path}; {AFTERWARDS}",
        file=sys.stderr,
    )


@app.command("list")
def list_tokens(*, file: FileOption = None, as_json: JsonOption = False) -> None:
    """List tokens by number: whose they are, with which roles, and until when.

    \b
    Example:
      siena token list
    """  # noqa: D301 -- Typer needs the backspace itself
    now = SystemClock().now()
    for number, record in load_credentials(file_of(file)).tokens.items():
        if as_json:
            print(json.dumps(_form(number, record)))
            continue
        roles = ", ".join(record.roles) or "no role"
        print(f"{number}  {record.identity}  {roles}  {_until(record, now)}")


@app.command("revoke")
def revoke(
    which: Annotated[
        str, typer.Argument(metavar="NUMBER", help="Or an identity: all of its tokens.")
    ],
    *,
    file: FileOption = None,
) -> None:
    """Let a token count no more, nor any that was narrowed from it.

    \b
    Examples:
      siena token revoke 3f9c0b7e
      siena token revoke ann
    """  # noqa: D301 -- Typer needs the backspace itself
    path = file_of(file)
    save_credentials(path, load_credentials(path).without(which))
    print(f"siena: revoked; {AFTERWARDS}, and ends its connections", file=sys.stderr)


@app.command("narrow")
def narrow(
    where: Annotated[
        str | None,
        typer.Argument(metavar="[FILTER]", help="What it is good for, and no more."),
    ] = None,
    *,
    span: SpanOption = None,
    token: Annotated[
        str,
        typer.Option(metavar="FILE", help="A file with the token; - for stdin."),
    ] = "-",  # noqa: S107 -- a file
    out: OutOption = None,
) -> None:
    """Make of a token one that is good for less, and print it; no broker is asked.

    \b
    Examples:
      siena token narrow 'symbol = DIS' --for 1h < ann.token
      siena token narrow --for 1d --token ann.token --out day.token
    """  # noqa: D301 -- Typer needs the backspace itself
    seconds = None if span is None else float(seconds_of(span))
    _print(narrow_token(read_token_file(token), where, for_s=seconds), out)


def _print(token: str, out: Path | None) -> None:
    """Print a token, or write it where only its owner can read it."""
    if out is None:
        print(token)
        return
    out.unlink(missing_ok=True)  # whoever could read that
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
    with os.fdopen(os.open(out, flags, 0o600), "w", encoding="utf-8") as file:
        file.write(f"{token}\n")


def _name(identity: str) -> str:
    if not identity or ":" in identity or not identity.isprintable():
        raise SienaError(f"{identity!r} cannot be an identity")
    return identity


def _until(record: TokenRecord, now: float) -> str:
    if record.expires_at is None:
        return "for ever"
    end = datetime.fromtimestamp(record.expires_at, UTC).isoformat(timespec="seconds")
    return f"{'ended' if record.expires_at <= now else 'until'} {end}"


def _form(number: str, record: TokenRecord) -> dict[str, object]:
    return {
        "number": number,
        "identity": record.identity,
        "roles": record.roles,
        "made_at": record.made_at,
        "expires_at": record.expires_at,
    }
