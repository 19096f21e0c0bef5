"""URLs of stores: where the servers are, and what the stream is called there."""

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from siena.errors import SienaError

HINT = "as in nats://127.0.0.1:4222/orders, or kafka://a:9092,b:9092/orders?replicas=3"
NATS, KAFKA = "NATS", "Kafka"
# Whose servers they are, where these are found if it is not said, and whether by TLS.
_SCHEMES = {
    "nats": (NATS, 4222, False),
    "tls": (NATS, 4222, True),
    "kafka": (KAFKA, 9092, False),
    "kafka+tls": (KAFKA, 9092, True),
}
# How a password is shown to Kafka.
_SASL = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_STREAM = re.compile(r"[A-Za-z0-9_-]{1,64}")
REPLICAS_MAX = 5


class StoreUrl(NamedTuple):
    """Servers that know each other, and a stream or topic of theirs."""

    maker: str
    servers: list[str]
    stream: str
    replicas: int
    is_secure: bool
    sasl: str = _SASL[0]

    @property
    def shown(self) -> str:
        """What people call it."""
        scheme = "kafka://" if self.maker == KAFKA else ""
        return f"{scheme}{self.servers[0]}/{self.stream}"

    @property
    def identity(self) -> str:
        """What it is called wherever its servers are."""
        kind = "topic" if self.maker == KAFKA else "stream"
        return f"the {kind} {self.stream} of {self.maker}"


def read_store_url(text: str) -> StoreUrl:
    """What a URL means.

    >>> read_store_url("nats://a,b:5222/orders?replicas=3")[1:4]
    (['nats://a:4222', 'nats://b:5222'], 'orders', 3)
    >>> read_store_url("kafka://a/orders").servers
    ['a:9092']
    >>> read_store_url("nats://a/")
    Traceback (most recent call last):
    siena.errors.SienaError: 'nats://a/' does not say what the stream is called
    (as in nats://127.0.0.1:4222/orders, or kafka://a:9092,b:9092/orders?replicas=3)

    Raises:
        SienaError: if it means nothing.
    """
    if "@" in text:  # nothing of it is shown
        hint = "store_credentials names a file with USER:PASSWORD, or a token"
        raise SienaError("a URL of a store has no password", hint=hint)
    scheme, _, rest = text.partition("://")
    if scheme not in _SCHEMES:
        raise SienaError(f"{text!r} is no store", hint=HINT)
    maker, port, is_secure = _SCHEMES[scheme]
    hosts, _, path = rest.partition("/")
    parts = urlsplit(f"x://x/{path}")
    stream = parts.path.strip("/")
    if not stream:
        raise SienaError(f"{text!r} does not say what the stream is called", hint=HINT)
    if not _STREAM.fullmatch(stream):
        text = f"a stream is called by letters, digits, - and _, and not {stream!r}"
        raise SienaError(text, hint=HINT)
    servers = [_with_port(host, port, text) for host in hosts.split(",")]
    if maker == NATS:
        servers = [f"{scheme}://{server}" for server in servers]
    said = dict(parse_qsl(parts.query, keep_blank_values=True))
    replicas = _replicas(said.pop("replicas", "1"))
    sasl = said.pop("sasl", _SASL[0]) if maker == KAFKA else _SASL[0]
    if sasl not in _SASL:
        raise SienaError(f"sasl: {', '.join(_SASL)}, and not {sasl!r}", hint=HINT)
    if said:
        raise SienaError(f"a store knows nothing of {', '.join(said)}", hint=HINT)
    return StoreUrl(maker, servers, stream, replicas, is_secure, sasl)


def _with_port(host: str, usual: int, text: str) -> str:
    name, colon, port = host.rpartition(":")
    if not colon or host.endswith("]"):
        name, port = host, str(usual)
    if not name or not port.isdigit():
        raise SienaError(f"{text!r}: {host!r} is no server", hint=HINT)
    return f"{name}:{port}"


def _replicas(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= REPLICAS_MAX:
        raise SienaError(f"replicas: 1 to {REPLICAS_MAX}, and not {text!r}", hint=HINT)
    return int(text)
