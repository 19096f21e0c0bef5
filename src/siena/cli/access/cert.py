"""``siena cert``: certificates for a network to try things with."""

import sys
from pathlib import Path
from typing import Annotated

import typer


def cert(
    names: Annotated[
        list[str],
        typer.Argument(metavar="NAME...", help="Brokers, and clients that have one."),
    ],
    *,
    folder: Annotated[
        Path, typer.Option(metavar="DIR", help="Where they are to lie.")
    ] = Path("certs"),
    host: Annotated[
        list[str] | None,
        typer.Option(
            help="Where they are reached, beside this machine; as often as wanted."
        ),
    ] = None,
    days: Annotated[
        int, typer.Option(min=1, max=825, help="How long they are good for.")
    ] = 90,
    renew: Annotated[
        bool, typer.Option("--renew", help="Make those anew that are there.")
    ] = False,
) -> None:
    """Make certificates, and an authority that signs them, for a test network.

    DIR/ca.pem is what others are to believe; each NAME gets DIR/NAME.pem and
    DIR/NAME.key, which show that name to brokers and clients.  The key of the
    authority, DIR/ca.key, can make more of them: keep it away from others.

    \b
    Examples:
      siena cert b1 b2 b3
      siena cert hub --host hub.example --days 30
    """  # noqa: D301 -- Typer needs the backspace itself
    from siena.broker.access.issuing import HERE, Authority

    authority = Authority(folder)
    if authority.is_new:
        print(authority.cert)
    hosts = [*HERE, *(host or [])]
    for name in names:
        issued = authority.issue(name, hosts, days=days, is_renewed=renew)
        print(issued.cert)
    print("siena: these are to try things with", file=sys.stderr)
