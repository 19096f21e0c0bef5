"""A neighbour that says whatever a test likes."""

from siena.broker.broker import Broker
from siena.broker.ids import number_of
from siena.protocol.control_frames import Connect, Peer, Welcome
from siena.protocol.handshake import EXACT, PREFACE, RUNS
from wire import Wire, open_wire

EPOCH = 1


async def link(
    broker: Broker, side: str = "peer", name: str = "rogue", *more: str
) -> Wire:
    """A link to a broker that accepts it; with more features, if they are named."""
    wire = await open_wire(broker)
    features = [RUNS, EXACT, *more]
    peer = Peer(number_of(name), EPOCH, side, features=features)  # type: ignore[arg-type]
    wire.send(PREFACE + Connect(1, name=name, peer=peer).pack())
    welcome = await wire.next()
    assert isinstance(welcome, Welcome), welcome
    return wire
