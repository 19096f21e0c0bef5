"""Advertisement forwarding: subscriptions go only where they can be served."""

from routing.wires import Wires
from siena.routing.options import Options

CHAIN = ((1, 2), (2, 3), (3, 4))
ALARMS = "integer level any and what = alarm"
LOGINS = "string user any and what = login"
SEVERE = "level > 3 and what = alarm"
LOGIN = "what = login"


def chain() -> Wires:
    return Wires(CHAIN, Options(forwarding="advertisement"))


def test_T_B26_subscriptions_follow_advertisements() -> None:
    wires = chain()
    assert wires.advertise("p", 4, ALARMS) == [
        f"4→3 advertise {ALARMS}",
        f"3→2 advertise {ALARMS}",
        f"2→1 advertise {ALARMS}",
    ]
    assert wires.subscribe("s", 1, SEVERE) == [
        f"1→2 subscribe {SEVERE}",
        f"2→3 subscribe {SEVERE}",
        f"3→4 subscribe {SEVERE}",
    ]
    assert wires.subscribe("s", 1, LOGIN) == []
    assert sorted(wires.advertise("q", 3, LOGINS)) == sorted(
        [
            f"3→2 advertise {LOGINS}",
            f"3→4 advertise {LOGINS}",
            f"2→1 advertise {LOGINS}",
            f"1→2 subscribe {LOGIN}",
            f"2→3 subscribe {LOGIN}",
        ]
    )
    receivers, links = wires.publish("p", 4, "what = alarm, level = 5")
    assert receivers == ["s"]
    assert links == ["4→3 notify", "3→2 notify", "2→1 notify"]
    assert wires.publish("p", 4, "what = logout") == ([], [])
    assert wires.publish("p", 4, "what = alarm, level = 2") == ([], [])
    sent = wires.unadvertise("p", 4, ALARMS)
    assert sorted(sent) == sorted(
        [f"{n + 1}→{n} unadvertise {ALARMS}" for n in (1, 2, 3)]
        + [f"{n}→{n + 1} unsubscribe {SEVERE}" for n in (1, 2, 3)]
    )
    wires.check()


def test_what_a_publisher_did_not_advertise_is_not_delivered_even_next_door() -> None:
    wires = chain()
    wires.subscribe("s", 4, "x any")
    assert wires.publish("p", 4, "x = 1") == ([], [])
    wires.advertise("p", 4, "x any")
    assert wires.publish("p", 4, "x = 1") == (["s"], [])


def test_an_unadvertisement_cancels_what_it_covers() -> None:
    wires = chain()
    wires.advertise("p", 4, "integer x > 3")
    wires.subscribe("s", 1, "x = 5")
    assert wires.unadvertise("p", 4, "integer x > 4") == []
    assert len(wires.unadvertise("p", 4, "x any")) == 6
