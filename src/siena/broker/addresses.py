"""Addresses: where a broker listens, and where others do."""

import ipaddress
from typing import NamedTuple
from urllib.parse import urlsplit

from siena.broker.settings import PORT
from siena.errors import SienaError


class Address(NamedTuple):
    """A host and a port."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """As clients write it."""
        return f"siena://{self}"

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


def read_address(text: str, port: int = PORT) -> Address:
    """The address of ``HOST:PORT``, ``HOST``, ``:PORT`` or a ``siena://`` URL.

    >>> read_address("siena://10.0.0.1"), read_address("[::1]:7"), read_address(":7")
    (Address(host='10.0.0.1', port=2606), Address(host='::1', port=7),
     Address(host='127.0.0.1', port=7))
    >>> read_address("here:there")
    Traceback (most recent call last):
    siena.errors.SienaError: 'here:there' is no address
    (HOST:PORT, such as 127.0.0.1:2606)
    """
    try:
        parts = urlsplit(text if "://" in text else f"siena://{text}")
        found = parts.port
    except ValueError:
        raise _no_address(text) from None
    if parts.scheme != "siena" or parts.path not in {"", "/"} or parts.query:
        raise _no_address(text)
    if not parts.hostname and found is None:
        raise _no_address(text)
    return Address(parts.hostname or "127.0.0.1", port if found is None else found)


def _no_address(text: str) -> SienaError:
    hint = f"HOST:PORT, such as 127.0.0.1:{PORT}"
    return SienaError(f"{text!r} is no address", hint=hint)
