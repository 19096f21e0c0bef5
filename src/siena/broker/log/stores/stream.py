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


class Outgoing(NamedTuple):
    """What is to stand in a stream."""

    subject: str
    """What it is about: a message is found by it, and forgotten with others."""
    key: str
    """Of a subject that is not the log: the newer message replaces the older one."""
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

    @property
    def forgets_by_subject(self) -> bool:
        """Whether messages of one subject can be forgotten, and others stay.

        If not, all before a number go, and of a key that is not the log's the newest
        stays as long as that is behind it.
        """
        ...

    def last_number(self) -> int:
        """The number of the last message that there was; 0 if there was none."""
        ...

    def append(self, messages: Sequence[Outgoing], after: int) -> int:
        """Have messages kept right behind a number; the number of the last of them.

        They are kept once this returns.  If it raises, some of the first may be.

        Raises:
            DisplacedError: if something else stands there.
        """
        ...

    def last(self) -> Message | None:
        """The last message."""
        ...

    def next(self, subject: str, number: int) -> Message | None:
        """The first message of a subject that has this number or a higher one."""
        ...

    def read(self, start: int, end: int) -> Iterator[Message]:
        """The messages from a number to before another."""
        ...

    def forget(self, subject: str, before: int) -> None:
        """Those of a subject below a number are needed no more.

        Where :attr:`forgets_by_subject` is not so, all below it go with the log's.
        """
        ...

    def close(self) -> None:
        """Have no more to do with it."""
        ...
