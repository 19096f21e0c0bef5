"""Where a broker is: ``siena://host:port``, or ``sienas://`` for TLS."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from siena.errors import SienaError

PORT = 2606
DEFAULT_URL = f"siena://127.0.0.1:{PORT}"
# The variable that names the server for programs that do not.
URL_VARIABLE = "SIENA_URL"
_SCHEMES = {"siena": False, "sienas": True}


@dataclass(frozen=True, slots=True)
class Address:
    """A host and a port, and whether to talk TLS there.

    >>> print(parse_address("siena://broker.example"))
    siena://broker.example:2606
    """

    host: str
    port: int = PORT
    is_secure: bool = False

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"siena{'s' if self.is_secure else ''}://{host}:{self.port}"


def parse_address(url: str) -> Address:
    """The address that a URL names; the port may be missing, and the scheme as well.

    >>> parse_address("sienas://[::1]:7000")
    Address(host='::1', port=7000, is_secure=True)
    >>> parse_address("localhost:7000")
    Address(host='localhost', port=7000, is_secure=False)
    >>> parse_address("http://localhost")
    Traceback (most recent call last):
    siena.errors.SienaError: http://localhost is not the address of a broker
    (as in siena://localhost:2606)
    """
    full = url if "://" in url else f"siena://{url}"
    try:
        parts = urlsplit(full)
        port = PORT if parts.port is None else parts.port
    except ValueError:  # a port that is none, half an IPv6 address
        raise _wrong(url) from None
    if parts.scheme not in _SCHEMES or not parts.hostname or _says_more(parts):
        raise _wrong(url)
    return Address(parts.hostname, port, _SCHEMES[parts.scheme])


def default_url(environment: Mapping[str, str] = os.environ) -> str:
    """What ``SIENA_URL`` says, or the broker on this machine.

    >>> default_url({"SIENA_URL": "siena://hub"}), default_url({})
    ('siena://hub', 'siena://127.0.0.1:2606')
    """
    return environment.get(URL_VARIABLE) or DEFAULT_URL


def _says_more(parts: SplitResult) -> bool:
    """Whether there is something that would be ignored in silence."""
    return bool(
        parts.path.strip("/") or parts.query or parts.fragment or parts.username
    )


def _wrong(url: str) -> SienaError:
    return SienaError(
        f"{url} is not the address of a broker", hint="as in siena://localhost:2606"
    )
