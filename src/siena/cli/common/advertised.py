"""``--advertise``: what a command will publish, said before it publishes.

Where brokers forward advertisements, what no advertisement of a connection admits is
refused, and subscriptions come only to where something they want is advertised.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Annotated

import typer

from siena.cli.common.client_options import Deadline
from siena.client.blocking import Client
from siena.errors import SienaError
from siena.lang.parser import parse_advertisement
from siena.model import Advertisement
from siena.protocol.handshake import ADVERTISED

AdvertiseOption = Annotated[
    list[str] | None,
    typer.Option(
        "--advertise",
        metavar="FILTER",
        help="Advertise this before, and take it back at the end; may be repeated. "
        "Needed where brokers forward advertisements.",
        show_default=False,
    ),
]


def read_advertisements(texts: Sequence[str] | None) -> list[Advertisement]:
    """What the options say; mistakes are found before anything else is done."""
    return [parse_advertisement(text) for text in texts or ()]


@contextmanager
def advertised(
    client: Client, advertisements: Sequence[Advertisement], deadline: Deadline
) -> Iterator[None]:
    """Advertise while something is published; begins when all brokers know it.

    Raises:
        TimeoutError: if they do not know it in time.
        SienaError: if nothing is advertised, and the broker would refuse everything.
    """
    if not advertisements and ADVERTISED in client.features:
        raise SienaError(
            f"the broker at {client.url} takes only what is advertised",
            hint="say with --advertise what will be published",
        )
    standing = []
    for advertisement in advertisements:
        standing.append(client.advertise(advertisement))
        standing[-1].settled(deadline.left_s)
    yield
    # Not after a failure: then the connection ends, and so do they.
    with suppress(TimeoutError):
        for each in reversed(standing):
            each.close(deadline.left_s)
