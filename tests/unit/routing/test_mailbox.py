"""Identities: suspended, resumed, redirected, and on the move."""

from routing.wires import Wires
from siena import parse_filter
from siena.messages import (
    Elsewhere,
    Leave,
    Listing,
    ListInterests,
    Lost,
    MapIdentity,
    Message,
    Move,
    Moved,
    Notify,
    Numbered,
    Parcel,
    Party,
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
)
from siena.model import Notification
from siena.routing.mailbox import Mailbox


def values(wires: Wires, client: str = "a") -> list[object]:
    """The x of what a client got, in order, and what it lost."""
    found: list[object] = []
    for who, message in wires.got:
        if who == client and isinstance(message, Notify):
            found.append(message.notification["x"])
        elif who == client and isinstance(message, Lost):
            found.append(message)
    wires.got.clear()
    return found


def subscribed() -> Wires:
    wires = Wires([(1, 2), (2, 3)])
    wires.subscribe("a", 1, "x any")
    return wires


def publish(wires: Wires, *numbers: int) -> None:
    for number in numbers:
        wires.publish("p", 3, f"x = {number}")


def test_what_comes_while_suspended_is_dropped() -> None:
    wires = subscribed()
    wires.ask("a", 1, Suspend())
    publish(wires, 1, 2)
    wires.ask("a", 1, Resume())
    publish(wires, 3)
    assert values(wires) == [Lost(2), 3]


def test_or_kept_up_to_a_bound_and_counted_beyond_it() -> None:
    wires = subscribed()
    wires.ask("a", 1, Suspend(queue_max=2))
    publish(wires, 1, 2, 3, 4)
    assert values(wires) == []
    wires.ask("a", 1, Resume())
    assert values(wires) == [1, 2, Lost(2)]
    publish(wires, 5)
    assert values(wires) == [5]


def test_a_new_handler_gets_what_was_kept_and_what_comes() -> None:
    wires = subscribed()
    wires.ask("a", 1, Suspend(queue_max=9))
    publish(wires, 1)
    wires.ask("a", 1, MapIdentity("post box"))
    publish(wires, 2)
    assert values(wires, "post box") == [1, 2]


def carry(wires: Wires, old: int, new: int) -> Message:
    """Bring the old broker what the new one asks it as the client, and answer."""
    where, question = next(g for g in wires.got if isinstance(g[0], Elsewhere))
    wires.got.remove((where, question))
    wires.ask(str(where), old, question)
    answer = next(m for _, m in wires.got if isinstance(m, (Listing, Parcel)))
    wires.got.remove((str(where), answer))
    wires.ask(Elsewhere(where), new, answer)
    return question


def test_a_client_moves_and_loses_nothing() -> None:
    wires = subscribed()
    wires.ask("a", 1, Leave(queue_max=9))
    publish(wires, 1, 2)
    wires.ask("a", 3, Move(queue_max=9))
    assert carry(wires, 1, 3) == ListInterests()
    # At the new broker its interest is in force before it leaves the old one.
    publish(wires, 3)
    assert wires.interests(1) == {"x any": {"a", 2}}
    assert carry(wires, 1, 3) == Release()
    assert wires.interests(1) == {"x any": {2}}
    publish(wires, 4)
    assert ("a", Moved()) in wires.got
    assert values(wires) == [1, 2, 3, 4]


def test_what_overflowed_at_either_broker_is_counted_once() -> None:
    wires = subscribed()
    wires.ask("a", 1, Leave(queue_max=2))
    wires.ask("a", 3, Move(queue_max=2))
    carry(wires, 1, 3)
    publish(wires, 1, 2, 3)  # both kept 1 and 2, and neither kept 3
    carry(wires, 1, 3)
    assert values(wires) == [1, 2, Lost(1)]


def test_what_it_got_before_it_moved_does_not_come_again() -> None:
    """Another client at the new broker wants it too, and that link is slow."""
    wires = subscribed()
    wires.subscribe("b", 3, "x any")
    got = publish_to_one_side(wires, 2, to=1)
    assert values(wires) == [7]
    wires.ask("a", 1, Leave(queue_max=9))
    wires.ask("a", 3, Move(queue_max=9))
    carry(wires, 1, 3)
    wires.carry(got)  # now the slow link has brought it
    carry(wires, 1, 3)
    assert [who for who, m in wires.got if isinstance(m, Notify)] == ["b"]


def test_a_copy_behind_the_parcel_does_not_come_again() -> None:
    """In a mesh the old broker's own question takes another way than the copy."""
    wires = Wires([(1, 2), (2, 3), (1, 3)], side=Side.MESH)
    wires.subscribe("a", 1, "x any")
    wires.subscribe("b", 3, "x any")
    wires.ask("b", 3, Settle(parse_filter("x any"), 1))
    wires.slow.add((2, 3))
    wires.publish("p", 2, "x = 7")
    assert values(wires) == [7]
    wires.ask("a", 1, Leave(queue_max=9))
    wires.ask("a", 3, Move(queue_max=9))
    assert carry(wires, 1, 3) == ListInterests()
    assert carry(wires, 1, 3) == Release()
    assert ("a", Moved()) not in wires.got, "a copy may be on its way"
    wires.hurry()
    assert ("a", Moved()) in wires.got
    assert [who for who, m in wires.got if isinstance(m, Notify)] == ["b"]


def publish_to_one_side(wires: Wires, at: int, *, to: int) -> tuple[int, int, Message]:
    """Publish at a broker; what it sends to all neighbours but one stays on its way."""
    out = wires.routers[at].handle(Publish(Notification(x=7)), "p")
    sent = {n: m for n, m in out if isinstance(n, int)}
    wires.carry((at, to, sent.pop(to)))
    ((other, message),) = sent.items()
    return at, other, message


