"""Clients: publish and subscribe from a program, with ``await`` or without.

From the ground up: ``address``, ``backoff``, ``coding``, ``inbox``, ``pending``,
``wire`` → ``settings``, ``standing`` → ``talk`` (what was said and is waited for,
across connections) → ``keeper`` (one connection after another), ``subscription``,
``advertising``, ``publisher``, ``replies``, ``traces``, ``log`` → ``client`` →
``handover``, ``loop_thread``, ``blocking_handles``, ``blocking_log``, ``blocking`` (the
same without ``await``) → ``connecting``.
"""

from siena.client.address import DEFAULT_URL, Address, parse_address
from siena.client.advertising import Advertising
from siena.client.backoff import Backoff
from siena.client.client import Client
from siena.client.connecting import connect
from siena.client.settings import Settings
from siena.client.subscription import Subscription

__all__ = [
    "DEFAULT_URL",
    "Address",
    "Advertising",
    "Backoff",
    "Client",
    "Settings",
    "Subscription",
    "connect",
    "parse_address",
]
