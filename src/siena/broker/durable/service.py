"""The durable service of a broker: what clients ask for who must not lose anything."""

from pathlib import Path

from siena.broker.clients.requests import Requests
from siena.broker.clients.session import Session
from siena.broker.data.batch import Source
from siena.broker.data.publish_batch import PublishBatch
from siena.broker.durable.acknowledging import Acknowledging
from siena.broker.durable.publishers import Publishers
from siena.broker.durable.refusing import refuse
from siena.broker.log.journal import Journal
from siena.broker.state import BrokerState
from siena.protocol.durable.receipts import Publisher
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.acked_runs import AckedRun
from siena.protocol.fast.split_frames import PublishRun
from siena.protocol.handshake import DURABLE

NO_STORE = "this broker has no store, and cannot acknowledge; start it with --log"


class DurableService:
    """Carries out what must not be lost; without a log, refuses it.

    Ownership: of its files in the folder of the log, from making it to :meth:`close`.
    """

    def __init__(
        self,
        state: BrokerState,
        publications: PublishBatch,
        requests: Requests,
        journal: Journal | None,
        folder: Path | None,
    ) -> None:
        self._publishers: Publishers | None = None
        self.acknowledging: Acknowledging | None = None
        if journal is not None and folder is not None:
            self._publishers = Publishers(journal, folder)
            waits = state.settings.durable.sync == "always"
            self.acknowledging = Acknowledging(
                publications, journal, self._publishers, waits=waits
            )
        requests.add(Publisher, self._register)
        requests.publish_acked = self._publish

    @property
    def features(self) -> tuple[str, ...]:
        """What INFO says about it."""
        return () if self.acknowledging is None else (DURABLE,)

    async def close(self) -> None:
        """Write down what is remembered."""
        if self._publishers is not None:
            await self._publishers.close()

    def _register(self, session: Session, body: Publisher) -> None:
        if self.acknowledging is None:
            raise ProtocolError(Fault.NO_STORE, NO_STORE)
        self.acknowledging.register(session, body)

    def _publish(self, session: Session, source: Source, run: AckedRun) -> None:
        if self.acknowledging is None:
            refuse(session, run, ProtocolError(Fault.NO_STORE, NO_STORE))
        else:
            self.acknowledging.publish(session, source, run)

    def publish_once(self, session: Session, source: Source, run: PublishRun) -> None:
        """Publish for somebody who waits, and does not send again.

        Raises:
            ProtocolError: if there is no store.
        """
        if self.acknowledging is None:
            raise ProtocolError(Fault.NO_STORE, NO_STORE)
        self.acknowledging.publish_once(session, source, run)

    def snapshot(self) -> dict[str, object]:
        """What there is to know."""
        if self.acknowledging is None or self._publishers is None:
            return {}
        return {
            "publishers": len(self._publishers),
            "acknowledged": self.acknowledging.acknowledged,
            "again": self.acknowledging.again,
        }
