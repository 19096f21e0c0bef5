"""Durable subscriptions for those who do not await: the same names."""

from siena.client.blocking_handles import BlockingReading
from siena.client.core.loop_thread import LoopThread
from siena.client.durable.subscription import (
    Delivered,
    DurableSubscription as AsyncDurableSubscription,
)


class DurableSubscription(BlockingReading[Delivered]):
    """What a broker remembers for a name, and what has come of it; iterate over it."""

    def __init__(
        self, loop: LoopThread, subscription: AsyncDurableSubscription
    ) -> None:
        super().__init__(loop, subscription)
        self._subscription = subscription

    @property
    def name(self) -> str:
        """What it is called at the broker."""
        return self._subscription.name

    @property
    def in_force(self) -> str:
        """What of it the broker grants; all of it, where there are no grants."""
        return self._subscription.in_force

    @property
    def filter(self) -> str:
        """What is wanted, in the words of the language."""
        return self._subscription.filter

    def ack_up_to(self, offset: int) -> None:
        """All up to an offset, not included, are done; never waits."""
        self._loop.call_soon(self._subscription.ack_up_to, offset)

    def close(self) -> None:
        """Read no more: what was not acknowledged goes to others, or comes again."""
        super().close()

    def _handed_over(self, one: Delivered) -> Delivered:
        return one.called_from(self._loop.call_soon)
