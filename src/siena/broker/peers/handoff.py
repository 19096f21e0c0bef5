"""Moving: an identity goes from one broker to another, and takes along what was kept.

::

    the new broker                                 the old one
      ── CONNECT as the identity ──────────────────▶
      ── MOVE without a URL ───────────────────────▶
      ◀──────────────── SUB, ADV, …, then DONE ─────
      asks for the same, suspended, until it is settled
      ── TELL release ─────────────────────────────▶
                       asks everybody once more: what was on its way has come
      ◀──── what was kept, LOST, then TELL parcel ──   and forgets the identity
      asks everybody once more, and delivers

What both have kept has the same stamp, and is delivered once.

Reference:
    Our specification, A.8; the same in virtual time is :mod:`siena.sim.moves`.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from siena.broker.addresses import Address, read_address
from siena.broker.clients.requests import Requests
from siena.broker.clients.session import OfflineQueue, Session, Sink
from siena.broker.peers.handoff_source import HandoffSource
from siena.broker.state import BrokerState
from siena.errors import SienaError
from siena.messages import Parcel
from siena.protocol import control_frames as bodies
from siena.protocol.control_frames import Body, Done, Error
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.frames import Op
from siena.protocol.peer_messages import pack_tell

# How long all of it may take.
MOVE_SECONDS_MAX = 30.0
# Moves that go on at the same time.
MOVES_MAX = 1_000


@dataclass(slots=True, eq=False)
class Move:
    """One move to this broker, as long as it goes on."""

    session: Session
    was_suspended: bool
    sink: Sink | None = None
    task: asyncio.Task[None] | None = None
    # Asked for here because it was asked for there.
    asked: list[bodies.Subscribe | bodies.Advertise] = field(default_factory=list)
    # Whether the other broker was told to hand over, and to forget.
    is_released: bool = False

    def __post_init__(self) -> None:
        self.sink = self.session.sink


class Handoff:
    """Moves to this broker and from it."""

    def __init__(self, state: BrokerState, requests: Requests) -> None:
        self._state = state
        self._requests = requests
        self._moves: dict[Session, Move] = {}
        # Below 0: those of clients are the numbers of their subscriptions.
        self._tokens = count(1)

    async def stop(self) -> None:
        """Give up all moves to this broker."""
        tasks = [move.task for move in self._moves.values() if move.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    # --- From this broker -----------------------------------------------------------

    def listing(self, session: Session) -> None:
        """Say what an identity has asked for here."""
        for number, interest in session.interests.items():
            session.reply(bodies.Subscribe(number, str(interest)).pack())
        for number, advertisement in session.advertisements.items():
            session.reply(bodies.Advertise(number, str(advertisement)).pack())
        session.reply(Done(Op.MOVE).pack())

    def release(self, session: Session) -> None:
        """Hand over what was kept, when all that was on its way has come."""
        self._requests.suspend(session)
        sink = session.sink
        self._settle(session, lambda: self._hand_over(session, sink), fresh=True)

    def _hand_over(self, session: Session, sink: Sink | None) -> None:
        """Unless who asked for it has gone: then all of it stays here."""
        kept = session.kept
        if sink is None or session.sink is not sink or kept is None:
            return
        stamps = [stamp for _, stamp in kept.queue if stamp is not None]
        if not session.expect(kept.size):
            return
        for frame, _ in kept.queue:
            session.reply(frame)
        if kept.lost:
            session.reply(bodies.Lost(kept.lost).pack())
        session.kept = OfflineQueue(0)
        self._requests.drop_all(session)
        session.reply(pack_tell(Parcel((), known=frozenset(stamps))))

    # --- To this broker -------------------------------------------------------------

    def fetch(self, session: Session, url: str) -> None:
        """Fetch what another broker keeps for an identity.

        Raises:
            ProtocolError: if it may not be asked.
        """
        address = self._allowed(url)
        if session in self._moves:
            raise ProtocolError(Fault.BAD_REQUEST, "it is being moved already")
        if len(self._moves) >= MOVES_MAX:
            raise ProtocolError(
                Fault.TOO_MANY, f"more than {MOVES_MAX} moves at a time"
            )
        move = Move(session, was_suspended=session.is_suspended)
        self._requests.suspend(session)
        self._moves[session] = move
        loop = asyncio.get_running_loop()
        move.task = loop.create_task(self._fetch(move, address))

    def leave(self, session: Session) -> None:
        """A client has hung up: what it has not fetched yet stays where it is.

        What the other broker is about to hand over is waited for: it is kept nowhere
        else any more.
        """
        move = self._moves.get(session)
        if move is not None and move.is_released:
            return
        session.settling.clear()
        if move is not None:
            self._undo(move)
            assert move.task is not None
            move.task.cancel()

    def _allowed(self, url: str) -> Address:
        """Nobody makes a broker connect to places that it was not told of."""
        try:
            address = read_address(url)
        except SienaError as error:
            raise ProtocolError.because(Fault.BAD_REQUEST, error) from None
        known = {read_address(link.url).host for link in self._state.settings.links}
        if address.is_loopback or address.host in known:
            return address
        raise ProtocolError(
            Fault.NOT_ALLOWED, f"{address.host} is no broker that this one calls"
        )

    async def _fetch(self, move: Move, address: Address) -> None:
        session, old = move.session, HandoffSource(move.session.identity or "")
        session.is_moving = True
        try:
            async with asyncio.timeout(MOVE_SECONDS_MAX):
                await old.connect(address)
                for request in await old.listing():
                    self._ask_here(move, request)
                await self._settled(session, fresh=False)
                move.is_released = True
                await old.release()
                await self._settled(session, fresh=True)
        except (OSError, EOFError, TimeoutError, SienaError) as error:
            why = str(error) or type(error).__name__
            text = f"cannot fetch from {address}: {why}"
            fault = ProtocolError(Fault.BAD_REQUEST, text, request=Op.MOVE)
            self._failed(move, old)
            self._answer(move, Error.of(fault).pack())
        else:
            self._arrived(move, old)
            self._answer(move, Done(Op.MOVE).pack())
        finally:
            if self._moves.get(session) is move:
                self._forget(move)
            old.close()

    def _arrived(self, move: Move, old: HandoffSource) -> None:
        """Deliver what has come; or keep it, if nobody is there any more."""
        session = move.session
        is_awaited = session.sink is move.sink or not session.is_suspended
        self._requests.suspend(session)
        assert session.kept is not None
        session.kept.put_first(old.frames, old.stamps, old.lost)
        if is_awaited:
            self._requests.resume(session)

    def _failed(self, move: Move, old: HandoffSource) -> None:
        """As it was before; but nothing is lost that has come already."""
        session = move.session
        if not move.is_released:
            self._undo(move)
        elif old.frames or old.lost:  # it has forgotten them
            self._arrived(move, old)
        session.settling.clear()
        if session.sink is move.sink and not move.was_suspended:
            self._requests.resume(session)

    def _answer(self, move: Move, frame: bytes) -> None:
        """Whoever asked; not somebody who came later."""
        if move.session.sink is move.sink:
            move.session.reply(frame)

    def _undo(self, move: Move) -> None:
        """Ask no more for what was asked for there."""
        for request in move.asked:
            self._requests.withdraw(move.session, request)
        move.asked.clear()
        self._forget(move)

    def _forget(self, move: Move) -> None:
        move.session.is_moving = False
        self._moves.pop(move.session, None)

    def _ask_here(self, move: Move, request: Body) -> None:
        session = move.session
        known = session.interests, session.advertisements
        assert isinstance(request, (bodies.Subscribe, bodies.Advertise))
        if request.number not in known[isinstance(request, bodies.Advertise)]:
            self._requests.handle(session, request)
            move.asked.append(request)

    async def _settled(self, session: Session, *, fresh: bool) -> None:
        done = asyncio.Event()
        self._settle(session, done.set, fresh=fresh)
        await done.wait()

    def _settle(
        self, session: Session, done: Callable[[], None], *, fresh: bool
    ) -> None:
        """Call ``done`` when all that a session wants is in force everywhere.

        Nobody is answered: the client hears of what it has asked for itself.
        """
        waiting = set(session.interests)
        if not waiting:
            done()
            return

        def settled(number: int) -> None:
            waiting.discard(number)
            if not waiting:
                done()

        for number in list(waiting):
            token = -next(self._tokens)
            session.settling[token] = settled
            self._requests.settle(session, number, fresh=fresh, token=token)
