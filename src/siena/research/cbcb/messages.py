"""What travels between the brokers of CBCB.

A predicate here is a tuple of filters, not a :class:`~siena.model.Predicate`: a reply
joins the predicates of half a network, which may be more filters than one party may ask
for.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from siena.model import Filter, Notification
from siena.routing.topology.topology import Broker

Wanted = tuple[Filter, ...]
"""Filters, one of which must match; each once, and sorted."""


@dataclass(frozen=True, slots=True)
class ReceiverAdvertisement:
    """What the issuer wants, on its way down the issuer's tree."""

    issuer: Broker
    wanted: Wanted


@dataclass(frozen=True, slots=True)
class SenderRequest:
    """A question to all, down the issuer's tree: what is wanted behind you?"""

    issuer: Broker
    number: int


@dataclass(frozen=True, slots=True)
class UpdateReply:
    """The answer of a whole branch, on its way up to the issuer of the request."""

    issuer: Broker
    number: int
    wanted: Wanted


@dataclass(frozen=True, slots=True)
class ContentMessage:
    """A notification, down the tree of the broker where it was published."""

    source: Broker
    number: int
    notification: Notification


Message = ReceiverAdvertisement | SenderRequest | UpdateReply | ContentMessage

KINDS: dict[type[Message], str] = {
    ReceiverAdvertisement: "RA",
    SenderRequest: "SR",
    UpdateReply: "UR",
    ContentMessage: "ME",
}
"""The papers' abbreviations, in which packets are counted."""


def join(*parts: Iterable[Filter]) -> Wanted:
    """All filters of the parts, as one predicate."""
    return tuple(
        sorted({f for part in parts for f in part}, key=lambda f: f.constraints)
    )
