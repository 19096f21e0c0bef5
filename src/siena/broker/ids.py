"""What brokers are called."""

from hashlib import blake2b


def number_of(name: str) -> int:
    """The number of a broker, the same wherever its name is known.

    >>> number_of("b1") == number_of("b1"), 0 < number_of("b1") < 2**63
    (True, True)
    """
    digest = blake2b(name.encode(), digest_size=8).digest()
    return (int.from_bytes(digest) >> 1) or 1


def token_of_offer(number: int) -> int:
    """The token under which it is asked whether an advertisement is settled.

    Subscriptions have numbers of their own, which are their tokens.

    >>> token_of_offer(0), token_of_offer(7)
    (-1, -8)
    """
    return -1 - number


def number_of_offer(token: int) -> int:
    """The advertisement of such a token.

    >>> number_of_offer(-8)
    7
    """
    return -1 - token
