"""What travels between brokers and clients, as frozen values.

From the ground up: ``interface`` → ``notices``, ``peering`` → ``requests``.  A message
is neither bytes nor an action: :mod:`siena.routing` decides what follows from it.
"""

from typing import get_args

from siena.messages.interface import Interface, Side, Stamp
from siena.messages.notices import (
    Found,
    Key,
    Lost,
    Notify,
    Quenched,
    Settled,
    Unquenched,
)
from siena.messages.peering import (
    Flush,
    LinkState,
    PeerConfirm,
    PeerConnect,
    PeerDisconnect,
    PeerRefuse,
)
from siena.messages.requests import (
    Advertise,
    Interest,
    MapIdentity,
    Parcel,
    Publish,
    Release,
    Resume,
    Settle,
    Subscribe,
    Suspend,
    Unadvertise,
    Unsubscribe,
)

Message = (
    Advertise
    | Flush
    | Found
    | LinkState
    | Lost
    | MapIdentity
    | Notify
    | Parcel
    | PeerConfirm
    | PeerConnect
    | PeerDisconnect
    | PeerRefuse
    | Publish
    | Quenched
    | Release
    | Resume
    | Settle
    | Settled
    | Subscribe
    | Suspend
    | Unadvertise
    | Unquenched
    | Unsubscribe
)

# What a router answers: messages, each with the interface that it goes to.
Outbox = list[tuple[Interface, Message]]


def verb(message: Message) -> str:
    """The kind of a message in one word, for traces and accounts.

    >>> verb(PeerConfirm())
    'peerconfirm'
    """
    return _VERBS[type(message)]


_VERBS: dict[type, str] = {kind: kind.__name__.lower() for kind in get_args(Message)}


__all__ = [
    "Advertise",
    "Flush",
    "Found",
    "Interest",
    "Interface",
    "Key",
    "LinkState",
    "Lost",
    "MapIdentity",
    "Message",
    "Notify",
    "Outbox",
    "Parcel",
    "PeerConfirm",
    "PeerConnect",
    "PeerDisconnect",
    "PeerRefuse",
    "Publish",
    "Quenched",
    "Release",
    "Resume",
    "Settle",
    "Settled",
    "Side",
    "Stamp",
    "Subscribe",
    "Suspend",
    "Unadvertise",
    "Unquenched",
    "Unsubscribe",
    "verb",
]
