"""Clients: publish and subscribe from a program, with ``await`` or without.

``connect`` is the front; it gives a ``client`` to those who await and the same names
from ``blocking`` to those who do not.  ``subscription``, ``advertising``, ``log`` and
``request_reply`` are what a client hands out, as is the room ``durable``; how it works
is in the room ``core``.
"""

from siena.client.advertising import Advertising
from siena.client.client import Client
from siena.client.connect import connect, tls_context
from siena.client.core.backoff import Backoff
from siena.client.settings import Settings
from siena.client.subscription import Subscription
from siena.client.tokens import narrow_token
from siena.protocol.address import DEFAULT_URL, Address, parse_address

__all__ = [
    "DEFAULT_URL",
    "Address",
    "Advertising",
    "Backoff",
    "Client",
    "Settings",
    "Subscription",
    "connect",
    "narrow_token",
    "parse_address",
    "tls_context",
]
