"""Roles: what a connection needs of what its other end is, and how it is answered."""

from typing import Protocol

from siena.protocol import control_frames as bodies
from siena.protocol.durable.reading import DurableSubscribe
from siena.protocol.error_codes import ProtocolError
from siena.protocol.fast.split_frames import PublishRun
from siena.protocol.states import Event, is_barrier, operation_of

# What is drawn from the account of whoever asks for it, to read and to do: it takes
# long, or makes others do so; and so does what is refused.  The log and durable
# subscriptions are read, and publications stored and passed on, as fast as they are.
DRAWN = frozenset(
    (
        bodies.Connect,
        bodies.Subscribe,
        bodies.SubscribeRun,
        bodies.Unsubscribe,
        bodies.Advertise,
        bodies.Unadvertise,
        bodies.Suspend,
        bodies.Resume,
        bodies.Look,
        bodies.UnsubscribeCovered,
        bodies.UnadvertiseCovered,
        bodies.Tell,
        bodies.Digest,
        DurableSubscribe,
        ProtocolError,
    )
)


class EndRole(Protocol):
    """What the other end is: a client, a neighbour, or not known yet."""

    @property
    def neighbour(self) -> int | None:
        """The broker at the other end, if it is one."""
        ...

    def handle(self, event: Event) -> None:
        """Carry out what was sent.

        Raises:
            ProtocolError: if that cannot be done; it is the answer.
        """
        ...

    def gone(self) -> None:
        """The connection has ended."""
        ...


class InPlace(Protocol):
    """An end whose publications are routed where they came."""

    def publish(self, frames: memoryview) -> int:
        """Publish what stands at the beginning of many frames; where the rest begins.

        The rest is then heard in runs and frames; it may be all.  What is not routed
        at once is, before anything else comes.
        """
        ...


class Publisher(EndRole, InPlace, Protocol):
    """An end that may publish."""

    def run(self, run: PublishRun) -> None:
        """Publish what came in a row."""
        ...


class AnswerHost(Protocol):
    """What the answers to one connection need of its broker."""

    def route(self) -> None:
        """Route what has been published so far."""
        ...

    def count_fault(self) -> None:
        """An error is sent."""
        ...


class Answered(Protocol):
    """Who is told what is wrong."""

    def fail(self, error: ProtocolError) -> None:
        """Tell what is wrong, and end if that cannot be lived with."""
        ...


def carry_out(event: Event, role: EndRole, broker: AnswerHost, to: Answered) -> None:
    """Do what follows from an event, after all that was published before it."""
    if isinstance(event, ProtocolError):
        error = event
    else:
        try:
            if is_barrier(event):
                broker.route()
            role.handle(event)
        except ProtocolError as caught:
            error = caught
            error.request = operation_of(event)
        else:
            return
    broker.route()
    broker.count_fault()
    to.fail(error)
