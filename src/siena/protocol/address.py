"""Where a broker is: ``siena://HOST:PORT``, or ``sienas://`` for TLS.

The scheme may be missing, and so may the port.  Programs name a broker with
:func:`parse_address`; what a broker itself is told, where to listen and whom to call,
goes through :func:`read_address`, where the host may be missing instead.
"""

import ipaddress
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlsplit

from siena.errors import SienaError

# Nothing else is registered there.
PORT = 2606
DEFAULT_URL = f"siena://127.0.0.1:{PORT}"
_LOCAL_HOST = "127.0.0.1"
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
        return f"siena{'s' if self.is_secure else ''}://{self.place}"

    @property
    def url(self) -> str:
        """As clients write it."""
        return str(self)

    @property
    def place(self) -> str:
        """Host and port in one text.

        >>> Address("::1", 7).place
        '[::1]:7'
        """
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def pair(self) -> tuple[str, int]:
        """Host and port, as sockets want them."""
        return self.host, self.port

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can be at the other end.

        >>> read_address("127.0.0.5:0").is_loopback, read_address("[::]:1").is_loopback
        (True, False)
        """
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False


def parse_address(url: str) -> Address:
    """The address that a URL names; the port may be missing, and the scheme as well.

    >>> parse_address("sienas://[::1]:7000")
    Address(host='::1', port=7000, is_secure=True)
    >>> parse_address("localhost:7000")
    Address(host='localhost', port=7000, is_secure=False)
    >>> parse_address("7430")  # a port of this machine
    Address(host='127.0.0.1', port=7430, is_secure=False)
    >>> parse_address("http://localhost")
    Traceback (most recent call last):
    siena.errors.SienaError: http://localhost is not the address of a broker
    (as in siena://localhost:2606)
    """
    parts = _parts(url)
    if parts is None or not parts.host:
        raise SienaError(
            f"{url} is not the address of a broker", hint="as in siena://localhost:2606"
        )
    return Address(parts.host, PORT if parts.port is None else parts.port, parts.tls)


def read_address(text: str, port: int = PORT) -> Address:
    """The address of ``HOST:PORT``, ``HOST``, ``:PORT``, ``PORT`` or a URL.

    >>> read_address("siena://10.0.0.1").place, read_address("[::1]:7").place
    ('10.0.0.1:2606', '[::1]:7')
    >>> read_address(":7").place, read_address("7").place
    ('127.0.0.1:7', '127.0.0.1:7')
    >>> print(read_address("sienas://:7"))
    sienas://127.0.0.1:7
    >>> read_address("here:there")
    Traceback (most recent call last):
    siena.errors.SienaError: 'here:there' is no address
    (HOST:PORT, such as 127.0.0.1:2606)
    """
    parts = _parts(text)
    if parts is None or (not parts.host and parts.port is None):
        hint = f"HOST:PORT, such as 127.0.0.1:{PORT}"
        raise SienaError(f"{text!r} is no address", hint=hint)
    number = port if parts.port is None else parts.port
    return Address(parts.host or _LOCAL_HOST, number, parts.tls)


class _Parts(NamedTuple):
    """What a text says of an address; what it does not say is missing."""

    host: str | None
    port: int | None
    tls: bool


def _parts(text: str) -> _Parts | None:
    """The parts of a text; none if it is no address, or says more than an address."""
    if text.isascii() and text.isdigit():  # no host: who writes a number means a port
        text = f"{_LOCAL_HOST}:{text}"
    try:
        parts = urlsplit(text if "://" in text else f"siena://{text}")
        port = parts.port
    except ValueError:  # a port that is none, half an IPv6 address
        return None
    says_more = parts.path.strip("/") or parts.query or parts.fragment or parts.username
    if parts.scheme not in _SCHEMES or says_more:
        return None
    return _Parts(parts.hostname, port, _SCHEMES[parts.scheme])
