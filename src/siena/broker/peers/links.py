"""Links: which neighbours there are, who called whom, and who is called again.

Either end may call.  If both do at the same time, the smaller number's call stands.
"""

import asyncio
import logging
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from hmac import compare_digest
from typing import Protocol

from siena.broker.data.publish_batch import PublishBatch
from siena.broker.io.connection import Connection
from siena.broker.io.host import ConnectionHost
from siena.broker.peers.bounds import Probation
from siena.broker.peers.callers import Callers
from siena.broker.peers.dialer import Dialer
from siena.broker.peers.gaps import Gaps
from siena.broker.peers.link import Link, Other
from siena.broker.peers.pulse import pulse_of
from siena.broker.settings import LinkSettings
from siena.broker.state import BrokerState
from siena.broker.workers.worker import Worker
from siena.errors import SienaError
from siena.messages import Flush, PeerConnect, PeerDisconnect, PeerRefuse, Side
from siena.protocol.address import Address
from siena.protocol.control_frames import Connect, Peer, Welcome
from siena.protocol.durable.receipts import Relayed, Unassured
from siena.protocol.error_codes import Fault, ProtocolError
from siena.protocol.fast.relay_runs import RelayRun
from siena.protocol.handshake import (
    CLOSED,
    EXACT,
    GAPS,
    JOINT,
    RELAY,
    RUNS,
    UNASSURED,
    VERSIONS,
)
from siena.routing.settling import AGES_MAX

log = logging.getLogger("siena.broker")

# How long to wait before a call is repeated: first, and at most.
RETRY_SECONDS = 0.05
RETRY_SECONDS_MAX = 5.0
# Brokers of which it is remembered who they were.
NUMBERS_MAX = 65_536


@dataclass
class WantedLink:
    """What is known of the broker that is called.

    Attributes:
        number: the broker's, once it has said who it is.
        error: why the last call came to nothing.
        is_missed: whether it was said that there is no link.
    """

    settings: LinkSettings
    number: int | None = None
    error: str = "it has not answered yet"
    is_missed: bool = False

    def snapshot(self, *, is_up: bool) -> dict[str, object]:
        """What there is to know about it."""
        said = {"url": self.settings.url, "side": self.settings.side, "up": is_up}
        return said if is_up else {**said, "error": self.error}


class LinkRelay(Protocol):
    """Who relays what is acknowledged, as far as links need it."""

    def link_up(self, link: Link) -> None:
        """A link stands."""
        ...

    def link_down(self, link: Link) -> bool:
        """A link has gone; whether the neighbour is waited for."""
        ...

    def take(self, run: RelayRun, link: Link) -> None:
        """A neighbour relays something."""
        ...

    def answered(self, body: Relayed, link: Link) -> None:
        """A neighbour has stored something."""
        ...

    def unassured(self, body: Unassured, link: Link) -> None:
        """A neighbour says what goes to brokers without a store."""
        ...


