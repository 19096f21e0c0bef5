"""What brokers and interested parties are called."""

import re
from hashlib import blake2b


def number_of(name: str) -> int:
    """The number of a broker, the same wherever its name is known.

    >>> number_of("b1") == number_of("b1"), 0 < number_of("b1") < 2**63
    (True, True)
    """
    digest = blake2b(name.encode(), digest_size=8).digest()
    return (int.from_bytes(digest) >> 1) or 1


def subscription(session: int, number: int) -> str:
    """The name of one subscription, as the router knows it.

    Each is an interested party of its own: what one of them cancels is nobody else's.

    >>> subscription(3, 7), session_and_number("3/7")
    ('3/7', (3, 7))
    """
    return f"{session}/{number}"


def advertisement(session: int, number: int) -> str:
    """The name of one advertisement; its number may also be that of a subscription.

    >>> advertisement(3, 7), session_and_number("3+7")
    ('3+7', (3, 7))
    """
    return f"{session}+{number}"


def session_and_number(name: str) -> tuple[int, int]:
    """Whose party this is."""
    session, number = re.split(r"[/+]", name)
    return int(session), int(number)
