"""Listening: where a broker may, and how many it can hear."""

import errno
import os
import socket
import sys
from collections.abc import Iterable

from siena.errors import SienaError
from siena.protocol.address import Address

# When a machine at the other end has vanished is noticed after so many seconds without
# a sign of life, asked for so often.
ALIVE_SECONDS_MAX = 30
ALIVE_SECONDS = 10


def keep_alive(connection: socket.socket) -> None:
    """Notice when the machine at the other end of a connection has vanished."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option, value in (
        ("TCP_KEEPIDLE", ALIVE_SECONDS),
        ("TCP_KEEPINTVL", ALIVE_SECONDS),
        ("TCP_KEEPCNT", ALIVE_SECONDS_MAX // ALIVE_SECONDS),
    ):
        number = getattr(socket, option, None)  # not every system has all of them
        if number is not None:
            connection.setsockopt(socket.IPPROTO_TCP, number, value)


def limit_unacknowledged(connection: socket.socket, seconds: float) -> None:
    """End a connection if what is sent is not acknowledged for so long; 0: do not.

    Nor is it if the other end takes nothing for so long, although it is there.
    """
    number = getattr(socket, "TCP_USER_TIMEOUT", None)  # Linux has it
    if number is not None:
        connection.setsockopt(socket.IPPROTO_TCP, number, round(seconds * 1000))


def check_listening(
    addresses: Iterable[Address], *, insecure: bool, is_asking: bool = False
) -> None:
    """Refuse to be heard of beyond this machine, unless that is wanted.

    >>> check_listening([Address("0.0.0.0", 2606)], insecure=False)
    Traceback (most recent call last):
    siena.errors.SienaError: 0.0.0.0:2606 can be reached from other machines, and nobody
    is asked who they are (127.0.0.1:PORT cannot; [access] in the settings says who may
    come; --insecure-listen allows it)
    >>> check_listening([Address("::", 2606)], insecure=False, is_asking=True)
    Traceback (most recent call last):
    siena.errors.SienaError: [::]:2606 can be reached from other machines, and what is
    said there is not encrypted (127.0.0.1:PORT cannot; sienas:// and [tls] encrypt it;
    --insecure-listen allows it)

    Args:
        addresses: where to listen.
        insecure: whether that was said to be wanted.
        is_asking: whether those who come are asked who they are, and can be told apart.
    """
    for address in addresses:
        if insecure or address.is_loopback or (is_asking and address.is_secure):
            continue
        why, hint = (
            "what is said there is not encrypted",
            "sienas:// and [tls] encrypt it",
        )
        if not is_asking:
            why = "nobody is asked who they are"
            hint = "[access] in the settings says who may come"
        raise SienaError(
            f"{address.place} can be reached from other machines, and {why}",
            hint=f"127.0.0.1:PORT cannot; {hint}; --insecure-listen allows it",
        )


def raise_file_limit() -> int:
    """Let this process open as many files as the system allows; how many these are."""
    try:
        import resource  # noqa: PLC0415 -- not on Windows, which has no such limit
    except ImportError:
        return sys.maxsize
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < hard:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def listen(address: Address, *, is_shared: bool = False) -> socket.socket:
    """A socket bound to an address, which other processes of ours may share.

    Raises:
        SienaError: if that is not possible.
    """
    try:
        # With its protocol, by which asyncio knows that small writes must not wait.
        family, kind, protocol, _, place = socket.getaddrinfo(
            *address.pair, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        found = socket.socket(family, kind, protocol)
    except OSError as error:
        raise SienaError(
            f"cannot listen at {address.place}: {error.strerror}"
        ) from None
    try:
        if os.name == "posix":  # elsewhere it would let others have the same port
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if is_shared:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        found.bind(place)
    except OSError as error:
        found.close()
        is_taken = error.errno == errno.EADDRINUSE
        raise SienaError(
            f"cannot listen at {address.place}: {error.strerror}",
            hint="port 0 stands for any that is free" if is_taken else "",
        ) from None
    return found
