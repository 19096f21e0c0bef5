"""URLs of stores: where the servers are, and what the stream is called there."""

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from siena.errors import SienaError

HINT = "as in nats://127.0.0.1:4222/orders, or tls://a:4222,b:4222/orders?replicas=3"
_SCHEMES = ("nats", "tls")
_PORT = 4222
_STREAM = re.compile(r"[A-Za-z0-9_-]{1,64}")
REPLICAS_MAX = 5


class StoreUrl(NamedTuple):
    """Servers that know each other, and a stream of theirs."""

    servers: list[str]
    stream: str
    replicas: int
    is_secure: bool

    @property
    def shown(self) -> str:
        """What people call it."""
        return f"{self.servers[0]}/{self.stream}"


def read_store_url(text: str) -> StoreUrl:
    """What a URL means.

    >>> read_store_url("nats://a,b:5222/orders?replicas=3")
    StoreUrl(servers=['nats://a:4222', 'nats://b:5222'], stream='orders', replicas=3,
    is_secure=False)
    >>> read_store_url("nats://a/")
    Traceback (most recent call last):
    siena.errors.SienaError: 'nats://a/' does not say what the stream is called
    (as in nats://127.0.0.1:4222/orders, or tls://a:4222,b:4222/orders?replicas=3)

    Raises:
        SienaError: if it means nothing.
    """
    if "@" in text:  # nothing of it is shown
        hint = "store_credentials names a file with USER:PASSWORD, or a token"
        raise SienaError("a URL of a store has no password", hint=hint)
    scheme, _, rest = text.partition("://")
    if scheme == "kafka":
        raise SienaError(
            "a log cannot be kept in Kafka",
            hint="NATS JetStream can: nats://HOST:PORT/STREAM",
        )
    if scheme not in _SCHEMES:
        raise SienaError(f"{text!r} is no store", hint=HINT)
    hosts, _, path = rest.partition("/")
    parts = urlsplit(f"{scheme}://x/{path}")
    stream = parts.path.strip("/")
    if not stream:
        raise SienaError(f"{text!r} does not say what the stream is called", hint=HINT)
    if not _STREAM.fullmatch(stream):
        text = f"a stream is called by letters, digits, - and _, and not {stream!r}"
        raise SienaError(text, hint=HINT)
    servers = [f"{scheme}://{_with_port(host, text)}" for host in hosts.split(",")]
    return StoreUrl(servers, stream, _replicas(parts.query), scheme == "tls")


def _with_port(host: str, text: str) -> str:
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, str(_PORT)
    if not name or not port.isdigit():
        raise SienaError(f"{text!r}: {host!r} is no server", hint=HINT)
    return f"{name}:{port}"


def _replicas(query: str) -> int:
    said = dict(parse_qsl(query, keep_blank_values=True))
    text = said.pop("replicas", "1")
    if said:
        raise SienaError(f"a store knows nothing of {', '.join(said)}", hint=HINT)
    if not text.isdigit() or not 1 <= int(text) <= REPLICAS_MAX:
        raise SienaError(f"replicas: 1 to {REPLICAS_MAX}, and not {text!r}", hint=HINT)
    return int(text)
