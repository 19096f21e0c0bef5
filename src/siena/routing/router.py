"""The router: the decisions of one broker, as a pure state machine.

A message comes from a client or a neighbouring broker, and messages to clients and
neighbours follow.  Nothing here opens a socket, reads a clock or draws a random number,
so the broker, the simulator and the studies drive the same brain.

What is special about an architecture is what a broker takes its neighbours for
(:class:`~siena.messages.Side`):

============  =========================================================
centralised   no neighbours
hierarchical  children, and one master, who gets every notification
acyclic       peers
general       brokers of one mesh, with a tree for each of them
hybrid        several of these: a gateway has children and a mesh, or a
              mesh and peers
============  =========================================================

Why one module: a reader who wants to know what a broker does about a message finds all
of it here; how it does it is in the rest of this room.

Reference:
    CU-CS-888-99, section 5.2; our specification, B and H.3.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from siena.algebra.covering import covers_advertisement, covers_filter
from siena.messages import (
    Advertise,
    Elsewhere,
    Flush,
    Found,
    Interest,
    Interface,
    Leave,
    Letter,
    LinkState,
    ListInterests,
    MapIdentity,
    Message,
    Move,
    Notify,
    Outbox,
    Party,
    PeerConfirm,
    PeerConnect,
    PeerDisconnect,
    PeerRefuse,
    Publish,
    Release,
    Resume,
    Settle,
    Settled,
    Side,
    Stamp,
    Subscribe,
    Suspend,
    Unadvertise,
    Unsubscribe,
)
from siena.messages.requests import filters_of, is_sequence
from siena.model import Advertisement, Filter, Notification, Pattern
from siena.routing.clients import Clients
from siena.routing.flat import Flat
from siena.routing.forwarding import as_the_paper_has_it, brokers_among, root_of
from siena.routing.interest_table import Change, Holder
from siena.routing.options import Options
from siena.routing.patterns.monitors import Monitors
from siena.routing.quenching import Quenching
from siena.routing.questions import Questions
from siena.routing.stamps.origins import Origins
from siena.routing.stamps.seen import Seen, all_before
from siena.routing.steps.backlog import STEP_MAX, Task
from siena.routing.steps.gathering import Batched, Gathering
from siena.routing.steps.leaving import Leaving
from siena.routing.steps.unfolding import Unfolding
from siena.routing.tables import Tables
from siena.routing.topology.link_state import LinkStates
from siena.routing.topology.linking import Accepts, Linking


class Router:
    """The brain of one broker.

    >>> from siena.lang.parser import parse_filter as parse
    >>> router = Router(1)
    >>> router.handle(PeerConnect(Side.PEER), 2)
    [(2, PeerConfirm())]
    >>> router.handle(Subscribe(parse("x > 3")), "a")
    [(2, Subscribe(interest=<Filter x > 3>, origin=None))]
    >>> router.handle(Subscribe(parse("x > 5")), "b")
    []

    A neighbour is a number and a client is a name.  Messages of brokers that are not
    neighbours are ignored: a link that has gone may still have had some on their way.

    One that is ``flat`` compares no interests until it has its first neighbour: without
    one there is no neighbour to be told less.

    One that is ``sliced`` puts off what takes long; its body calls
    :meth:`work` as long as there is a ``backlog``.
    """

    def __init__(
        self,
        me: int,
        options: Options = Options(),  # noqa: B008 -- frozen
        *,
        epoch: int = 0,
        accepts: Accepts | None = None,
        declarative: bool = False,
        flat: bool = False,
        sliced: bool = False,
    ) -> None:
        self.me = me
        self.options = options
        self.tables = Tables(
            me,
            options,
            epoch=epoch,
            declarative=declarative,
            step_max=STEP_MAX if sliced else None,
        )
        self.backlog = self.tables.backlog
        self._is_sliced = sliced
        self.epoch = epoch
        self._is_giving_up = False
        self.gathered = Gathering()
        """What waits for :meth:`handle_gathered`."""
        self.published = 0
        self.seen = Seen()
        self.origins = Origins(self.tables, epoch)
        self.clients = Clients(self)
        self.registrations = self.clients.registrations
        self.mailboxes = self.clients.mailboxes
        self._quenching = Quenching(self.tables.overlaps)
        quenching = self._quenching if options.quench else None
        self._flat = Flat(quenching, self.tables.filters) if flat else None
        self._unfolding = Unfolding(self.registrations, self.tables, self._enter)
        self.leaving = Leaving(self.tables, self._all_known, self._unfold)
        self._linking = Linking(self._link, self._is_taken, accepts)
        self._monitors = Monitors(self.tables)
        self.questions = Questions(
            self.tables, self.registrations, self._monitors, self._unfolding
        )
        self._handlers: dict[type[Message], Callable[[Any, Interface], Outbox]] = {
            Advertise: self._advertise,
            Flush: lambda *_: self._answers(self.questions.flush()),
            Found: self._found,
            Leave: self.clients.leave,
            LinkState: self.tables.learn,
            ListInterests: self.clients.list_interests,
            MapIdentity: self.clients.map_identity,
            Move: self.clients.move,
            Notify: self._notify,
            PeerConfirm: self._linking.confirmed,
            PeerConnect: self._linking.connected,
            PeerDisconnect: self._peer_disconnect,
            PeerRefuse: self._linking.refused,
            Publish: self._publish,
            Release: self.clients.release,
            Resume: self.clients.resume,
            Settle: self._settle,
            Settled: lambda *told: self._answers(self.questions.answered(*told)),
            Subscribe: self._subscribe,
            Suspend: self.clients.suspend,
            Unadvertise: self._unadvertise,
            Unsubscribe: self._unsubscribe,
        }

    def connect(
        self, neighbour: int, side: Side, weight: float = 1, **knows: bool
    ) -> Outbox:
        """Ask a broker for a link, that ``knows`` what `PeerConnect` says."""
        return self._linking.ask(neighbour, PeerConnect(side, weight, **knows))

    def preload(
        self,
        neighbours: Iterable[tuple[int, Side, float]],
        states: LinkStates = LinkStates(),  # noqa: B008 -- it is copied
    ) -> None:
        """Begin in a network that is configured, rather than found link by link."""
        self._unfold()
        self.tables.mesh.preload(states)
        for number, side, weight in neighbours:
            self.tables.adopt(number, PeerConnect(side, weight))

    def handle(self, message: Message, source: Interface) -> Outbox:
        """What follows from a message, in the order in which it is to be sent."""
        if self.gathered:
            return self.handle_gathered() + self.handle(message, source)
        if isinstance(source, int) and not self._is_expected(message, source):
            return []
        if isinstance(source, Elsewhere):
            out = self.clients.hear(message, source)
        else:
            out = self._handlers[type(message)](message, source)
        if isinstance(message, (Found, Notify, Publish)):
            return out  # by far the most there are, and they change no table
        if self.options.batching and not isinstance(message, Flush):
            return out
        synced = self._sync()
        if self.options.unsubscription == "paper" and isinstance(message, Unsubscribe):
            synced = as_the_paper_has_it(self.tables, message, synced)
        return out + synced

    def gather(
        self, message: Batched, source: Interface, token: int | None = None
    ) -> Outbox:
        """Take a subscription, or a question about one, to which others may be added.

        With a ``token``, a subscription is asked about as well, as by a ``Settle``.

        A client's request is registered now.  What follows from all of them together
        is said once, before the next message is handled, by :meth:`handle_gathered`:
        who drives the router calls it when nothing more has come, as its ``backlog``
        asks for.
        """
        if self.options.batching or self._flat is not None:
            out = self.handle(message, source)
            if token is not None:
                out += self.handle(Settle(message.interest, token), source)
            return out
        if isinstance(source, int):
            if source not in self.tables.neighbours:
                return []
        elif isinstance(message, Subscribe):
            if type(source) is Party:
                self.registrations.enter(source, message.interest)
            else:
                self.registrations.subscribe(source, message.interest)
        if not self.gathered:
            self.backlog.wake()
        is_full = self.gathered.add(message, source, token)
        return self.handle_gathered() if is_full else []

    def handle_gathered(self) -> Outbox:
        """What follows from what was gathered.

        The same as if it had been handled one by one; but neighbours are told once, and
        asked once, and what is covered at once is not told at all.
        """
        if not self.gathered:
            return []
        satisfiable = self.questions.satisfiable
        enter = self.gathered.enter
        out, asked, own = enter(satisfiable, self._announced, self._changed)
        out += self._sync()
        if asked or own:
            out += self._answers(self.questions.ask_all(asked, own))
        return out

    def gathered_from(self) -> set[Interface]:
        """Who sent what is gathered, and what was handled last of it."""
        return self.gathered.sources()

    def _sync(self) -> Outbox:
        """What neighbours are told of all that has changed."""
        return self._monitors.sync() + self.tables.sync()

    def work(self) -> Outbox:
        """One step of what was put off; it takes some milliseconds at most."""
        return self.backlog.step()

    def progress(self, client: str) -> dict[Pattern, tuple[Notify, ...]]:
        """How much of each of its patterns has been seen for a client."""
        return self._monitors.progress(client)

    def is_quenched(self, party: str, advertisement: Advertisement) -> bool:
        """Whether a publisher was told that nothing of its advertisement is wanted."""
        return self._quenching.is_quenched(party, advertisement)

    def check(self) -> None:
        """Verify all invariants, from scratch."""
        self.tables.check()

    def _is_expected(self, message: Message, source: int) -> bool:
        if isinstance(message, (PeerConfirm, PeerRefuse)):
            return self._linking.is_answer(message, source)
        return source in self.tables.neighbours or isinstance(message, PeerConnect)

    # --- Interests ------------------------------------------------------------------

    def _subscribe(self, message: Subscribe, source: Interface) -> Outbox:
        if isinstance(source, str):
            filters = self.registrations.subscribe(source, message.interest)
            if self._flat is not None and not is_sequence(message.interest):
                return self._flat.gain(filters)
        return self._enter(message, source)

    def _enter(self, message: Subscribe, source: Interface) -> Outbox:
        # What nothing can match is accepted, and nobody needs to hear of it.
        filters = self.questions.satisfiable(message.interest)
        return self._changed(self._announced(message, source, filters))

    def _announced(
        self, message: Subscribe, source: Interface, filters: Iterable[Filter]
    ) -> list[Change[Filter]]:
        """What changes in the table of filters, or for the monitors."""
        if isinstance(message.interest, Pattern) and not message.interest.is_simple:
            return self._monitors.subscribe(source, message.interest)
        tables, table = self.tables, self.tables.filters
        if isinstance(source, str):
            holder, keeps_covered = Holder(source, self.me), False
        else:
            holder = tables.holder(source, message.origin)
            keeps_covered = tables.is_exact(source)
        changes: list[Change[Filter]] = []
        for f in filters:
            changes += table.announce(holder, f, keeps_covered=keeps_covered)
        if table.is_giving_up and not self._is_giving_up:
            self._is_giving_up = True
            self.backlog.add(self._giving_up())
        return changes

    def _giving_up(self) -> Task:
        """Forget what neighbours have given up for what covers it."""
        while self.tables.filters.is_giving_up:
            out = self._changed(self.tables.filters.give_up_some())
            yield out + self.tables.sync()
        self._is_giving_up = False

    def _unsubscribe(self, message: Unsubscribe, source: Interface) -> Outbox:
        if isinstance(source, Party):
            self.questions.withdraw(source)
            held = self.registrations.of(source.client).interests.get(source.number)
            message = message if held is None else replace(message, interest=held)
        if isinstance(source, str):
            filters = self.registrations.unsubscribe(source, message.interest)
            if self._flat is not None and not is_sequence(message.interest):
                return self._flat.lose(filters)
        if isinstance(message.interest, Pattern) and not message.interest.is_simple:
            return self._changed(self._monitors.unsubscribe(source, message.interest))
        table = self.tables.filters
        if isinstance(source, Party):  # all that this party has
            return self._changed(table.forget(source))
        holder = self.tables.holder(source, message.origin)
        # What a client means does not depend on how brokers compare filters.
        covers = covers_filter if isinstance(source, str) else None
        changes: list[Change[Filter]] = []
        for f in filters_of(message.interest):
            changes += table.withdraw(holder, f, covers, exact=message.exact)
        return self._changed(changes)

    def _changed(self, changes: list[Change[Filter]]) -> Outbox:
        self.tables.apply_filters(changes)
        if not self.options.quench or self.tables.has_master:
            return []
        out: Outbox = []
        for item, _, gained, _ in changes:
            if gained:
                out += self._quenching.gain(item)
            elif item not in self.tables.filters:
                out += self._quenching.lose(item, self._all_filters() or ())
        return out

    def _advertise(self, message: Advertise, source: Interface) -> Outbox:
        advertisement = message.advertisement
        if isinstance(source, str):
            self.registrations.advertise(source, advertisement)
        table = self.tables.advertisements
        holder = self.tables.holder(source, message.origin)
        keeps_covered = self.tables.is_exact(source)
        changes = table.announce(holder, advertisement, keeps_covered=keeps_covered)
        out = self._offered(changes)
        if isinstance(source, int) or not self.options.quench:
            return out
        for item, _, gained, _ in changes:
            if not gained:
                self._quenching.unadvertise(source, item)
            else:
                out += self._quenching.advertise(source, item, self._all_filters())
        return out

    def _all_filters(self) -> Iterable[Filter] | None:
        """All that is wanted; ``None`` where only a master knows."""
        if self.tables.has_master:
            return None
        if self._flat is not None:
            return self._flat
        if not self.tables.is_held:
            return self.tables.filters
        return self._unfolding

    def _unadvertise(self, message: Unadvertise, source: Interface) -> Outbox:
        if isinstance(source, str):
            self.registrations.unadvertise(source, message.advertisement)
        table = self.tables.advertisements
        holder = self.tables.holder(source, message.origin)
        covers = covers_advertisement if isinstance(source, str) else None
        changes = table.withdraw(
            holder, message.advertisement, covers, exact=message.exact
        )
        if isinstance(source, str):
            for item, *_ in changes:
                self._quenching.unadvertise(source, item)
        return self._offered(changes)

    def _offered(self, changes: list[Change[Advertisement]]) -> Outbox:
        self.tables.apply_advertisements(changes)
        return self._changed(self._monitors.replan()) if self._monitors else []

    # --- Notifications --------------------------------------------------------------

    def _publish(self, message: Publish, source: Interface) -> Outbox:
        if self.options.is_advertising and not self.registrations.admits(
            source, message.notification
        ):
            return []
        stamp = Stamp(self.me, self.epoch, self.published)
        self.published += 1
        return self._route(
            Notify(message.notification, stamp, message.time, self.me), source
        )

    def _notify(self, message: Notify, source: Interface) -> Outbox:
        assert isinstance(source, int), "clients publish"
        if not self.origins.admits(message.stamp[:2], message.root, source):
            return []
        if message.stamp in self.seen:
            return []
        return self._route(message, source)

    def _route(self, message: Notify, source: Interface) -> Outbox:
        """To all who want it, once each, and never back to where it came from."""
        self.seen.add(message.stamp)
        hops = self._hops(message.notification)
        out: Outbox = []
        if message.ttl > 0 and self.tables.neighbours:
            root = root_of(self.tables, message.root, source)
            onward = Notify(
                message.notification, message.stamp, message.time, root, message.ttl - 1
            )
            targets = brokers_among(self.tables, hops, source, root)
            out += [(number, onward) for number in targets]
        out += self.mailboxes.deliver_to(hops, message)
        return out + self.mailboxes.deliver_found(self._monitors.notify(hops, message))

    def _hops(self, notification: Notification) -> set[Interface]:
        hops = self.tables.filters.match(notification)
        if self._flat is not None or self.tables.is_held:
            hops |= self.registrations.wanting(notification)
        return hops

    def deliver(self, client: str, letter: Letter) -> Outbox:
        """Deliver what a body has matched itself, or keep it while the client is away.

        The body matches what is published in bulk; this is for what is left.
        """
        return self.mailboxes.deliver(client, letter)

    def offer(self, hops: set[Interface], message: Notify) -> Outbox:
        """What the monitors among these hops have found with a notification."""
        return self.mailboxes.deliver_found(self._monitors.notify(hops, message))

    def _found(self, message: Found, source: Interface) -> Outbox:
        assert isinstance(source, int)
        return self.mailboxes.deliver_found(self._monitors.found(message, source))

    # --- Clients --------------------------------------------------------------------

    def _depart(self, client: str, token: int) -> Outbox:
        """Hand a client over to its new broker, and forget it."""
        mine = all_before(self.me, self.epoch, self.published)
        others = (w for w in self.seen if w[:2] != (self.me, self.epoch))
        parcel = self.clients.depart(client, token, (*mine, *others))
        return (
            [] if parcel is None else [(client, parcel), *self._forget_client(client)]
        )

    def _forget_client(self, client: str) -> Outbox:
        gone: list[Change[Advertisement]] = []
        changes: list[Change[Filter]] = []
        for party in self.registrations.parties(client):
            self.questions.forget_party(party)
            for item, *_ in (of := self.tables.advertisements.forget(party)):
                self._quenching.unadvertise(party, item)
            gone += of
            changes += self._monitors.forget(party)
            changes += self.tables.filters.forget(party)
        registered = self.registrations.forget(client)
        out = self._changed(changes)
        if self._flat is not None:
            out += self._flat.lose(registered.filters())
        return out + self._offered(gone)

    def register(self, source: str, item: Interest | Advertisement) -> Outbox:
        """Ask for something on behalf of a client."""
        if isinstance(item, Advertisement):
            return self._advertise(Advertise(item), source)
        return self._subscribe(Subscribe(item), source)

    def withdraw(self, source: str, item: Interest | Advertisement) -> Outbox:
        """Ask for it no longer."""
        if isinstance(item, Advertisement):
            return self._unadvertise(Unadvertise(item), source)
        return self._unsubscribe(Unsubscribe(item), source)

    def ask_of_all(self, client: str, answer: Outbox, *, fresh: bool) -> Outbox:
        """Give the answer when all that a client wants is in force everywhere."""
        return self._answers(self.questions.of_client(client, answer, fresh=fresh))

    # --- Settling -------------------------------------------------------------------

    def _settle(self, message: Settle, source: Interface) -> Outbox:
        if self._flat is not None:
            return [(source, Settled(message.token))]
        return self._answers(self.questions.ask(message, source))

    def age(self) -> Outbox:
        """Time has passed: a part of how long answers are waited for, by `AGES_MAX`."""
        self.origins.age()
        out = self.handle_gathered()  # before a client is forgotten that it is of
        out += self._answers(self.questions.age())
        return out if self.options.batching else out + self._sync()

    def _answers(self, out: Outbox) -> Outbox:
        """What is to be sent; what moves wait for are answers to ourselves."""
        sent: Outbox = []
        for each in out:
            interface, message = each
            if type(interface) is not Elsewhere or not isinstance(message, Settled):
                sent.append(each)
            elif message.token < 0:
                sent += self._depart(str(interface), -message.token)
            else:
                sent += self.clients.settled(interface, message.token)
        return sent

    # --- Neighbours -----------------------------------------------------------------

    def _is_taken(self, number: int) -> bool:
        """Whether a broker is a neighbour, or was one and is not forgotten yet."""
        return number in self.tables.neighbours or number in self.leaving

    def _unfold(self) -> None:
        """There is a neighbour: compare what clients want from now on.

        Clients have heard all that follows, so there is nothing to say.
        """
        if self._flat is None:
            return
        self._flat = None
        if self._is_sliced:
            self.tables.is_held = True
            self.backlog.add(self._unfolding.in_steps(self._all_known))
        else:
            self._unfolding.at_once()

    def _all_known(self) -> Outbox:
        """The tables are complete: publishers and neighbours hear what follows."""
        return self._quenching.reconsider(self._all_filters()) + self.tables.sync()

    def _link(self, neighbour: int, asked: PeerConnect) -> Outbox:
        self._unfold()
        out = self.tables.connect(neighbour, asked)
        return out + self._quenching.reconsider(self._all_filters())

    def _peer_disconnect(self, message: PeerDisconnect, source: Interface) -> Outbox:
        if isinstance(source, str):
            return [*self.clients.forget(source), *self._forget_client(source)]
        out = self._changed(self._monitors.forget(source))
        out += self.leaving.forget(source, is_missed=message.is_missed)
        out += self._offered([])
        out += self._quenching.reconsider(self._all_filters())
        return out + self._answers(self.questions.forget(source))