def test_who_hangs_up_before_its_old_broker_let_go_stays_there() -> None:
    wires = subscribed()
    wires.ask("a", 1, Leave(queue_max=9))
    wires.ask("a", 3, Move(queue_max=9))
    question = wires.routers[1].handle(ListInterests(), "a")
    # The neighbour has not answered yet whether what was asked for there is in force.
    wires.routers[3].handle(question[0][1], Elsewhere("a"))
    assert wires.routers[3].registrations.of("a").interests
    wires.ask("a", 3, Leave(queue_max=9))
    assert (Elsewhere("a"), PeerDisconnect()) in wires.got
    assert wires.interests(3) == {"x any": {2}}
    assert not wires.routers[3].registrations.of("a").interests


def test_what_cannot_be_fetched_is_said_and_undone() -> None:
    wires = Wires()
    wires.subscribe("a", 3, "x any")
    wires.ask("a", 3, Move(queue_max=9))
    wires.publish("p", 3, "x = 1")
    wires.ask(Elsewhere("a"), 3, PeerRefuse("it is gone"))
    assert ("a", Moved("it is gone")) in wires.got
    assert values(wires) == [1]


def test_a_client_that_moves_on_takes_along_what_is_still_on_its_way() -> None:
    """From 1 to 3, and to 2 before 1 has handed over."""
    wires = subscribed()
    wires.ask("a", 1, Leave(queue_max=9))
    publish(wires, 1, 2)
    wires.ask("a", 3, Move(queue_max=9))
    carry(wires, 1, 3)
    (release,) = [g for g in wires.got if g[1] == Release()]
    wires.got.remove(release)
    wires.ask("a", 3, Leave(queue_max=9))
    wires.ask("a", 3, Release())  # its next broker asks
    assert not [m for _, m in wires.got if isinstance(m, Parcel)]
    wires.ask("a", 1, Release())
    (parcel,) = [m for _, m in wires.got if isinstance(m, Parcel)]
    wires.got.clear()
    wires.ask(Elsewhere("a"), 3, parcel)
    (handed_on,) = [m for _, m in wires.got if isinstance(m, Parcel)]
    assert len(handed_on.kept) == 2


def test_a_release_that_was_given_up_hands_nothing_over() -> None:
    wires = subscribed()
    router = wires.routers[1]
    first = router.handle(Release(), "a")
    router.handle(Leave(queue_max=9), "a")
    second = router.handle(Release(), "a")
    token = next(m.token for _, m in first if isinstance(m, Settle))
    assert router.handle(Settled(token), 2) == []
    token = next(m.token for _, m in second if isinstance(m, Settle))
    answered = router.handle(Settled(token), 2)
    assert [m for _, m in answered if isinstance(m, Parcel)]


def test_what_only_a_move_that_failed_wanted_stays_where_it_was() -> None:
    wires = Wires([(1, 2), (2, 3)])
    numbered, other = Party("a", 7), Party("a", 8)
    wires.ask(numbered, 1, Subscribe(parse_filter("x any")))
    wires.ask("a", 1, Leave(queue_max=9))
    wires.ask(other, 3, Subscribe(parse_filter("x > 5")))
    wires.ask("a", 3, Move(queue_max=9))
    (listing,) = wires.routers[1].handle(ListInterests(), "a")
    wires.routers[3].handle(listing[1], Elsewhere("a"))  # nobody has answered yet
    publish_at(wires, 3, 1, 9)
    wires.got.clear()
    wires.ask(Elsewhere("a"), 3, PeerRefuse("too late"))
    got = [m for _, m in wires.got if isinstance(m, Numbered)]
    assert [m.numbers for m in got] == [(8,)]


def publish_at(wires: Wires, broker: int, *numbers: int) -> None:
    for number in numbers:
        wires.publish("p", broker, f"x = {number}")


def test_a_number_that_means_something_else_here_is_not_moved() -> None:
    wires = Wires([(1, 2), (2, 3)])
    party = Party("a", 7)
    wires.ask(party, 1, Subscribe(parse_filter("x > 0")))
    wires.ask(party, 3, Subscribe(parse_filter("y > 0")))
    wires.ask("a", 1, Leave(queue_max=9))
    wires.ask("a", 3, Move(queue_max=9))
    (listing,) = wires.routers[1].handle(ListInterests(), "a")
    wires.ask(Elsewhere("a"), 3, listing[1])
    assert ("a", Moved("7 is another subscription here")) in wires.got
    assert wires.routers[1].registrations.of("a").interests


def test_who_resumes_while_it_moves_is_resumed_if_the_move_fails() -> None:
    wires = Wires()
    wires.subscribe("a", 3, "x any")
    wires.ask("a", 3, Suspend(queue_max=9))
    wires.ask("a", 3, Move(queue_max=9))
    wires.publish("p", 3, "x = 1")
    wires.ask("a", 3, Resume())
    assert values(wires) == []
    wires.ask(Elsewhere("a"), 3, PeerRefuse("it is gone"))
    assert values(wires) == [1]


def test_what_was_merged_keeps_to_the_bounds() -> None:
    mailbox = Mailbox("a", queue_max=2)
    kept = tuple(Notify(Notification(), Stamp(1, 0, n)) for n in range(5))
    mailbox.merge(Parcel(kept), ())
    mailbox.cut()
    assert (len(mailbox.kept), mailbox.lost) == (2, 3)
