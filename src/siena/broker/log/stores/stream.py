"""What a log asks of a stream of others: numbered, in order, and kept by its servers.

All that a maker's client must do for us is here; it may block, and is called by one
thread at a time.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol


class StreamError(OSError):
    """The stream does not take it, or does not answer; it is tried again."""


class DisplacedError(Exception):
    """Something else stands where this was to be."""


class Message(NamedTuple):
    """What stands in a stream under a number."""

    number: int
    data: bytes


class MessageStream(Protocol):
    """Messages by number, each under a subject.

    Every method raises ``StreamError`` if it cannot be done now.
    """

    @property
    def name(self) -> str:
        """What people call it."""
        ...

    @property
    def message_bytes(self) -> int:
        """How long a message may be."""
        ...

    def last_number(self) -> int:
        """The number of the last message that there was; 0 if there was none."""
        ...

    def append(self, messages: Sequence[tuple[str, bytes]], after: int) -> None:
        """Have messages kept, each with its subject, right behind a number.

        They are kept once this returns.  If it raises, some of the first may be.

        Raises:
            DisplacedError: if something else stands there.
        """
        ...

    def last(self, subject: str | None = None) -> Message | None:
        """The last message, of all or of a subject."""
        ...

    def next(self, subject: str, number: int) -> Message | None:
        """The first message of a subject that has this number or a higher one."""
        ...

    def read(self, start: int, end: int) -> Iterator[Message]:
        """The messages from a number to before another."""
        ...

    def forget(self, subject: str, before: int) -> None:
        """Those of a subject below a number are needed no more."""
        ...

    def close(self) -> None:
        """Have no more to do with it."""
        ...
