"""How publications that want a receipt are refused."""

from siena.broker.clients.session import Session
from siena.protocol.durable.receipts import Stored
from siena.protocol.error_codes import ProtocolError
from siena.protocol.fast.acked_runs import AckedRun


def refuse(session: Session, run: AckedRun, error: ProtocolError) -> None:
    """Tell a publisher that none of these are stored, and why."""
    told = Stored(
        run.publisher,
        run.sequence,
        run.publications.total,
        None,
        error.fault.number,
        error.message,
    )
    session.reply(told.pack())
