"""Targets: where a handler may be, as the configuration allows.

A broker that posts wherever a client says would be a way into the network behind it; so
targets are compared with a list, part by part, and not as texts.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from siena.errors import SienaError

TARGET_CHARACTERS_MAX = 2_048
PORTS = {"http": 80, "https": 443}
_MAILBOX = re.compile(
    r"(?P<local>[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]+)@(?P<host>[A-Za-z0-9.-]+)"
)
# In a path: what another server may take for a step up, or for the end.
# Some of them end a part at a ; as well as at a /.
_TRICKS = re.compile(
    r"(^|/)\.{1,2}(/|;|$)|%2e|%2f|%3b|%5c|\\|[\x00-\x20\x7f]", re.IGNORECASE
)


class Target(NamedTuple):
    """A web hook or a mailbox, in parts."""

    scheme: str
    host: str
    port: int
    path: str  # of a mailbox, what stands before the @
    text: str

    @property
    def mailbox(self) -> str:
        """The address of a mailbox."""
        return f"{self.path}@{self.host}"

    def is_within(self, other: "Target") -> bool:
        """Whether the other, in the list, allows this one.

        >>> hooks = read_target("https://example.org/hooks")
        >>> read_target("https://example.org:443/hooks/a?b=1").is_within(hooks)
        True
        >>> read_target("https://example.org/hooksters").is_within(hooks)
        False
        """
        if self[:3] != other[:3]:
            return False
        above = other.path if other.path.endswith("/") else f"{other.path}/"
        is_below = self.scheme != "mailto" and self.path.startswith(above)
        return is_below or self.path == other.path


def read_target(text: str) -> Target:
    """The target of a URL.

    >>> read_target("mailto:ops@Example.org")[:4]
    ('mailto', 'example.org', 0, 'ops')
    >>> read_target("https://example.org/a/../b")
    Traceback (most recent call last):
    siena.errors.SienaError: 'https://example.org/a/../b' is no handler
    (http://…, https://… or mailto:…)

    Raises:
        SienaError: if it is none.
    """
    found = _read(text) if len(text) <= TARGET_CHARACTERS_MAX else None
    if found is None:
        hint = "http://…, https://… or mailto:…"
        raise SienaError(f"{text[:80]!r} is no handler", hint=hint)
    return found


def check_allowed(target: Target, allowed: Iterable[str]) -> None:
    """Refuse what no entry of the list allows."""
    if not any(target.is_within(read_target(entry)) for entry in allowed):
        hint = "handlers.allow in the settings lists those that are"
        raise SienaError(f"{target.text[:80]!r} is not allowed", hint=hint)


def _read(text: str) -> Target | None:
    scheme, _, rest = text.partition(":")
    scheme = scheme.lower()
    if scheme == "mailto":
        mailbox = _MAILBOX.fullmatch(rest)
        if mailbox is None:
            return None
        return Target(scheme, mailbox["host"].lower(), 0, mailbox["local"], text)
    try:
        parts = urlsplit(text)
        port = parts.port or PORTS[scheme]
    except (ValueError, KeyError):
        return None
    has_extras = "@" in parts.netloc or parts.fragment or _TRICKS.search(parts.path)
    if not parts.hostname or has_extras or not text.isascii() or not text.isprintable():
        return None
    return Target(scheme, parts.hostname, port, parts.path or "/", text)
