"""What travels between brokers and clients, as frozen values.

From the ground up: ``interface`` → ``notices``, ``peering`` → ``requests``.  A message
is neither bytes nor an action: :mod:`siena.routing` decides what follows from it.
"""

from typing import get_args

from siena.messages.interface import (
    Elsewhere,
    Interface,
    Party,
    Side,
    Stamp,
    Window,
    client_of,
)
from siena.messages.notices import (
    Encoded,
    Found,
    Key,
    Letter,
    Lost,
    Moved,
    Notify,
    Numbered,
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
    Leave,
    Listing,
    ListInterests,
    MapIdentity,
    Move,
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
    | Numbered
    | Flush
    | Found
    | Leave
    | LinkState
    | Listing
    | ListInterests
    | Lost
    | MapIdentity
    | Move
    | Moved
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
    "Elsewhere",
    "Encoded",
    "Flush",
    "Found",
    "Interest",
    "Interface",
    "Key",
    "Leave",
    "Letter",
    "LinkState",
    "ListInterests",
    "Listing",
    "Lost",
    "MapIdentity",
    "Message",
    "Move",
    "Moved",
    "Notify",
    "Numbered",
    "Outbox",
    "Parcel",
    "Party",
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
    "Window",
    "client_of",
    "verb",
]
