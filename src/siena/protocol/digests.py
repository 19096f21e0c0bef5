"""Digests: do both ends of a link believe the same?

Each side now and then says what it has told, in few bytes; the other compares it with
what it was told.  The digest of many is the sum of the digests of each, so that their
order does not matter, and one that comes or goes changes it in one step.
"""

from collections.abc import Iterable
from hashlib import blake2b

from siena.protocol.control_frames import Digest

DIGEST_BYTES = 16


class Tally:
    """What was told on a link: how many, and their digest.

    >>> mine, theirs = Tally(), Tally()
    >>> mine.add("x > 3", None)
    >>> mine.add("y any", 7)
    >>> theirs.add("y any", 7)
    >>> mine.body() == theirs.body()
    False
    >>> mine.remove("x > 3", None)
    >>> mine.body() == theirs.body()
    True
    """

    def __init__(self, told: Iterable[tuple[str, int | None]] = ()) -> None:
        self._count = 0
        self._sum = 0
        for text, origin in told:
            self.add(text, origin)

    def add(self, text: str, origin: int | None) -> None:
        """An interest or an advertisement was told."""
        self._count += 1
        self._sum += _digest(text, origin)

    def remove(self, text: str, origin: int | None) -> None:
        """It was taken back."""
        self._count -= 1
        self._sum -= _digest(text, origin)

    def body(self) -> Digest:
        """What to say of it."""
        total = self._sum % (1 << 8 * DIGEST_BYTES)
        return Digest(self._count, total.to_bytes(DIGEST_BYTES))


def _digest(text: str, origin: int | None) -> int:
    # A text is printed on one line, so that no two pairs are written alike.
    line = f"{'' if origin is None else origin} {text}"
    return int.from_bytes(blake2b(line.encode(), digest_size=DIGEST_BYTES).digest())
