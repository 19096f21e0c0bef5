"""Identities: suspended, resumed, redirected, and on the move."""

from routing.wires import Wires
from siena import parse_filter
from siena.messages import (
    Lost,
    MapIdentity,
    Notify,
    Parcel,
    Release,
    Resume,
    Settle,
    Settled,
    Suspend,
)


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
    assert values(wires) == [3]


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


def test_a_client_moves_and_loses_nothing() -> None:
    wires = subscribed()
    wires.ask("a", 1, Suspend(queue_max=9))
    publish(wires, 1, 2)
    # At the new broker it subscribes again, suspended, before it leaves the old one.
    wires.ask("a", 3, Suspend(queue_max=9))
    wires.subscribe("a", 3, "x any")
    publish(wires, 3)
    wires.ask("a", 3, Settle(parse_filter("x any"), 1))
    assert wires.got.pop() == ("a", Settled(1))
    wires.ask("a", 1, Release())
    _, parcel = wires.got.pop()
    assert isinstance(parcel, Parcel)
    assert wires.interests(1) == {"x any": {2}}
    publish(wires, 4)
    wires.ask("a", 3, parcel)
    publish(wires, 5)
    assert values(wires) == [1, 2, 3, 4, 5]


def test_what_overflowed_at_either_broker_is_counted_once() -> None:
    wires = subscribed()
    wires.ask("a", 1, Suspend(queue_max=2))
    wires.ask("a", 3, Suspend(queue_max=2))
    wires.subscribe("a", 3, "x any")
    publish(wires, 1, 2, 3)  # both kept 1 and 2, and neither kept 3
    wires.ask("a", 1, Release())
    _, parcel = wires.got.pop()
    assert isinstance(parcel, Parcel)
    wires.ask("a", 3, parcel)
    assert values(wires) == [1, 2, Lost(1)]
