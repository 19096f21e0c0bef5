"""Dead letters: what the broker publishes of what no reader could deal with.

What a letter is about is done with once the disk has the letter.
"""

from collections.abc import Callable

from siena.broker.access.principal import LOCAL
from siena.broker.data.licences import Licence
from siena.broker.io.backpressure import Holder
from siena.broker.log.journal import Journal
from siena.protocol.error_codes import ProtocolError


class LetterBox:
    """The publisher of dead letters: the broker itself."""

    principal = LOCAL
    licence: Licence | None = None
    neighbour: int | None = None

    def reply(self, frame: bytes) -> None:
        """Nothing is asked."""

    def fail(self, error: ProtocolError) -> None:
        """It could not be routed, which the log says."""

    def hold(self, by: Holder) -> None:
        """They are few, and do not wait."""


class LetterReceipt:
    """Hears when the disk has a letter, or that it never will."""

    def __init__(self, journal: Journal, then: Callable[[bool], None]) -> None:
        self._journal = journal
        self._then = then

    def tag(self, at: int) -> int:  # noqa: ARG002 -- as others have it
        """It is of no publisher that would send it again."""
        return 0

    def stored(self, at: int, count: int, offset: int) -> None:  # noqa: ARG002
        """It is written: wait for the disk."""
        self._journal.group_commit.when_synced(
            lambda failure: self._then(failure is None)
        )

    def refused(self, at: int, error: ProtocolError) -> None:  # noqa: ARG002
        """It is not taken."""
        self._then(False)

    def failed(self) -> None:
        """It is not written."""
        self._then(False)
