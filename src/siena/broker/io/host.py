"""What a connection needs of its broker."""

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from siena.broker.io.connection import Connection


class ConnectionHost(Protocol):
    """The broker of some connections."""

    @property
    def recv_buffer(self) -> memoryview:
        """Where what comes is put first, for all connections; never for long."""
        ...

    def as_lines(self, deliveries: bytes) -> bytes:
        """Their lines, written once for all who read them."""
        ...

    def on_readable(self, connection: "Connection") -> None:
        """Something came; look at it in this tick."""
        ...

    def process_in_place(self, connection: "Connection") -> bool:
        """Something came that is still in the room: look at it now, if it is time."""
        ...

    def elapsed(self) -> float:
        """Seconds, to measure how long a connection is looked at."""
        ...

    def read_later(self, connection: "Connection") -> None:
        """Let a connection go on when others have been read from."""
        ...

    def is_serving(self) -> bool:
        """Whether others are served than those who publish in vain."""
        ...

    def keeps_waiting(self, connection: "Connection") -> bool:
        """Let a connection wait, if it has asked for too much; whether it must."""
        ...

    def charge(self, connection: "Connection", seconds: float) -> None:
        """It took so long to read what a connection asks for, or sends in vain."""
        ...

    def serve(self, seconds: float) -> None:
        """It took so long to do what no account is drawn for."""
        ...

    def schedule_flush(self, connection: "Connection") -> None:
        """Something is to be sent; write it at the end of this tick."""
        ...

    def route(self) -> None:
        """Route what has been published so far."""
        ...

    def count_fault(self) -> None:
        """An error is sent."""
        ...

    def blocked(self, connection: "Connection") -> None:
        """A connection is full: the sources that publish for it are to wait."""
        ...

    def opened(self, connection: "Connection") -> None:
        """A client or a neighbour has connected."""
        ...

    def closed(self, connection: "Connection") -> None:
        """The other end of a connection has gone."""
        ...
