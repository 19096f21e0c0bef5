"""What a client knows of its connection."""

from siena.client.core.reconnect import Reconnector
from siena.client.core.session import Session


class Facts:
    """Where a client is connected, to whom, and what was lost."""

    _session: Session
    _reconnector: Reconnector

    @property
    def url(self) -> str:
        """The address of the broker that we are, or were last, connected to."""
        return str(self._reconnector.address)

    @property
    def broker(self) -> str:
        """The name of that broker."""
        assert self._reconnector.info is not None, "a client is handed out connected"
        return self._reconnector.info.broker

    @property
    def features(self) -> tuple[str, ...]:
        """What that broker can do, and asks for, as its INFO says."""
        assert self._reconnector.info is not None, "a client is handed out connected"
        return self._reconnector.info.features

    @property
    def resumed(self) -> bool:
        """Whether that broker had kept something for our identity."""
        welcome = self._reconnector.welcome
        return welcome is not None and welcome.resumed

    @property
    def is_connected(self) -> bool:
        """Whether there is a connection at this moment."""
        return self._session.transport is not None

    @property
    def reconnects(self) -> int:
        """How many times the connection was lost and made again."""
        return max(0, self._session.connections - 1)

    @property
    def gaps(self) -> int:
        """How many times something may have been lost on its way, here or elsewhere."""
        return self._session.gaps

    @property
    def lost(self) -> int:
        """How many notifications the broker could not keep for this connection."""
        return self._session.lost
