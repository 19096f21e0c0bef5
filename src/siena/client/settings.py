"""How a client behaves: what may be chosen, and what is taken otherwise."""

import random
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from siena.client.core.backoff import Backoff
from siena.client.missed_interval import MissedInterval
from siena.errors import SienaError

# What a broker does for a client that reads too slowly; see protocol.md.
SlowPolicy = Literal["drop", "disconnect", "block"]

# From the first packet to the broker's welcome.
CONNECT_SECONDS = 5.0
# On leaving: how long to wait for the broker to have got everything.
CLOSE_SECONDS = 5.0
# Silence for so long is answered by a PING, and silence after it by a new connection.
KEEPALIVE_SECONDS = 30.0
# How long a drain waits for those who still read.
DRAIN_SECONDS = 30.0
# How long a request waits for its reply.
REPLY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class Settings:
    """How a client behaves.

    ``identity`` is the name under which the broker keeps what is for this client while
    it is suspended or on the move; ``name`` is only shown to people; ``publisher`` is
    whose publications with a receipt are numbered, also in other lives of the program.
    """

    name: str | None = None
    identity: str | None = None
    publisher: str | None = None
    token: str | None = None
    slow: SlowPolicy = "drop"
    # Without one, a lost connection stays lost.
    reconnect: Backoff | None = field(default_factory=Backoff)
    # Whether the first connection is tried again and again, too.
    patient: bool = False
    connect_s: float = CONNECT_SECONDS
    close_s: float = CLOSE_SECONDS
    keepalive_s: float = KEEPALIVE_SECONDS
    tls: ssl.SSLContext | None = None
    # Called in the client's loop: with the reason, and without anything.
    on_disconnect: Callable[[SienaError], object] | None = None
    on_reconnect: Callable[[], object] | None = None
    # And with the interval in which notifications may be missing.
    on_gap: Callable[[MissedInterval], object] | None = None
    chance: random.Random = field(default_factory=random.Random)