class Links:
    """All links of a broker."""

    def __init__(
        self,
        state: BrokerState,
        publications: PublishBatch,
        host: ConnectionHost,
        name: str,
        callers: Callers,
        worker: Worker | None = None,
    ) -> None:
        self.state = state
        self.publications = publications
        self.host = host
        self.name = name
        self.callers = callers
        self.worker = worker
        self.urls: list[str] = []
        self.gaps: Gaps | None = None
        """Where it is told when a link was down."""
        self._probation = Probation(state.clock)
        # Of brokers that have called, by number.
        self._identities: dict[int, str | None] = {}
        self.relaying: LinkRelay | None = None
        """Who relays what is acknowledged, if there is a store."""
        self._calls: dict[LinkSettings, asyncio.Task[None]] = {}
        self._wanted: dict[LinkSettings, WantedLink] = {}
        # Brokers that we have called, and that have not answered yet.
        self.calling: dict[int, Dialer] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._batch_timer: asyncio.TimerHandle | None = None
        self._beat_timer: asyncio.TimerHandle | None = None
        self._age_timer: asyncio.TimerHandle | None = None

    @property
    def is_relaying(self) -> bool:
        """Whether this broker stores what is acknowledged."""
        return self.relaying is not None

    # --- Those that we call ---------------------------------------------------------

    def call(self, links: tuple[LinkSettings, ...]) -> None:
        """Call these from now on, and none of those that were called before."""
        loop = asyncio.get_running_loop()
        for settings in self._calls.keys() - set(links):
            self._calls.pop(settings).cancel()
            del self._wanted[settings]
        for settings in links:
            if settings not in self._calls:
                self._wanted[settings] = WantedLink(settings)
                self._calls[settings] = loop.create_task(self._keep(settings))
        if self._timer is None:
            self._compare()
            self._beat()
            self._age()
            self._wait_for_batch()

    async def stop(self) -> None:
        """Call no neighbour any more."""
        self._wanted.clear()  # nor is any missed
        timers = (self._timer, self._batch_timer, self._beat_timer, self._age_timer)
        for timer in timers:
            if timer is not None:
                timer.cancel()
        tasks = list(self._calls.values())
        self._calls.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _keep(self, settings: LinkSettings) -> None:
        """Call until a neighbour answers, and again when the link has gone."""
        router = self.state.router
        # Different in every broker and in every life of it, and the same when its clock
        # is a test's.
        delay, rng = RETRY_SECONDS, random.Random(router.me ^ router.epoch)
        redirected: Address | None = None
        while True:
            call = Dialer(self, settings, redirected)
            try:
                await call.attempt()
            except (OSError, SienaError) as error:
                self._miss(settings, str(error))
            delay = (
                RETRY_SECONDS if call.was_linked else min(2 * delay, RETRY_SECONDS_MAX)
            )
            was_redirected = redirected is not None
            redirected = call.redirected
            # Once at once; two that name each other would call for ever.
            if redirected is not None and not was_redirected:
                continue
            # Not all at the same time, after a broker has come back.
            await asyncio.sleep(delay * rng.uniform(0.5, 1))

    # --- Those that are wanted ------------------------------------------------------

    def greeted(self, settings: LinkSettings, number: int) -> None:
        """A broker that is called has said who it is."""
        if settings in self._wanted:
            self._wanted[settings].number = number

    def wanted(self) -> list[dict[str, object]]:
        """The links that there shall be, and of those that are not why."""
        return [
            each.snapshot(is_up=self._is_up(each)) for each in self._wanted.values()
        ]

    def _is_up(self, wanted: WantedLink) -> bool:
        """Whether there is that link, whichever end has called."""
        return wanted.number in self.state.links

    def _miss(self, settings: LinkSettings, why: str) -> None:
        """A call came to nothing: say so, unless there is the link, or it was said."""
        wanted = self._wanted.get(settings)
        if wanted is None or self._is_up(wanted):
            return
        wanted.error = why
        if not wanted.is_missed:
            wanted.is_missed = True
            log.warning("no link to %s: %s; it is called again", settings.url, why)

    def _wanted_at(self, number: int) -> Iterator[WantedLink]:
        for wanted in self._wanted.values():
            if wanted.number == number:
                yield wanted

    # --- Those that call us ---------------------------------------------------------

    def accept(self, connection: Connection, body: Connect, peer: Peer) -> None:
        """A broker asks for a link.

        Raises:
            ProtocolError: if it does not get one.
        """
        if not self.state.settings.accept_peers and not self.is_of_ours(body):
            raise ProtocolError(
                Fault.PEER_REFUSED,
                "this broker links to none that call it; see --accept-peers",
            )
        who, gate = connection.principal, self.state.gate
        grant = gate.grant(who)
        if not (grant.imports.filters or grant.exports.filters):
            shown = body.name or str(peer.broker)
            raise gate.refuse(who, "peer", shown, fault=Fault.PEER_REFUSED)
        if peer.broker == self.state.router.me:
            raise ProtocolError(Fault.PEER_REFUSED, "this is that very broker")
        self._check_number(peer.broker, who.identity)
        wait = self._probation.wait_seconds(peer.broker)
        if wait:
            text = f"its links had to be ended; again in {wait:.1f} s"
            raise ProtocolError(Fault.PEER_REFUSED, text)
        self._make_room(peer)
        side = Side(peer.side)
        name = body.name or str(peer.broker)
        other = Other(
            peer.broker,
            name,
            peer.epoch,
            side.opposite,
            "them",
            peer.urls,
            RUNS in peer.features,
            GAPS in peer.features,
            self.is_relaying and RELAY in peer.features,
            pulse_of(peer.features),
            JOINT in peer.features,
            self.is_relaying and {RELAY, UNASSURED} <= set(peer.features),
        )
        link = Link(self.state, self.publications, connection, other, self.down)
        link.permit()  # before anything that it wants is known
        router = self.state.router
        is_exact, is_closed = EXACT in peer.features, CLOSED in peer.features
        asked = PeerConnect(side, peer.weight, is_exact, is_closed)
        out = router.handle(asked, peer.broker)
        if any(isinstance(message, PeerRefuse) for _, message in out):
            raise ProtocolError(Fault.PEER_REFUSED, "there is a link already")
        connection.reply(Welcome(VERSIONS[1], 0, router.me, router.epoch).pack())
        self.up(link)
        self.state.post(out)

    def is_of_ours(self, body: Connect) -> bool:
        """Whether it is another worker of this broker."""
        worker = self.worker
        return (
            worker is not None
            and worker.is_hub
            and compare_digest((body.token or "").encode(), worker.secret.encode())
        )

    def _check_number(self, number: int, identity: str | None) -> None:
        """Let no identity come with the number of a broker that had another one.

        Raises:
            ProtocolError: if they do.
        """
        known = self._identities.setdefault(number, identity)
        if known != identity:
            self.state.gate.audit.write("number refused", identity, broker=str(number))
            text = "another identity has come with this number"
            raise ProtocolError(Fault.PEER_REFUSED, text)
        if len(self._identities) > NUMBERS_MAX:
            del self._identities[next(n for n in self._identities if n != number)]

    def _make_room(self, peer: Peer) -> None:
        """Decide between a link, or a call of ours, and a new one."""
        known = self.state.links.get(peer.broker)
        if isinstance(known, Link):
            if known.caller == "us" and known.epoch == peer.epoch:
                raise ProtocolError(Fault.PEER_REFUSED, "there is a link already")
            # Who calls again has noticed before us that the old one has gone.
            known.connection.close()
            self.down(known)
        call = self.calling.get(peer.broker)
        if call is not None:
            if self.state.router.me < peer.broker:
                raise ProtocolError(Fault.PEER_REFUSED, "our own call comes first")
            call.abandon()

    def renew(self) -> None:
        """Other roles count, perhaps, for the neighbours that were called."""
        for link in self.state.links.values():
            if isinstance(link, Link) and link.caller == "us":
                who = link.connection.principal
                link.connection.principal = self.callers.access.renewed(who) or who

    # --- Up and down ----------------------------------------------------------------

    def up(self, link: Link) -> None:
        """A link stands."""
        link.on_fault = partial(self._probation.fail, link.number)
        link.connection.become(link, in_place=link)
        self.state.links[link.number] = link
        self.state.router.origins.meet(link.number, link.epoch, link.side)
        if self.gaps is not None:
            link.on_gap = self.gaps.hear
            self.gaps.link_up(link)
        if self.relaying is not None:
            link.on_relay = self.relaying.take
            link.on_relayed = self.relaying.answered
            link.on_unassured = self.relaying.unassured
            self.relaying.link_up(link)
        log.info("linked to %s (%s)", link.name, link.side.value)
        for wanted in self._wanted_at(link.number):
            if wanted.is_missed:
                wanted.is_missed = False
                log.warning("the link to %s is up", wanted.settings.url)

    def down(self, link: Link) -> None:
        """A link has gone: what the neighbour wanted is forgotten, or waits for it."""
        if self.state.links.get(link.number) is link:
            del self.state.links[link.number]
            log.info("the link to %s has gone", link.name)
            for wanted in self._wanted_at(link.number):
                self._miss(wanted.settings, "it has gone")
            is_missed = self.relaying is not None and self.relaying.link_down(link)
            gone = PeerDisconnect(is_missed=is_missed)
            out = self.state.router.handle(gone, link.number)
            self.state.post(out)
            if self.gaps is not None:
                self.gaps.link_down(link)

    def _wait_for_batch(self) -> None:
        """Let announcements wait for others, if they are to be sent together."""
        seconds = self.state.settings.routing.batch_seconds
        if seconds > 0:
            loop = asyncio.get_running_loop()
            self._batch_timer = loop.call_later(seconds, self._send_batch)

    def _send_batch(self) -> None:
        """Send neighbours what has been held back for them, and begin anew."""
        self.state.post(self.state.router.handle(Flush(), "the clock"))
        self._wait_for_batch()

    def _beat(self) -> None:
        """Let all neighbours hear of us, see whether they are there, and again."""
        for link in list(self.state.links.values()):
            assert isinstance(link, Link)
            link.beat()
        loop = asyncio.get_running_loop()
        seconds = self.state.settings.pulse_seconds
        self._beat_timer = loop.call_later(seconds, self._beat)

    def _age(self) -> None:
        """Let those be given up that have not answered in time."""
        if self.state.links:
            self.state.post(self.state.router.age())
        loop = asyncio.get_running_loop()
        seconds = self.state.settings.settle_seconds / AGES_MAX
        self._age_timer = loop.call_later(seconds, self._age)

    def _compare(self) -> None:
        """Send all neighbours a digest, and again after a while."""
        for link in list(self.state.links.values()):
            assert isinstance(link, Link)
            link.send_digest()
        seconds = self.state.settings.digest_seconds
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(seconds, self._compare)
