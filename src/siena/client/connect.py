"""``siena.connect``: one name for programs that await and for those that do not."""

import os
import random
import ssl
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import NoReturn

from siena.client import blocking
from siena.client.client import Client
from siena.client.core.backoff import Backoff
from siena.client.missed_interval import MissedInterval
from siena.client.settings import (
    CLOSE_SECONDS,
    CONNECT_SECONDS,
    KEEPALIVE_SECONDS,
    Settings,
    SlowPolicy,
)
from siena.errors import NotEnteredError, SienaError
from siena.protocol.address import DEFAULT_URL, Address, parse_address

# The variable that names the server for programs that do not.
URL_VARIABLE = "SIENA_URL"
_DEFAULT_BACKOFF = Backoff()


class Connecting:
    """A connection to be: enter it with ``async with``, or with ``with``."""

    def __init__(self, urls: tuple[str, ...], settings: Settings) -> None:
        self._addresses = [parse_address(url) for url in urls or (default_url(),)]
        for address in self._addresses:
            if settings.tls is not None and not address.is_secure:
                raise SienaError(
                    f"tls= is given, and {address} is not encrypted",
                    hint=f"an address with TLS is sienas://{address.place}",
                )
            check_token(address, settings.token)
        self._settings = settings
        self._client: Client | None = None
        self._blocking: blocking.Client | None = None

    def __getattr__(self, name: str) -> NoReturn:
        """Called for what is not here: most likely the ``with`` was forgotten."""
        if not name.startswith("_") and hasattr(Client, name):
            raise NotEnteredError(
                f"there is no connection yet to {name} with",
                hint="with siena.connect(…) as client, or async with",
            )
        raise AttributeError(name)

    async def __aenter__(self) -> Client:
        self._client = Client(self._addresses, self._settings)
        return await self._client.__aenter__()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._client is not None
        await self._client.__aexit__(kind, error, trace)

    def __enter__(self) -> blocking.Client:
        self._blocking = blocking.Client(self._addresses, self._settings)
        return self._blocking.__enter__()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._blocking is not None
        self._blocking.__exit__(kind, error, trace)


def connect(  # noqa: PLR0913 -- all by name, and nobody needs many
    *urls: str,
    name: str | None = None,
    identity: str | None = None,
    publisher: str | None = None,
    token: str | None = None,
    slow: SlowPolicy = "drop",
    reconnect: Backoff | None = _DEFAULT_BACKOFF,
    patient: bool = False,
    connect_s: float = CONNECT_SECONDS,
    close_s: float = CLOSE_SECONDS,
    keepalive_s: float = KEEPALIVE_SECONDS,
    tls: ssl.SSLContext | str | os.PathLike[str] | None = None,
    on_disconnect: Callable[[SienaError], object] | None = None,
    on_reconnect: Callable[[], object] | None = None,
    on_gap: Callable[[MissedInterval], object] | None = None,
    chance: random.Random | None = None,
) -> Connecting:
    """Connect to a broker, for the length of a ``with`` or ``async with`` block.

    ::

        async with siena.connect("siena://localhost") as client:
            await client.publish(symbol="DIS", price=101.5)

        with siena.connect() as client:
            client.publish(symbol="DIS", price=101.5)

    Args:
        urls: where brokers are; the first that answers is taken, and the next when
            that is gone.  Without any, what ``SIENA_URL`` says, or this machine.
        name: shown to people who look after the broker.
        identity: kept across connections: suspend, resume, move.
        publisher: under which name publications with a receipt are numbered, so that
            this program goes on where it was when it has died, and nothing is stored
            twice: :meth:`Client.next_sequence`.  One program at a time has a name.
        token: what the broker wants to see before it lets us in: a token, or
            ``NAME:PASSWORD``.  It is sent where TLS encrypts it, or within this
            machine; a broker that asks for none is left again, for it would let
            in any client.
        slow: what the broker does if we read too slowly: ``"drop"`` and say how many,
            ``"disconnect"`` us, or ``"block"`` publishers.
        reconnect: how to come back after a lost connection; ``None``: not at all.
        patient: whether to wait for a broker that is not there yet, as long as
            ``reconnect`` allows.
        connect_s: how long one attempt may take.
        close_s: how long leaving may wait for the broker to have got everything.
        keepalive_s: after so much silence, look whether the broker is still there.
        tls: for ``sienas://``: a file with the certificates to believe, or a context,
            which may have a certificate of ours; without it, what the system believes.
        on_disconnect: called with the reason when the connection is lost, in the
            client's loop, which it must not keep; a blocking client has that in a
            thread of its own.
        on_reconnect: called when there is a connection again, and all that was asked
            for has been asked for again.
        on_gap: called with the interval in which notifications may be missing: the
            connection was lost, or a link between brokers was down.
        chance: where the jitter of pauses comes from.

    Raises:
        SienaError: if ``tls`` or ``token`` is given for an address that is not
            ``sienas://``, or ``tls`` is no file of certificates.
    """
    settings = Settings(
        name=name,
        identity=identity,
        publisher=publisher,
        token=token,
        slow=slow,
        reconnect=reconnect,
        patient=patient,
        connect_s=connect_s,
        close_s=close_s,
        keepalive_s=keepalive_s,
        tls=tls_context(tls) if isinstance(tls, (str, os.PathLike)) else tls,
        on_disconnect=on_disconnect,
        on_reconnect=on_reconnect,
        on_gap=on_gap,
        chance=chance or random.Random(),
    )
    return Connecting(urls, settings)


def check_token(address: Address, token: str | None) -> None:
    """Refuse to send a token where others could read it."""
    if token is not None and not address.is_secure and not address.is_loopback:
        raise SienaError(
            f"a token is not sent to {address}, where nothing is encrypted",
            hint=f"an address with TLS is sienas://{address.place}",
        )


def tls_context(
    ca: str | os.PathLike[str] | None = None,
    cert: str | os.PathLike[str] | None = None,
    key: str | os.PathLike[str] | None = None,
) -> ssl.SSLContext:
    """A context for ``tls=``: TLS 1.3, with certificates from files.

    Args:
        ca: those to believe, instead of the system's.
        cert: one of our own, for brokers that know clients by it.
        key: and its key.

    Raises:
        SienaError: if one of them cannot be read.
    """
    try:
        context = ssl.create_default_context(cafile=ca)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        if cert is not None:
            context.load_cert_chain(cert, key, password=lambda: "")
    except (OSError, ssl.SSLError) as error:
        why = error.strerror or "no certificate"
        named = ", ".join(str(path) for path in (ca, cert, key) if path is not None)
        raise SienaError(f"{named}: {why}") from None
    return context


def default_url(environment: Mapping[str, str] = os.environ) -> str:
    """What ``SIENA_URL`` says, or the broker on this machine.

    >>> default_url({"SIENA_URL": "siena://hub"}), default_url({})
    ('siena://hub', 'siena://127.0.0.1:2606')
    """
    return environment.get(URL_VARIABLE) or DEFAULT_URL
